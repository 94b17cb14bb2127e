"""Recorded conversations instead of a model: judged as they are, or with their calls repeated."""
