"""Figures on MCP servers that others wrote: what harness says of them, and what the baseline can do with them."""
