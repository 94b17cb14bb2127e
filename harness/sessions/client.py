"""The MCP client of one connection: the handshake, and requests with raw results.

Results are taken raw from the session's dispatcher. The typed methods of `ClientSession` reject a
whole tool list for one bad schema and raise if a result breaks its schema; harness records both.
Raw results also halve the cost of a call.

Importing this module loads the MCP SDK, which takes half a second: do it while the server starts.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
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
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    DiscoverResult,
    Implementation,
    ServerCapabilities,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from harness.base import ServerError
from harness.sessions.call_record import Exchange
from harness.sessions.client_capabilities import build_capabilities
from harness.sessions.refusals import build_step_error
from harness.sessions.server_messages import (
    AskingDispatcher,
    RequestReader,
    RequestWriter,
    RunningRequests,
)
from harness.sessions.session import ForeignClient, ForeignClients, Introduction, ProgressHandler
from harness.sessions.side_channel_reader import read_side_channels
from harness.sessions.side_channels import UnsolicitedMessages
from harness.sessions.transports.frames import Noise, is_closed
from harness.sessions.transports.handshake import compute_probe_timeout
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.routing_headers import RoutingHeaders
from harness.types import JsonObject, ServerSpec, SideContent, Wire, dataclass
from harness.version import __version__

# The SDK logs server errors; without a handler Python would print them to the terminal.
for _logger in ("client", "mcp"):
    logging.getLogger(_logger).addHandler(logging.NullHandler())

_MOST = 5  # invalid fields of an answer that a message names
_OF_A_CLIENT = (CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY)
_CLIENT_INFO = Implementation(name="harness", version=__version__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFacts:
    """A session with a server, and the facts on how its requests are sent."""

    session: ClientSession
    """The SDK's session."""
    dispatcher: AskingDispatcher
    """Sends raw requests."""
    requests: RunningRequests
    """The running requests."""
    heard: UnsolicitedMessages
    """Collects unsolicited messages."""
    foreign_clients: ForeignClients
    """The clients that get the server's own messages."""
    over_http: bool
    """Whether requests need headers."""
    stream: Callable[[], Coroutine[Any, Any, None]] | None
    """Reads the server's messages beside answers, as long as it runs; ``None`` if they come with
    the answers."""
    transport: str | None
    """The carrier: ``pipe`` or ``tcp``; ``None`` if unknown."""
    session_id: Callable[[], str | None]
    """Returns the server's id of the session, if there is one."""


