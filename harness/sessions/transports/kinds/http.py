"""Streamable HTTP, for old and new revisions of MCP."""

from __future__ import annotations

from harness.sessions.transports import Transport

TRANSPORT = Transport(
    connect="harness.sessions.transports.streamable_http:connect",
    over="http",
    words=("streamable-http", "streamable_http", "streamableHttp"),
    path="/mcp",
)
"""``type: http``."""
