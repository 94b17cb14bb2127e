"""MCP over the pipes of a process."""

from __future__ import annotations

from harness.sessions.transports import Transport

TRANSPORT = Transport(connect="harness.sessions.transports.stdio:connect", over="pipes")
"""``type: stdio``."""
