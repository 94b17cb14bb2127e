"""Agents that others wrote, as subjects of a run: their conversations, limits and versions."""
