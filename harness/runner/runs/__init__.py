"""Runs on disk: their folders, taking one up again, and splitting one over several machines."""
