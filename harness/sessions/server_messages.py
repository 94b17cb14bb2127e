"""Bounds for unsolicited messages of a server: notifications, noise, and requests of its own.

The server: what happens:

- asks the client something (``ping``, ``roots/list``): answered
- sends requests while `MAX_REQUESTS` are unanswered: skipped, because it does not read the answers
  and each would wait
- sends `MAX_UNSOLICITED` messages without an answer among them: the call, or the connection, is
  lost
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import anyio.lowlevel
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from harness.sessions.forwarding import ForeignClients
from harness.sessions.side_channels import UnsolicitedMessages
from harness.sessions.transports.frames import UNSOLICITED, ReceivedMessage
from harness.types import JsonObject

MAX_REQUESTS = 64
"""Most requests of a server that are answered at the same time."""

MAX_UNSOLICITED = 200_000
"""Most unsolicited messages between two answers: some seconds of work, which must not block others.
"""

FLOOD = f"sent more than {MAX_UNSOLICITED:,} unsolicited messages, and gave no answer"

_PROGRESS = "notifications/progress"
_IN_A_ROW = 64  # messages that are read before other tasks run: about a millisecond


class Flood(Exception):
    """The server sent `MAX_UNSOLICITED` messages without an answer."""


class UnsolicitedCount:
    """Counts the messages of a server that are not answers."""

    def __init__(self) -> None:
        """Start at zero."""
        self._count = 0

    def reset(self) -> None:
        """Start again: the server gave an answer."""
        self._count = 0

    async def count_message(self) -> None:
        """Count one message, and let other tasks run from time to time.

        Raises:
            Flood: there were too many messages.
        """
        self._count += 1
        if self._count > MAX_UNSOLICITED:
            raise Flood
        if self._count % _IN_A_ROW == 0:
            await anyio.lowlevel.checkpoint()


@dataclass(slots=True)
class Exchange:
    """A request and its answer, as sent and received."""

    request: JsonObject | None = None
    """``None`` until it is sent."""
    response: JsonObject | None = None
    """``None`` until it is answered by a JSON-RPC message."""


# The SDK chooses the id of a request only when it writes it, in the task that asks; this variable
# leads from there to the exchange.
_NOTED: ContextVar[Exchange | None] = ContextVar("exchange that the current task notes")


class RunningRequests:
    """Running requests: how many of a server's wait for an answer, and the recorded exchanges."""

    def __init__(self) -> None:
        """Begin at none."""
        self.waiting = 0
        self.progress_wanted = 0
        """Ids of running requests whose progress a client wants."""
        self._open: dict[str, Exchange] = {}

    @contextmanager
    def record_exchange(self, exchange: Exchange) -> Iterator[None]:
        """Record in ``exchange`` the request that this task sends, and its answer."""
        before = _NOTED.set(exchange)
        try:
            yield
        finally:
            _NOTED.reset(before)
            # An abandoned request gets no answer that would remove it.
            if exchange.request is not None:
                self._open.pop(str(exchange.request["id"]), None)

    @contextmanager
    def allow_progress(self) -> Iterator[None]:
        """Let the server's progress notifications through within the block."""
        self.progress_wanted += 1
        try:
            yield
        finally:
            self.progress_wanted -= 1

    def record_request(self, message: JSONRPCMessage) -> None:
        """Record a request of the current task."""
        exchange = _NOTED.get(None)
        if exchange is not None and isinstance(message, JSONRPCRequest):
            exchange.request = message.model_dump(by_alias=True, exclude_unset=True)
            # As text: some servers return a number as a string, and the SDK accepts that.
            self._open[str(message.id)] = exchange

    def record_answer(self, item: SessionMessage) -> None:
        """Record an answer, if its request is recorded."""
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError) and isinstance(
            item, ReceivedMessage
        ):
            exchange = self._open.pop(str(message.id), None)
            if exchange is not None:
                exchange.response = item.frame


class RequestReader(ObjectReceiveStream[SessionMessage | Exception]):
    """Reads the server's messages, without requests beyond `MAX_REQUESTS` at a time."""

    def __init__(
        self,
        reader: ObjectReceiveStream[SessionMessage | Exception],
        requests: RunningRequests,
        heard: UnsolicitedMessages,
        foreign_clients: ForeignClients,
    ) -> None:
        """Read from ``reader``; the others get the unsolicited messages."""
        self._reader = reader
        self._requests = requests
        self._heard = heard
        self._foreign_clients = foreign_clients

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Raises:
            EndOfStream: the server is gone.
        """
        while True:
            item = await self._reader.receive()
            if isinstance(item, SessionMessage):
                # Here, because the SDK passes on the result, and not the frame as written.
                self._requests.record_answer(item)
            if isinstance(item, SessionMessage) and isinstance(item.message, UNSOLICITED):
                self._heard.record_message(item.message.method, item.message.params)
                if isinstance(item.message, JSONRPCNotification):
                    self._foreign_clients.notify(item.message.method, item.message.params)
                    if not (self._requests.progress_wanted and item.message.method == _PROGRESS):
                        continue  # the SDK does not use it, but would start a task for each
            if isinstance(item, Exception) or not isinstance(item.message, JSONRPCRequest):
                return item
            if self._requests.waiting < MAX_REQUESTS:
                self._requests.waiting += 1
                return item

    async def aclose(self) -> None:
        """Close the underlying reader."""
        await self._reader.aclose()


class RequestWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to the server, and counts the answers to its requests."""

    def __init__(self, writer: ObjectSendStream[SessionMessage], requests: RunningRequests) -> None:
        """Write to ``writer``."""
        self._writer = writer
        self._requests = requests

    async def send(self, item: SessionMessage) -> None:
        """Send one message as the transport does."""
        self._requests.record_request(item.message)
        try:
            await self._writer.send(item)
        finally:
            # Also if it could not be written: nothing waits for that answer any more.
            if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                self._requests.waiting -= 1

    async def aclose(self) -> None:
        """Close the underlying writer."""
        await self._writer.aclose()
