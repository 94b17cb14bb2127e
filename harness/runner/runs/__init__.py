"""Runs on disk: their folders, resuming them, and splitting them over several machines."""
