"""Bounds for unsolicited messages of a server: notifications, noise, and requests of its own.

The server: what happens:

- asks the client something (``ping``, ``roots/list``): answered
- sends requests while `MAX_REQUESTS` are unanswered: skipped, because it does not read the answers
  and each would wait
- sends `MAX_UNSOLICITED` messages without an answer among them: the call, or the connection, is
  lost

It may also request input from the user (elicitation) or from the model (sampling). If a session has
a client behind it, the client answers; otherwise the MCP SDK refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from harness.base import RequestRefused
from harness.sessions.call_record import Exchange
from harness.sessions.session import QUESTIONS, ForeignClients
from harness.sessions.side_channels import UnsolicitedMessages
from harness.sessions.transports.frames import UNSOLICITED, ReceivedMessage
from harness.types import JsonObject

MAX_REQUESTS = 64
"""Most requests of a server that are answered at the same time."""

MAX_UNSOLICITED = 200_000
"""Most unsolicited messages between two answers: some seconds of work, which must not block others.
"""

ANSWERS = (JSONRPCResponse, JSONRPCError)
"""Messages that answer a request."""
FLOOD = f"sent more than {MAX_UNSOLICITED:,} unsolicited messages, and gave no answer"

_PROGRESS = "notifications/progress"
_IN_A_ROW = 64  # messages that are read before other tasks run: about a millisecond


class UnsolicitedCount:
    """Counts the messages of a server that are not answers."""

    def __init__(self) -> None:
        """Start at zero."""
        self._count = 0

    def reset(self) -> None:
        """Start again: the server gave an answer."""
        self._count = 0

    async def count_message(self) -> bool:
        """Count one message, and return whether there were too many; let other tasks run, too."""
        self._count += 1
        if self._count % _IN_A_ROW == 0:
            await anyio.lowlevel.checkpoint()
        return self._count > MAX_UNSOLICITED


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
        if isinstance(item, ReceivedMessage) and isinstance(item.message, ANSWERS):
            exchange = self._open.pop(str(item.message.id), None)
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
            if isinstance(item, Exception):
                return item
            # Here, because the SDK passes on the result, and not the frame as written.
            self._requests.record_answer(item)
            message = item.message
            if isinstance(message, UNSOLICITED):
                self._heard.record_message(message.method, message.params)
            if isinstance(message, JSONRPCNotification):
                self._foreign_clients.notify(message.method, message.params)
                if not (self._requests.progress_wanted and message.method == _PROGRESS):
                    continue  # the SDK does not use it, but would start a task for each
            if not isinstance(message, JSONRPCRequest):
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
            if isinstance(item.message, ANSWERS):
                self._requests.waiting -= 1

    async def aclose(self) -> None:
        """Close the underlying writer."""
        await self._writer.aclose()


ANSWER_S = 600.0
"""Seconds for a client, and its user, to answer a request of a server."""


class AskingDispatcher(JSONRPCDispatcher):
    """A dispatcher whose server may send requests to the client behind the session."""

    def __init__(self, reader: Any, writer: Any, foreign_clients: ForeignClients) -> None:
        """Read and write messages as `JSONRPCDispatcher`; ``foreign_clients`` answer requests."""
        super().__init__(reader, writer)
        self._foreign_clients = foreign_clients
        self.abilities: JsonObject = {}
        """Client capabilities in the handshake, in addition to those of the MCP SDK."""

    async def run(self, on_request: OnRequest, *others: Any, **named: Any) -> None:
        """Run as `JSONRPCDispatcher.run`."""
        await super().run(partial(self._answer_request, on_request), *others, **named)

    async def send_raw_request(
        self, method: str, params: JsonObject | None, opts: CallOptions | None = None, **own: Any
    ) -> dict[str, Any]:
        """Send a request as `JSONRPCDispatcher.send_raw_request`."""
        # The SDK declares what it answers itself; a client behind the session may answer more.
        if method == "initialize" and params is not None and self.abilities:
            told = {**params.get("capabilities", {}), **self.abilities}
            params = {**params, "capabilities": told}
        return await super().send_raw_request(method, params, opts, **own)

    async def _answer_request(
        self,
        on_request: OnRequest,
        context: DispatchContext[Any],
        method: str,
        params: JsonObject | None,
    ) -> dict[str, Any]:
        client = self._foreign_clients.sole_client
        if method not in QUESTIONS or client is None:
            return await on_request(context, method, params)
        try:
            with anyio.fail_after(ANSWER_S):
                return dict(await client.ask_client(method, dict(params or {})))
        except RequestRefused as error:
            # The SDK sends this to the server as the answer to its request.
            raise MCPError(error.code, error.said, error.data) from error
        except TimeoutError as error:
            why = f"the client did not answer within {ANSWER_S:g} s"
            raise MCPError(INTERNAL_ERROR, why) from error


def build_refusal(why: str) -> RequestRefused:
    """Return the error for a server whose client cannot be asked."""
    return RequestRefused(why, code=INVALID_REQUEST, said=why, data=None)
