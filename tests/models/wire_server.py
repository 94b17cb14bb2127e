"""A server on loopback that says exactly the bytes that a test gives it, for replies that no
provider would send.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Say: TypeAlias = Callable[[bytes, bytes, asyncio.StreamWriter], Awaitable[None]]
"""``(head of the request, its body, writer)``: writes the response; returning early closes the
connection."""

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


@asynccontextmanager
async def serving(say: Say) -> AsyncIterator[str]:
    """Serve on the loop of the test, and give the URL without ``/v1``; one request a connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            await say(head, body, writer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**24)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        if hasattr(server, "close_clients"):  # since Python 3.13
            server.close_clients()


def response(body: bytes, *, status: int = 200, headers: str = "") -> bytes:
    """Return a whole response; ``headers`` are lines that end in CRLF."""
    own = f"content-length: {len(body)}\r\n" if "content-length" not in headers.lower() else ""
    head = (
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: "
        f"close\r\n{own}{headers}\r\n"
    )
    return head.encode("latin-1") + body


def always(whole: bytes) -> Say:
    """Say the same to everybody."""

    async def say(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(whole)

    return say
