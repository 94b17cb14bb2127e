"""How a caller's identity reaches a server: request metadata, environment, headers or bearer tokens."""
