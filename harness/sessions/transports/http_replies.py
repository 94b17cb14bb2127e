"""Reads the answer to one request from an HTTP body: a JSON document or an event stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx2
from mcp_types import JSONRPCError, RequestId

from harness.sessions.server_messages import FLOOD, UnsolicitedCount
from harness.sessions.transports.frames import (
    UNSOLICITED,
    Noise,
    ReceivedMessage,
    build_no_answer,
    read_frames,
)
from harness.sessions.transports.http_client import (
    extract_text,
    iterate_events,
    media_type,
    read_body,
)
from harness.sessions.transports.http_errors import HttpFault

RESUME_S = 1.0
"""Default seconds to wait before the rest of a stream is requested."""

# A server that wants 0 ms would be asked without a pause.
_SOONEST_S = 0.05
_MILLISECONDS = 1000


class _EventReader:
    """Reads event streams, and remembers where and when to ask for the rest of one."""

    def __init__(self, deliver: Callable[[ReceivedMessage], None]) -> None:
        self.event_id: str | None = None
        """The event id at which the stream can be resumed, if the server sends ids."""
        self.wait_s = RESUME_S
        """Seconds to wait before resuming."""
        self._deliver = deliver
        self._unasked = UnsolicitedCount()

    async def _iterate_events(
        self, response: httpx2.Response
    ) -> AsyncIterator[httpx2.ServerSentEvent]:
        """Yield each event, up to a flood of them."""
        async for event in iterate_events(response):
            if await self._unasked.count_message():
                self.event_id = None  # do not request the rest of a flood
                raise HttpFault(FLOOD)
            self.event_id = event.id or self.event_id
            if event.retry is not None:
                self.wait_s = max(event.retry / _MILLISECONDS, _SOONEST_S)
            yield event


class AnswerReader(_EventReader):
    """Reads the answer to one request, and the server's own requests before it."""

    def __init__(
        self, request_id: RequestId, deliver: Callable[[ReceivedMessage], None], noise: Noise
    ) -> None:
        """Pass every message to ``deliver``; the answer always gets ``request_id``.

        Events that are no messages are kept as ``noise``; without an answer they count as that.
        """
        super().__init__(deliver)
        self._request_id = request_id
        self._noise = noise
        self._said: str | None = None

    async def read(self, response: httpx2.Response) -> bool:
        """Read the body of a successful reply; return whether it contained the answer.

        Raises:
            HttpFault: it breaks off, is too long, or contains too many messages without an answer.
        """
        kind = media_type(response)
        if kind == "text/event-stream":
            return await self._read_events(response)
        if kind == "application/json":
            text = (await read_body(response)).decode("utf-8", "replace")
            # An empty batch, or only notifications: no answer will come.
            if not self._deliver_messages(text):
                self._deliver_no_answer(self._said or text)
        elif kind:
            what = f"HTTP {response.status_code} with content of type {kind!r}"
            self._deliver_no_answer(what)
        else:
            self._deliver_no_answer("content without a type")
        return True

    def reject(self, error: JSONRPCError) -> None:
        """Use the server's error as the answer."""
        answer = JSONRPCError(jsonrpc="2.0", id=self._request_id, error=error.error)
        frame = error.model_dump(by_alias=True, exclude_unset=True)
        self._deliver(ReceivedMessage(answer, frame=frame))

    def _deliver_no_answer(self, what: str) -> None:
        self._deliver(ReceivedMessage(build_no_answer(self._request_id, what)))

    async def _read_events(self, response: httpx2.Response) -> bool:
        async for event in self._iterate_events(response):
            if event.event == "message" and event.data and self._deliver_messages(event.data):
                return True
        # Without such a text the stream merely broke off, and its rest may be asked for.
        if self._said is not None:
            self._deliver_no_answer(self._said)
        return self._said is not None

    def _deliver_messages(self, text: str) -> bool:
        """Pass the messages in ``text`` on; return whether the answer was among them."""
        messages, noise = read_frames(text)
        for received in messages:
            message = received.message
            if isinstance(message, UNSOLICITED):
                self._deliver(received)
                continue
            # What answers in the reply to a request is its answer, whatever id it names.
            message.id = self._request_id
            self._deliver(received)
            return True
        if noise is not None:
            self._said = self._said or extract_text(noise.encode())
            self._noise.add(self._said)
        return False


class MessageStreamReader(_EventReader):
    """Reads the stream of a server's messages beside answers."""

    async def read(self, response: httpx2.Response) -> bool:
        """Read the stream to its end, and return whether there was a message.

        Raises:
            HttpFault: it breaks off, or contains too many messages.
        """
        said = False
        async for event in self._iterate_events(response):
            for received in read_frames(event.data)[0] if event.data else ():
                said = True
                # Answers do not belong here: each comes in the reply to its request.
                if isinstance(received.message, UNSOLICITED):
                    self._deliver(received)
        return said


def parse_error(body: bytes) -> JSONRPCError | None:
    """Return ``body`` as a JSON-RPC error, if it is one; it may have no id."""
    try:
        return JSONRPCError.model_validate_json(body, by_name=False)
    except ValueError:
        return None
