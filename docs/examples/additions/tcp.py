# harness/sessions/transports/kinds/tcp.py
"""MCP over a TCP socket, one JSON-RPC message a line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from harness.sessions.transports import Transport

if TYPE_CHECKING:
    from harness.sessions.client import Link
    from harness.sessions.transports.http_client import ServerEndpoint


@asynccontextmanager
async def connect(
    endpoint: ServerEndpoint, meta: Mapping[str, Any], on_closed: Callable[[], None]
) -> AsyncGenerator[Link]:
    """Talk MCP to ``endpoint``; ``on_closed`` is called once it no longer listens or answers."""
    from harness.sessions.client import Link, open_client  # loads the MCP SDK
    from harness.sessions.transports.stdio import StdioReader, StdioWriter

    at = urlsplit(endpoint.url)
    async with await anyio.connect_tcp(at.hostname or "127.0.0.1", at.port or 9000) as socket:
        reader = StdioReader(socket, on_closed)
        async with open_client(reader, StdioWriter(socket, on_closed), meta) as client:
            yield Link(client, reader)


TRANSPORT = Transport(connect=connect, over="url", schemes=("tcp",))
"""``type: tcp``."""
