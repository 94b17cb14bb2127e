"""Agents that others wrote, as subjects of a run."""
