"""The answer to one request in the body of an HTTP reply: a JSON document, or a stream of events."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
from mcp_types import JSONRPCError, JSONRPCRequest, RequestId

from harness.sessions.server_messages import FLOOD, Flood, Unasked
from harness.sessions.transports.frames import Message, no_answer, read_frames
from harness.sessions.transports.http_client import body_of, events_of, media_type, words_of
from harness.sessions.transports.http_errors import HttpFault

RESUME_S = 1.0
"""How long to wait before the rest of a stream is asked for, where the server does not say."""

_SOONEST_S = 0.05
_MILLISECONDS = 1000


class Answer:
    """Takes in the answer to one request, and what the server asks before it gives one."""

    def __init__(self, request_id: RequestId, deliver: Callable[[Message], None]) -> None:
        """Pass on every message to ``deliver``; the answer goes under ``request_id``, whatever it names itself."""
        self.event_id: str | None = None
        """Where the stream can be resumed, if the server says."""
        self.wait_s = RESUME_S
        """How long to wait before that."""
        self._request_id = request_id
        self._deliver = deliver
        self._unasked = Unasked()

    async def read(self, response: httpx2.Response) -> bool:
        """Take in the body of a reply with a status of success; return whether the answer was in it.

        Raises:
            HttpFault: it breaks off, is too long, or brings too much that is no answer.
        """
        kind = media_type(response)
        if kind == "text/event-stream":
            return await self._read_events(response)
        if kind == "application/json":
            text = (await body_of(response)).decode("utf-8", "replace")
            if not self._take(
                text
            ):  # an empty batch, or a notification alone: nothing else will come
                self._deliver(no_answer(self._request_id, text))
        else:
            what = (
                f"HTTP {response.status_code} with content of type {kind!r}"
                if kind
                else "content without a type"
            )
            self._deliver(no_answer(self._request_id, what))
        return True

    def reject(self, error: JSONRPCError) -> None:
        """Take the server's error as the answer."""
        self._deliver(JSONRPCError(jsonrpc="2.0", id=self._request_id, error=error.error))

    async def _read_events(self, response: httpx2.Response) -> bool:
        async for event in events_of(response):
            await self._count()
            self.event_id = event.id or self.event_id
            if event.retry is not None:
                self.wait_s = max(event.retry / _MILLISECONDS, _SOONEST_S)
            if event.event == "message" and event.data and self._take(event.data):
                return True
        return False

    async def _count(self) -> None:
        try:
            await self._unasked.one_more()
        except Flood as error:
            self.event_id = None  # the rest of a flood is not asked for
            raise HttpFault(FLOOD) from error

    def _take(self, text: str) -> bool:
        """Pass on the messages in ``text``; return whether the answer was among them."""
        messages, noise = read_frames(text)
        for message in messages:
            if isinstance(message, JSONRPCRequest):
                self._deliver(message)
                continue
            message.id = self._request_id
            self._deliver(message)
            return True
        if noise is not None:
            self._deliver(no_answer(self._request_id, words_of(noise.encode())))
        return noise is not None


def error_in(body: bytes) -> JSONRPCError | None:
    """Return the JSON-RPC error that ``body`` is, if it is one; it may name no request."""
    try:
        return JSONRPCError.model_validate_json(body, by_name=False)
    except ValueError:
        return None
