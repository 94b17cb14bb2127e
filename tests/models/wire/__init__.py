"""What crosses the connection to a provider, and how connections are used again."""