class McpClient:
    """A session with one server for one user; used by many tasks at the same time."""

    def __init__(self, wire: WireFacts, meta: JsonObject) -> None:
        """Send ``meta`` with every request."""
        self._session = wire.session
        self.wire = wire
        """How its requests are sent."""
        self.hindrance = ""
        """What came in place of an answer to the handshake so far, to end a message."""
        self.needs_initialize = False
        """Whether the server breaks off at the first message that is no ``initialize``."""
        self.is_watched = False
        """Whether data beside results are recorded."""
        self._capabilities: JsonObject = {}
        self._meta = dict(meta)
        self._routing = RoutingHeaders(None) if wire.over_http else None

    async def negotiate(self, spec: ServerSpec, *, is_early: bool = False) -> None:
        """Agree on a protocol version with the server of ``spec``, in about its time to start.

        If ``is_early``, a request that breaks off is no reason for the older handshake.

        Raises:
            NotAdmitted: the server refused this caller.
            ServerError: the server refused, or its answer is not MCP.
            ConnectionError: it is gone.
            HttpFault: the request ended in an HTTP failure or without an answer.
        """
        self._capabilities = build_capabilities(spec.transport.abilities)
        self.wire.dispatcher.abilities = self._capabilities
        protocol, probe_s = spec.transport.protocol, compute_probe_timeout(spec)
        try:
            if protocol == "auto":
                await self._negotiate_era(probe_s, is_early=is_early)
            elif protocol == "legacy":
                await self._session.initialize()
            # The pinned revision is spoken in any case; the answer only says what there is to read
            # beside tools. `is_early`, because there is no older handshake to try.
            elif not await self._try_discover(probe_s, is_early=True):
                self._session.adopt(_build_pinned_result(protocol))
        except MCPError as error:
            if is_closed(error):
                raise ConnectionError from error
            raise build_step_error(error, "the handshake", spec.refusals) from error
        except (ValueError, RuntimeError) as error:
            raise ServerError(
                f"answered the handshake with something that is not MCP: {_summarize_error(error)}"
            ) from error
        self._stamp_meta()

    def clone_with_meta(self, meta: JsonObject) -> McpClient:
        """Return a client of the same session that sends another ``meta`` with every request."""
        other = McpClient(self.wire, meta)
        other._capabilities = self._capabilities
        # The handshake is over, so nobody else would add these fields.
        other._stamp_meta()
        return other

    async def request(
        self,
        method: str,
        params: JsonObject,
        exchange: Exchange | None = None,
        progress: ProgressHandler | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its raw result.

        A ``_meta`` in ``params`` is merged with the session's own, which takes precedence. The
        messages are recorded in ``exchange``. If ``progress`` is given, the server is asked for
        progress notifications, and it is called with them.

        Raises:
            MCPError: the server answered with an error, or the connection is closed (`is_closed`).
            HttpFault: the request ended in an HTTP failure or without an answer.
        """
        requests = self.wire.requests
        wanted = nullcontext() if progress is None else requests.allow_progress()
        on_progress = progress or (_ignore_progress if self.is_watched else None)
        meta = _merge_meta(params.get("_meta", {}), self._meta)
        content = {**params, "_meta": meta} if meta else params
        options: CallOptions = {} if on_progress is None else {"on_progress": on_progress}
        if self._routing is not None:
            options["headers"] = self._routing.build_headers(method, params)
        with wanted, requests.record_exchange(exchange or Exchange()):
            result = await self.wire.dispatcher.send_raw_request(method, content, options)
        if self._routing is not None and method == "tools/list":
            self._routing.learn_tools(result.get("tools"))
        return result

    def build_wire(self, exchange: Exchange, *, traced: bool) -> Wire:
        """Return how the request of ``exchange`` was sent, without its frames."""
        return Wire(
            id=None if exchange.request is None else str(exchange.request["id"]),
            session=self.wire.session_id() if traced else None,
            protocol=self._session.protocol_version,
            transport=self.wire.transport,
        )

    @contextmanager
    def collect_messages(self) -> Iterator[list[SideContent]]:
        """Yield a list of unsolicited messages; it stays empty unless the client `is_watched`."""
        if not self.is_watched:
            yield []
            return
        with self.wire.heard.collect_messages(self) as heard:
            yield heard

    def watch(self) -> None:
        """Record data beside results from now on."""
        self.is_watched = True
        # The newest revision names the level in each request; servers of older ones are asked for
        # it once, by `logging/setLevel`.
        if PROTOCOL_VERSION_META_KEY in self._meta:
            self._meta[LOG_LEVEL_META_KEY] = "debug"

    @asynccontextmanager
    async def forward_messages(self, foreign_client: ForeignClient) -> AsyncGenerator[None]:
        """Forward the server's notifications and requests within the block."""
        with self.wire.foreign_clients.attach_client(foreign_client):
            # The newest revision has no such stream: its servers notify subscribers (`LISTEN`).
            if self.wire.stream is None or self.is_newest:
                yield
                return
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.wire.stream)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()

    def answer_during(self, client: ForeignClient | None) -> AbstractAsyncContextManager[None]:
        """Let ``client``, if given, answer the server's requests within the block."""
        # The newest revision asks in results, which say what they belong to.
        if client is None or self.is_newest:
            return nullcontext()
        return self.wire.foreign_clients.answer_during(client)

    @property
    def is_newest(self) -> bool:
        """Whether the agreed revision has no handshake."""
        return self._session.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""
        said, offered = self._session.server_info, self._session.server_capabilities
        return Introduction(
            name="" if said is None else said.name,
            version="" if said is None else said.version,
            instructions=self._session.instructions,
            capabilities=_dump(offered),
            subscribes=self.is_newest,
        )

    async def read_side_channels(self) -> tuple[SideContent, ...]:
        """Return the data beside tools (`harness.sessions.side_channel_reader`)."""
        said = self.introduction
        return await read_side_channels(self.request, said.instructions, said.capabilities)

    async def _negotiate_era(self, probe_s: float, *, is_early: bool) -> None:
        """Try the newest revision, then the handshake, or what the server says it needs."""
        if await self._try_discover(probe_s, is_early=is_early):
            return
        try:
            await self._session.initialize()
        except MCPError as error:
            # A slow server answered the probe after the timeout, and now only speaks the newest
            # revision.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                raise
            await self._session.discover()

    async def _try_discover(self, probe_s: float, *, is_early: bool) -> bool:
        """Ask for the description of a server of the newest revision; return whether it came."""
        try:
            with anyio.move_on_after(probe_s):
                await self._session.discover()
                return True
        except HttpFault as fault:
            broke_off = fault.status is None
            if fault.settles_the_era or (broke_off and is_early):
                raise
            self.needs_initialize = broke_off
        except (MCPError, ValueError, RuntimeError) as error:
            # Any other error is how older servers answer a method that they do not know.
            if isinstance(error, MCPError) and is_closed(error):
                raise
        return False

    def _stamp_meta(self) -> None:
        """Add the fields that the newest revision needs in each request."""
        agreed = self._session.protocol_version
        if agreed in MODERN_PROTOCOL_VERSIONS:
            self._meta[PROTOCOL_VERSION_META_KEY] = agreed
            self._meta[CLIENT_INFO_META_KEY] = _dump(_CLIENT_INFO)
            # A client behind the session sends its own.
            self._meta[CLIENT_CAPABILITIES_META_KEY] = dict(self._capabilities)
        if self._routing is not None:
            self._routing = RoutingHeaders(agreed)


