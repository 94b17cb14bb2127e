"""MCP over HTTP with server-sent events, the transport before streamable HTTP.

One GET stays open and delivers all answers as events; its first event names the URL for requests.
A POST runs in the requesting task and returns only a status.

| the server | handling |
|---|---|
| refuses the stream, or it is no such stream | `HttpFault`, raised by the first request |
| answers a post with a bad status | `HttpFault` |
| no longer knows the session (`names_lost_session`) | the connection is lost |
| ends the stream | the connection is lost, because no answer can come |
| names a URL of another origin | the same: credentials must not go there |
| sends more than `MAX_UNSOLICITED` messages without an answer | the same |
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import httpx2
from anyio.abc import ObjectSendStream
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCRequest

from harness.base import same_origin, url_text
from harness.sessions.client import Link, open_client
from harness.sessions.server_messages import FLOOD, UnsolicitedCount
from harness.sessions.transports.frames import UNSOLICITED, Noise, read_frames
from harness.sessions.transports.http_client import (
    EndpointClient,
    ServerEndpoint,
    build_status_fault,
    drain_response,
    extract_text,
    iterate_events,
    media_type,
    open_endpoint_client,
    read_beginning,
)
from harness.sessions.transports.http_errors import HttpFault, names_lost_session
from harness.sessions.transports.streamable_http import get_answer_timeout
from harness.types import JsonObject


@asynccontextmanager
async def connect(
    endpoint: ServerEndpoint, meta: JsonObject, on_closed: Callable[[], None]
) -> AsyncGenerator[Link]:
    """Connect to ``endpoint``; ``on_closed`` is called when its stream has ended."""
    async with open_endpoint_client(endpoint) as web, anyio.create_task_group() as tasks:
        stream = EventStream(web)

        async def listen() -> None:
            await stream.listen()
            on_closed()

        tasks.start_soon(listen)
        writer = SseWriter(web, stream, on_closed)
        client_of = open_client(stream.incoming, writer, meta, over_http=True, transport="tcp")
        async with client_of as client:
            yield Link(client, stream)
        tasks.cancel_scope.cancel()


class EventStream:
    """The stream that delivers all answers."""

    def __init__(self, web: EndpointClient) -> None:
        """Use ``web``; `listen` reads the stream."""
        self.complaint: str | None = None
        self.noise = Noise("in its event stream")
        # Without a bound, because `send_nowait` cannot wait; a flood ends the stream.
        streams = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._outgoing, self.incoming = streams
        self._web = web
        self._fault: HttpFault | None = None
        self._post_url: httpx2.URL | None = None
        self._settled = anyio.Event()

    async def listen(self) -> None:
        """Read the stream until it ends, for any reason."""
        fault = HttpFault("closed its event stream")
        try:
            accepted = {"accept": "text/event-stream"}
            get = self._web.exchange_request("GET", self._web.url, headers=accepted)
            async with get as response:
                await self._take_events(response)
        except HttpFault as error:
            fault = error
        finally:
            # `gone`, whatever ended it: no answer can come without the stream.
            self._fault = HttpFault(str(fault), status=fault.status, gone=True)
            self.complaint = str(fault)
            self._settled.set()
            # Ends every call that waits for an answer.
            self._outgoing.close()

    async def post_url(self) -> httpx2.URL:
        """Return the URL for requests, once the server has named it.

        Raises:
            HttpFault: the stream has ended.
        """
        await self._settled.wait()
        if self._fault is not None or self._post_url is None:
            raise self._fault or HttpFault("closed its event stream", gone=True)
        return self._post_url

    async def _take_events(self, response: httpx2.Response) -> None:
        if not response.is_success:
            raise build_status_fault(response, await read_beginning(response))
        if media_type(response) != "text/event-stream":
            kind = media_type(response)
            raise HttpFault(f"answered with content of type {kind!r} instead of an event stream")
        unasked = UnsolicitedCount()
        async for event in iterate_events(response):
            if await unasked.count_message():
                raise HttpFault(FLOOD)
            if event.event == "endpoint":
                # Relative to where a redirect has led, not to the configured URL.
                url = response.url.join(event.data)
                if not same_origin(url, response.url):
                    what = f"asks to post requests to another server, {url_text(url)}"
                    raise HttpFault(f"{what}, which is not done")
                self._post_url = url
                self._settled.set()
            elif event.event == "message" and event.data:
                messages, noise = read_frames(event.data)
                self.noise.add(noise)
                for message in messages:
                    self._outgoing.send_nowait(message)
                if not all(isinstance(each.message, UNSOLICITED) for each in messages):
                    unasked.reset()


class SseWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to the server."""

    def __init__(
        self, web: EndpointClient, stream: EventStream, on_closed: Callable[[], None]
    ) -> None:
        """Post to the URL from ``stream``; ``on_closed`` is called when it leads nowhere."""
        self._web = web
        self._stream = stream
        self._on_closed = on_closed

    async def send(self, item: SessionMessage) -> None:
        """Post one message.

        Raises:
            HttpFault: a request was not accepted.
        """
        if isinstance(item.message, JSONRPCRequest):
            try:
                await self._post(item)
            except HttpFault as fault:
                if fault.gone:
                    self._stream.complaint = self._stream.complaint or str(fault)
                    self._on_closed()
                raise
        else:
            with anyio.move_on_after(get_answer_timeout(item.message)), suppress(HttpFault):
                await self._post(item)

    async def aclose(self) -> None:
        """Do nothing: the HTTP client closes its connections."""

    async def _post(self, item: SessionMessage) -> None:
        url = await self._stream.post_url()
        content = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        own = item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
        headers = {"content-type": "application/json", **(own or {})}
        post = self._web.exchange_request("POST", url, content=content, headers=headers)
        async with post as response:
            if not response.is_success:
                said = await read_beginning(response)
                is_refusal = build_status_fault(response, said).is_refusal
                is_over = names_lost_session(extract_text(said), is_refusal=is_refusal)
                raise build_status_fault(response, said, gone=is_over)
            await drain_response(response)
