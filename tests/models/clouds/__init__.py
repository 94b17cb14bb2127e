"""Providers that serve the APIs of others, at their own addresses."""
