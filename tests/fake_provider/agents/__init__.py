"""Coding agents that others wrote, as real programs against the fake provider."""
