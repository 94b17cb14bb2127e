"""Figures on MCP servers by other authors: harness's findings, and what the baseline achieves."""
