"""What a server says that nobody asked for, within bounds: notifications, noise, and requests of its own.

| the server                                            | what becomes of it                                |
|-------------------------------------------------------|---------------------------------------------------|
| asks the client something (``ping``, ``roots/list``)  | answered                                          |
| asks more while `MAX_REQUESTS` have no answer yet     | passed over: it does not read, and each would wait |
| says `MAX_UNASKED` things without an answer of its own | the call, or the connection, is lost             |
"""

from __future__ import annotations

import anyio.lowlevel
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

MAX_REQUESTS = 64
"""Requests of a server that are being answered at the same time."""

MAX_UNASKED = 200_000
"""Things that a server may say between two answers: some seconds of work, which others must not
wait for."""

FLOOD = f"said more than {MAX_UNASKED:,} things that nobody asked for, and gave no answer"

_IN_A_ROW = 64  # things that are taken in before others have their turn: a millisecond


class Flood(Exception):
    """The server said `MAX_UNASKED` things without an answer."""


class Unasked:
    """Counts what a server says that is no answer."""

    def __init__(self) -> None:
        """Begin at none."""
        self._count = 0

    def answered(self) -> None:
        """Begin anew: the server gave an answer."""
        self._count = 0

    async def one_more(self) -> None:
        """Count one thing, and let others have their turn now and then.

        Raises:
            Flood: there were too many.
        """
        self._count += 1
        if self._count > MAX_UNASKED:
            raise Flood
        if self._count % _IN_A_ROW == 0:
            await anyio.lowlevel.checkpoint()


class Requests:
    """How many requests of a server wait for our answer."""

    def __init__(self) -> None:
        """Begin at none."""
        self.waiting = 0


class RequestReader(ObjectReceiveStream[SessionMessage | Exception]):
    """What the server says, without requests beyond `MAX_REQUESTS` at a time."""

    def __init__(
        self, reader: ObjectReceiveStream[SessionMessage | Exception], requests: Requests
    ) -> None:
        """Read from ``reader``."""
        self._reader = reader
        self._requests = requests

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Raises:
            EndOfStream: the server is gone.
        """
        while True:
            item = await self._reader.receive()
            if isinstance(item, Exception) or not isinstance(item.message, JSONRPCRequest):
                return item
            if self._requests.waiting < MAX_REQUESTS:
                self._requests.waiting += 1
                return item

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._reader.aclose()


class RequestWriter(ObjectSendStream[SessionMessage]):
    """What is said to the server; answers to its requests are counted."""

    def __init__(self, writer: ObjectSendStream[SessionMessage], requests: Requests) -> None:
        """Write to ``writer``."""
        self._writer = writer
        self._requests = requests

    async def send(self, item: SessionMessage) -> None:
        """Send one message as the transport does."""
        try:
            await self._writer.send(item)
        finally:
            if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                self._requests.waiting -= 1

    async def aclose(self) -> None:
        """Close what is written to."""
        await self._writer.aclose()
