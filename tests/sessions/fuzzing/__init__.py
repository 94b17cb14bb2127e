"""A server that answers calls with whatever bytes it is told, and the bytes that it is told."""