class MessageSource(Interface):
    """Facts about the messages of a connection."""

    complaint: str | None
    """The server's violation because of which the connection was closed, if any."""
    noise: Noise
    """Output that is not MCP where only MCP is allowed."""


@dataclass(frozen=True, slots=True)
class Link:
    """A client connected to a server over a transport."""

    client: McpClient
    """Sends requests."""
    source: MessageSource
    """Facts about its messages."""


@asynccontextmanager
async def open_client(
    reader: ObjectReceiveStream[SessionMessage | Exception],
    writer: ObjectSendStream[SessionMessage],
    meta: JsonObject,
    *,
    over_http: bool = False,
    transport: str | None = None,
    session_id: Callable[[], str | None] = lambda: None,
    stream: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> AsyncGenerator[McpClient]:
    """Run a client session on a transport's two streams.

    Nothing is sent before `McpClient.negotiate`. ``transport`` (``pipe``, ``tcp``) and
    ``session_id`` describe the connection for traces; ``stream`` reads the server's messages beside
    answers, if they come separately.
    """
    requests, heard, foreign_clients = RunningRequests(), UnsolicitedMessages(), ForeignClients()
    dispatcher = AskingDispatcher(
        RequestReader(reader, requests, heard, foreign_clients),
        RequestWriter(writer, requests),
        foreign_clients,
    )
    async with ClientSession(dispatcher=dispatcher, client_info=_CLIENT_INFO) as session:
        wire = WireFacts(
            session=session,
            dispatcher=dispatcher,
            requests=requests,
            heard=heard,
            foreign_clients=foreign_clients,
            over_http=over_http,
            stream=stream,
            transport=transport,
            session_id=session_id,
        )
        yield McpClient(wire, meta)


async def _ignore_progress(progress: float, total: float | None, message: str | None) -> None:
    """Ignore progress; it is requested only so that `UnsolicitedMessages` gets it."""


def _dump(part: BaseModel | None) -> dict[str, Any]:
    return {} if part is None else part.model_dump(by_alias=True, mode="json", exclude_none=True)


def _merge_meta(given: JsonObject, own: JsonObject) -> dict[str, Any]:
    """Return the ``_meta`` of a request; the session's values take precedence.

    The exceptions are the capabilities and the log level of a client behind the session: these stay
    the client's own, and are sent only in a revision that has them in every request.
    """
    rest = {key: given[key] for key in given if key not in _OF_A_CLIENT}
    if PROTOCOL_VERSION_META_KEY not in own:
        return {**rest, **own}
    said = {key: given[key] for key in _OF_A_CLIENT if key in given}
    level = {LOG_LEVEL_META_KEY: own[LOG_LEVEL_META_KEY]} if LOG_LEVEL_META_KEY in own else {}
    return {**rest, **own, **said, **level}


def _build_pinned_result(protocol: str) -> DiscoverResult:
    return DiscoverResult(
        supported_versions=[protocol],
        capabilities=ServerCapabilities(),
        result_type="complete",
        ttl_ms=0,
        cache_scope="public",
    )


def _summarize_error(error: Exception) -> str:
    """Return what is wrong in one line; of invalid fields, their names and what each lacks."""
    if not isinstance(error, ValidationError):
        return str(error).partition("\n")[0]
    wrong = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in wrong[:_MOST])
