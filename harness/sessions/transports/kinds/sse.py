"""HTTP with server-sent events: the older transport, with one event stream beside requests."""

from __future__ import annotations

from harness.sessions.transports import Transport

TRANSPORT = Transport(connect="harness.sessions.transports.sse:connect", over="http", path="/sse")
"""``type: sse``."""
