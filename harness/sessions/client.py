"""The MCP client of one connection: the handshake, and requests with raw results.

Results are taken raw from the session's dispatcher. The typed methods of `ClientSession` reject a
whole tool list for one bad schema and raise if a result breaks its schema; harness records both.
Raw results also halve the cost of a call.

Importing this module loads the MCP SDK, which takes half a second: do it while the server starts.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    CONNECTION_CLOSED,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    DiscoverResult,
    Implementation,
    ServerCapabilities,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from harness.errors import ServerError
from harness.sessions import Introduction
from harness.sessions.admission import refused_step
from harness.sessions.beside import Heard
from harness.sessions.passed_on import Onlooker, Onlookers, TellProgress
from harness.sessions.questions import AskingDispatcher
from harness.sessions.server_messages import Exchange, RequestReader, Requests, RequestWriter
from harness.sessions.surroundings import surroundings
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.routing_headers import RoutingHeaders
from harness.types import Aside, JsonObject, ServerSpec, Wire
from harness.version import __version__

PROBE_S = 5.0
"""Seconds to wait for ``server/discover`` before a server is treated as one of the handshake era.

Most such servers refuse the method at once; some never answer an unknown method."""

PROBE_SHARE = 1 / 3
"""The same as a share of the available time, if that is less: the handshake needs time as well."""

# The SDK logs the errors of servers; without a handler Python would print them to the terminal.
for _logger in ("client", "mcp"):
    logging.getLogger(_logger).addHandler(logging.NullHandler())

_OF_A_CLIENT = (CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY)
_CLIENT_INFO = Implementation(name="harness", version=__version__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFacts:
    """What a transport tells of how requests are sent."""

    requests: Requests
    """The requests that are under way."""
    onlookers: Onlookers
    """Whom the server's own messages are passed on to."""
    stream: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Reads what the server says beside answers, for as long as it runs; ``None``: nothing has to
    be opened for it."""
    transport: str | None = None
    """What carries them: ``pipe`` or ``tcp``; ``None`` if that is unknown."""
    session_id: Callable[[], str | None] = lambda: None
    """Returns the server's id of the session, if there is one."""


class McpClient:
    """A session with one server for one user; used by many tasks at the same time."""

    def __init__(
        self,
        session: ClientSession,
        dispatcher: AskingDispatcher,
        meta: Mapping[str, Any],
        heard: Heard,
        wire: WireFacts,
        *,
        over_http: bool,
    ) -> None:
        """Send ``meta`` with every request; ``heard`` has what the server says unasked."""
        self._session = session
        self._wire = wire
        self._dispatcher = dispatcher
        self._heard = heard
        self._watched = False
        self._meta = dict(meta)
        self._routing = RoutingHeaders(None) if over_http else None

    async def negotiate(
        self,
        spec: ServerSpec,
    ) -> None:
        """Agree on a protocol version with the server of ``spec``, within about its time to start.

        Raises:
            NotAdmitted: the server refused this caller.
            ServerError: the server refused, or its answer is not MCP.
            ConnectionError: it is gone.
            HttpFault: the request ended in an HTTP failure or without an answer.
        """
        self._dispatcher.abilities = {ability: {} for ability in spec.transport.abilities}
        protocol, seconds = spec.transport.protocol, spec.start_timeout_s
        try:
            if protocol == "auto":
                await self._negotiate_era(min(PROBE_S, seconds * PROBE_SHARE))
            elif protocol == "legacy":
                await self._session.initialize()
            else:
                self._session.adopt(_pinned(protocol))
        except MCPError as error:
            if is_closed(error):
                raise ConnectionError from error
            raise refused_step(error, "the handshake", spec.refusals) from error
        except (ValueError, RuntimeError) as error:
            raise ServerError(
                f"answered the handshake with something that is not MCP: {_first_line(error)}"
            ) from error
        self._stamp()

    def speaking_as(self, meta: Mapping[str, Any]) -> McpClient:
        """Return a client of the same session that sends another ``meta`` with every request."""
        other = McpClient(
            self._session,
            self._dispatcher,
            meta,
            self._heard,
            self._wire,
            over_http=self._routing is not None,
        )
        other._stamp()
        return other

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        exchange: Exchange | None = None,
        progress: TellProgress | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its raw result.

        A ``_meta`` in ``params`` is joined by the session's own, which takes precedence. What
        crosses the session is noted in ``exchange``. If ``progress`` is given, the server is asked
        to tell it, and it is called with it.

        Raises:
            MCPError: the server answered with an error, or the connection is closed (`is_closed`).
            HttpFault: the request ended in an HTTP failure or without an answer.
        """
        if progress is None:
            quiet = _ignore if self._watched else None
            return await self._sent(method, params, exchange, quiet)
        with self._wire.requests.wanting_progress():
            return await self._sent(method, params, exchange, progress)

    async def _sent(
        self,
        method: str,
        params: Mapping[str, Any],
        exchange: Exchange | None,
        progress: TellProgress | None,
    ) -> dict[str, Any]:
        meta = _joined(params.get("_meta", {}), self._meta)
        content = {**params, "_meta": meta} if meta else params
        options: CallOptions = {} if progress is None else {"on_progress": progress}
        if self._routing is not None:
            options["headers"] = self._routing.of(method, params)
        with self._wire.requests.noting(exchange or Exchange()):
            result = await self._dispatcher.send_raw_request(method, content, options)
        if self._routing is not None and method == "tools/list":
            self._routing.learn(result.get("tools"))
        return result

    def wire(self, exchange: Exchange, *, traced: bool) -> Wire:
        """Return how the request of ``exchange`` was sent, without its frames."""
        return Wire(
            id=None if exchange.request is None else str(exchange.request["id"]),
            session=self._wire.session_id() if traced else None,
            protocol=self._session.protocol_version,
            transport=self._wire.transport,
        )

    @contextmanager
    def listening(self) -> Iterator[list[Aside]]:
        """Give what the server says unasked from now on; nothing unless it `is_watched`."""
        if not self._watched:
            yield []
            return
        with self._heard.during(self) as heard:
            yield heard

    @property
    def is_watched(self) -> bool:
        """Whether what comes beside results is recorded."""
        return self._watched

    def watch(self) -> None:
        """Record from now on what comes beside results."""
        self._watched = True
        if PROTOCOL_VERSION_META_KEY in self._meta:
            self._meta[LOG_LEVEL_META_KEY] = "debug"

    @asynccontextmanager
    async def passing_on(self, onlooker: Onlooker) -> AsyncGenerator[None]:
        """Pass on what the server says and asks of its own accord, for the length of the block."""
        with self._wire.onlookers.joined(onlooker):
            if self._wire.stream is None or self._is_newest:
                yield
                return
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._wire.stream)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()

    @property
    def _is_newest(self) -> bool:
        return self._session.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def introduction(self) -> Introduction:
        """What the server says of itself."""
        said, offered = self._session.server_info, self._session.server_capabilities
        return Introduction(
            name="" if said is None else said.name,
            version="" if said is None else said.version,
            instructions=self._session.instructions,
            capabilities={} if offered is None else _written(offered),
            subscribes=self._is_newest,
        )

    async def surroundings(self) -> tuple[Aside, ...]:
        """Return what is shown beside tools (`harness.sessions.surroundings`)."""
        said = self.introduction
        return await surroundings(self.request, said.instructions, said.capabilities)

    async def _negotiate_era(self, probe_s: float) -> None:
        """Try the newest revision, then the handshake; or do what the server says it needs."""
        try:
            with anyio.move_on_after(probe_s):
                await self._session.discover()
                return
        except HttpFault as fault:
            if fault.settles_the_era:
                raise
        except (MCPError, ValueError, RuntimeError) as error:
            if isinstance(error, MCPError) and is_closed(error):
                raise
        try:
            await self._session.initialize()
        except MCPError as error:
            # A slow server answered the probe after the timeout, and now only speaks the newest
            # revision.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                raise
            await self._session.discover()

    def _stamp(self) -> None:
        """Add the fields that the newest revision needs in each request."""
        agreed = self._session.protocol_version
        if agreed in MODERN_PROTOCOL_VERSIONS:
            self._meta[PROTOCOL_VERSION_META_KEY] = agreed
            self._meta[CLIENT_INFO_META_KEY] = _CLIENT_INFO.model_dump(
                by_alias=True, mode="json", exclude_none=True
            )
            self._meta[CLIENT_CAPABILITIES_META_KEY] = {}
        if self._routing is not None:
            self._routing = RoutingHeaders(agreed)


class Source(Interface):
    """Facts about the messages of a connection."""

    complaint: str | None
    """The server's violation because of which the connection was closed, if any."""
    noise: str | None
    """The beginning of the first output that is not MCP where only MCP is allowed."""


