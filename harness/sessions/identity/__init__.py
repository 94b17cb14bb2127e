"""Sends a caller's identity to a server: by request metadata, environment, headers or tokens."""
