"""MCP over streamable HTTP: each request is a POST, and its answer comes in the body of the reply.

The exchange runs in the requesting task, so an abandoned call closes its connection: that tells
servers of the newest revision; older ones get a notification. The stream of unsolicited messages (a
GET) is opened only for a client behind the session, since nothing else would use them.

The server: what happens:

- answers with a bad status: `HttpFault`, unless it brings a JSON-RPC error that says more
- no longer knows the session (404, or `names_lost_session` with another status or with -32001 in a
  200): `HttpFault`, and the connection is lost
- sends an answer that is not MCP: a JSON-RPC error of code `MALFORMED`
- ends its event stream before the answer: asked for the rest, if it numbered its events; else a
  fault
- sends a request of its own within the stream: the client's session answers it
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
import httpx2
from anyio.abc import ObjectSendStream
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    METHOD_NOT_FOUND,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from harness.sessions.client import Link, open_client
from harness.sessions.transports.frames import Noise, ReceivedMessage, is_optional
from harness.sessions.transports.http_client import (
    EndpointClient,
    ServerEndpoint,
    build_status_fault,
    drain_response,
    extract_text,
    media_type,
    open_endpoint_client,
    read_beginning,
)
from harness.sessions.transports.http_errors import HttpFault, names_lost_session
from harness.sessions.transports.http_replies import AnswerReader, MessageStreamReader, parse_error
from harness.types import JsonObject

NOTIFY_S = 0.25
"""Seconds that an optional notification may take."""

REPLY_S = 5.0
"""Seconds that an answer to a question of the server may take."""

END_S = 1.0
"""Seconds for a server to end the session; it would time out anyway."""

MAX_RESUMPTIONS = 2
"""Most failed attempts in a row to get the rest of an event stream."""

_SESSION_ID = "mcp-session-id"
_SUCCESS = range(200, 300)
_RESOURCE_NOT_FOUND = -32002
_SESSION_EXPIRED = -32001  # of the official SDKs, for which others answer 200
_OF_THE_REQUEST = frozenset({METHOD_NOT_FOUND, _RESOURCE_NOT_FOUND})
_ACCEPTED = 202
_GONE = frozenset({404, 410})


@asynccontextmanager
async def connect(
    endpoint: ServerEndpoint, meta: JsonObject, on_closed: Callable[[], None]
) -> AsyncGenerator[Link]:
    """Connect to ``endpoint``; ``on_closed`` is called when it is unreachable or has ended."""
    async with open_endpoint_client(endpoint) as web:
        # Without a bound, because `send_nowait` cannot wait; a flood ends the reply.
        incoming, reader = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        writer = HttpWriter(web, incoming, on_closed)
        try:
            async with open_client(
                reader,
                writer,
                meta,
                over_http=True,
                transport="tcp",
                session_id=lambda: writer.session_id,
                stream=writer.listen,
            ) as client:
                yield Link(client, writer)
        finally:
            incoming.close()
            await writer.end_session()


class HttpWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to the server; sending a request ends with its answer."""

    def __init__(
        self,
        web: EndpointClient,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        on_closed: Callable[[], None],
    ) -> None:
        """Send through ``web``, and put received messages into ``incoming``."""
        self.complaint: str | None = None
        self.noise = Noise("in an event stream")
        self._web = web
        self._incoming = incoming
        self._on_closed = on_closed
        self.session_id: str | None = None
        """The server's id of the session; ``None`` before the handshake, and if it has none."""
        self._version: str | None = None

    async def send(self, item: SessionMessage) -> None:
        """Send one message; for a request, read its answer.

        Raises:
            HttpFault: the request got no MCP answer.
        """
        message = item.message
        headers = self._build_headers(item)
        if isinstance(message, JSONRPCRequest):
            try:
                await self._send_request(message, headers)
            except HttpFault as fault:
                if fault.gone:
                    self.complaint = str(fault)
                    self._on_closed()
                raise
        elif not (_is_cancellation(message) and self._version in MODERN_PROTOCOL_VERSIONS):
            with anyio.move_on_after(get_answer_timeout(message)), suppress(HttpFault):
                async with self._post(message, headers) as response:
                    await drain_response(response)

    async def listen(self) -> None:
        """Read the server's messages beside answers, until the server ends that stream.

        An interrupted stream is opened again, up to `MAX_RESUMPTIONS` times in a row.
        """
        stream, in_vain = MessageStreamReader(self._incoming.send_nowait), 0
        while in_vain < MAX_RESUMPTIONS:
            with suppress(HttpFault):
                async with self._get_stream(stream.event_id) as response:
                    if response.status_code not in _SUCCESS:
                        return  # in older revisions a server need not offer this stream
                    in_vain = 0 if await stream.read(response) else in_vain
            in_vain += 1
            await anyio.sleep(stream.wait_s)

    async def aclose(self) -> None:
        """Do nothing: the HTTP client closes its connections."""

    async def end_session(self) -> None:
        """End the server's session, if it has one; bounded by `END_S`."""
        # A server that is gone, or has forgotten the session, need not be told.
        if self.session_id is None or self.complaint is not None:
            return
        with anyio.CancelScope(shield=True), anyio.move_on_after(END_S), suppress(HttpFault):
            headers = self._build_session_headers()
            async with self._web.exchange_request("DELETE", self._web.url, headers=headers):
                pass

    def _build_headers(self, item: SessionMessage) -> dict[str, str]:
        own = item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
        own = dict(own or {})
        if isinstance(item.message, JSONRPCRequest) and item.message.method == "initialize":
            # A handshake agrees on both anew: what an earlier attempt left must not be sent.
            self._version = self.session_id = None
        # Kept for messages that bring no header of their own.
        self._version = own.get(MCP_PROTOCOL_VERSION_HEADER, self._version)
        kinds = "application/json, text/event-stream"
        accepted = {"accept": kinds, "content-type": "application/json"}
        return {**accepted, **self._build_session_headers(), **own}

    def _build_session_headers(self) -> dict[str, str]:
        """Return the agreed session headers, which older revisions need with every request."""
        state = {MCP_PROTOCOL_VERSION_HEADER: self._version, _SESSION_ID: self.session_id}
        return {name: value for name, value in state.items() if value is not None}

    def _post(
        self, message: JSONRPCMessage, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        content = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        return self._web.exchange_request("POST", self._web.url, content=content, headers=headers)

    def _get_stream(self, event_id: str | None) -> AbstractAsyncContextManager[httpx2.Response]:
        """Ask for an event stream, or for what came in it after the event ``event_id``."""
        last = {} if event_id is None else {"last-event-id": event_id}
        headers = {"accept": "text/event-stream", **last, **self._build_session_headers()}
        return self._web.exchange_request("GET", self._web.url, headers=headers)

    def _handle_message(self, message: ReceivedMessage) -> None:
        """Deliver a message of the server, unless it says that the session has expired.

        Raises:
            HttpFault: it does.
        """
        error = message.message
        if (
            isinstance(error, JSONRPCError)
            and self.session_id is not None
            and error.error.code == _SESSION_EXPIRED
            and names_lost_session(error.error.message)
        ):
            raise HttpFault(f"no longer knows the session: {error.error.message}", gone=True)
        self._incoming.send_nowait(message)

    async def _send_request(self, request: JSONRPCRequest, headers: Mapping[str, str]) -> None:
        answer = AnswerReader(request.id, self._handle_message, self.noise)
        try:
            async with self._post(request, headers) as response:
                # 202 says that no answer will come, which is right for a notification only.
                if response.status_code not in _SUCCESS or response.status_code == _ACCEPTED:
                    answer.reject(await self._read_error(response))
                    return
                if request.method == "initialize":
                    self.session_id = response.headers.get(_SESSION_ID)
                if await answer.read(response):
                    return
        except HttpFault as fault:
            # Only a stream that numbered its events, and then broke off, has a rest to ask for.
            if answer.event_id is None or fault.status is not None or fault.gone:
                raise
        await self._resume_stream(answer)

    async def _resume_stream(self, answer: AnswerReader) -> None:
        """Request the rest of a stream that broke off; the request itself is never sent again."""
        in_vain = 0
        while answer.event_id is not None and in_vain < MAX_RESUMPTIONS:
            before = answer.event_id
            await anyio.sleep(answer.wait_s)
            with suppress(HttpFault):
                async with self._get_stream(before) as response:
                    if response.status_code in _SUCCESS and await answer.read(response):
                        return
            # A stream that moved on was not in vain, however often it breaks off.
            in_vain = 0 if answer.event_id != before else in_vain + 1
        raise HttpFault("ended its event stream without an answer")

    async def _read_error(self, response: httpx2.Response) -> JSONRPCError:
        """Return the server's own JSON-RPC error in a reply with a bad status.

        Raises:
            HttpFault: there is no such error, or the status takes precedence.
        """
        body = await read_beginning(response)
        error = parse_error(body) if media_type(response) == "application/json" else None
        words = body if error is None else error.error.message.encode()
        fault = build_status_fault(response, words)
        if self._is_over(fault, error, extract_text(words)):
            fault = build_status_fault(response, words, gone=True)
        if error is None or fault.takes_precedence:
            raise fault
        return error

    def _is_over(self, fault: HttpFault, error: JSONRPCError | None, words: str) -> bool:
        """Whether the server says that it does not know the session."""
        if self.session_id is None:
            return False
        # With a 404 a server may also say that a method or a resource does not exist.
        is_of_the_request = error is not None and error.error.code in _OF_THE_REQUEST
        if fault.status in _GONE and not is_of_the_request:
            return True
        return names_lost_session(words, is_refusal=fault.is_refusal)


def get_answer_timeout(message: JSONRPCMessage) -> float:
    """Return how long a message may take that is no request; the handshake has its own deadline."""
    if is_optional(message):
        return NOTIFY_S
    return math.inf if isinstance(message, JSONRPCNotification) else REPLY_S


def _is_cancellation(message: JSONRPCMessage) -> bool:
    return isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled"