@dataclass(frozen=True, slots=True)
class Link:
    """A client connected to a server over a transport."""

    client: McpClient
    """Sends requests."""
    source: Source
    """Facts about its messages."""


@asynccontextmanager
async def open_client(
    reader: ObjectReceiveStream[SessionMessage | Exception],
    writer: ObjectSendStream[SessionMessage],
    meta: Mapping[str, Any],
    *,
    over_http: bool = False,
    transport: str | None = None,
    session_id: Callable[[], str | None] = lambda: None,
    stream: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> AsyncGenerator[McpClient]:
    """Run a client session on a transport's two streams.

    Nothing is sent before `McpClient.negotiate`. ``transport`` (``pipe``, ``tcp``) and
    ``session_id`` are what is known of the connection, for traces; ``stream`` reads what the server
    says beside answers, if that comes apart from them.
    """
    requests, heard, onlookers = Requests(), Heard(), Onlookers()
    wire = WireFacts(
        requests=requests,
        onlookers=onlookers,
        stream=stream,
        transport=transport,
        session_id=session_id,
    )
    dispatcher = AskingDispatcher(
        RequestReader(reader, requests, heard, onlookers),
        RequestWriter(writer, requests),
        onlookers,
    )
    async with ClientSession(dispatcher=dispatcher, client_info=_CLIENT_INFO) as session:
        yield McpClient(session, dispatcher, meta, heard, wire, over_http=over_http)


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    """Ask for progress, so that a server tells it: `Heard` hears it."""


def _written(capabilities: ServerCapabilities) -> JsonObject:
    return capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)


def _joined(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``_meta`` of a request: what the session says takes precedence.

    But for the abilities of a client behind it and the log level that this client wants: these are
    its own, and only a revision that has them in every request is told.
    """
    rest = {key: given[key] for key in given if key not in _OF_A_CLIENT}
    if PROTOCOL_VERSION_META_KEY not in own:
        return {**rest, **own}
    said = {key: given[key] for key in _OF_A_CLIENT if key in given}
    level = {LOG_LEVEL_META_KEY: own[LOG_LEVEL_META_KEY]} if LOG_LEVEL_META_KEY in own else {}
    return {**rest, **own, **said, **level}


def is_closed(error: MCPError) -> bool:
    """Whether an error is the SDK's, for a closed connection, and not the server's."""
    return (
        error.code == CONNECTION_CLOSED
        and error.message == "Connection closed"
        and error.data is None
    )


def _pinned(protocol: str) -> DiscoverResult:
    return DiscoverResult(
        supported_versions=[protocol],
        capabilities=ServerCapabilities(),
        result_type="complete",
        ttl_ms=0,
        cache_scope="public",
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
