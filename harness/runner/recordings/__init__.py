"""Recorded conversations as subjects: judged as they are, or carried out again on the real server."""
