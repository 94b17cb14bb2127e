"""Sessions with MCP servers, run as real processes, and the record of every call to them.

`harness.sessions.pool.open_sessions` opens a pool; the pool lends a `Session` for a server and a
user, and starts a process if there is none yet. All processes end with the pool. A `SessionWrapper`
changes only a part of a session: `TracedSession` sends the trace context of a trial, with ids that
are derived from the run, the trial and the call, so that spans made from the log later have the ids
that the server got.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import field, replace
from typing import Any, Protocol

import anyio

from harness.types import (
    Credential,
    JsonObject,
    ServerSpec,
    SideContent,
    ToolCall,
    ToolList,
    ToolRequest,
    dataclass,
)

ELICITATION, SAMPLING = "elicitation/create", "sampling/createMessage"
QUESTIONS = frozenset({ELICITATION, SAMPLING, "roots/list"})
"""Requests of a server that only the client behind a session can answer."""
TOOLS_CHANGED = "notifications/tools/list_changed"
"""The notification of a server whose list of tools has changed."""
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
"""The first message of a subscription."""
LISTEN = "subscriptions/listen"
"""The request of the newest revision that is answered only when its subscription ends."""
# They name a request by an id of this connection, which the clients behind it do not know.
_OF_ITS_REQUEST = frozenset({"notifications/progress", "notifications/cancelled"})


class ProgressHandler(Protocol):
    """Receives the progress of a call."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Take the progress, the total if known, and a message if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskableRequest(ToolRequest):
    """A request during which the server may ask its client."""

    client: ForeignClient | None = field(default=None, repr=False, compare=False)
    """The client that answers; ``None`` leaves it to the client of the session, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedRequest(AskableRequest):
    """A request of a foreign client.

    Sessions that wrap others replace fields of a request and keep its class, so that the innermost
    session finds these callbacks.
    """

    answered: Callable[[JsonObject], None]
    """Called with the raw result, without the tokens of this session; not called if there is
    none."""
    refused: Callable[[int, str, object], None]
    """Called with code, message and data of the JSON-RPC error, if the call ended in one."""
    progress: ProgressHandler | None = None
    """Called with progress; ``None`` if the client did not ask for it."""
    more: JsonObject = field(default_factory=dict)
    """Further parameters, such as the answers to the server's requests for input."""


class ForeignClient(Protocol):
    """The client of a foreign program, as a session sees it."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Take a notification of the server; must not wait."""

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Return the client's result for a request of the server.

        Raises:
            RequestRefused: it answered with an error, or cannot be asked.
        """


class ForeignClients:
    """The clients to which one connection forwards messages."""

    def __init__(self) -> None:
        """Start without clients."""
        self._all: list[ForeignClient] = []
        self._answering: ForeignClient | None = None
        self._lock = anyio.Lock()
        self.tool_changes = 0
        """How often the server said that its tools have changed."""
        self.on_acknowledged: Callable[[], None] | None = None
        """Is called when the server acknowledges a subscription."""

    @contextmanager
    def attach_client(self, foreign_client: ForeignClient) -> Iterator[None]:
        """Forward messages to ``foreign_client`` within the block."""
        self._all.append(foreign_client)
        try:
            yield
        finally:
            self._all[:] = [one for one in self._all if one is not foreign_client]

    def notify(self, method: str, params: JsonObject | None) -> None:
        """Send a notification to all of them, unless it is about one request of this connection."""
        self.tool_changes += method == TOOLS_CHANGED
        if method == ACKNOWLEDGED and self.on_acknowledged is not None:
            self.on_acknowledged()
        if method not in _OF_ITS_REQUEST:
            for foreign_client in self._all:
                foreign_client.notify(method, dict(params or {}))

    @asynccontextmanager
    async def answer_during(self, client: ForeignClient) -> AsyncGenerator[None]:
        """Let ``client`` alone answer the server's requests within the block; others wait."""
        async with self._lock:
            self._answering = client
            try:
                yield
            finally:
                self._answering = None

    @property
    def sole_client(self) -> ForeignClient | None:
        """The client that gets the server's requests; ``None`` if there is none or several."""
        if self._answering is not None:
            return self._answering
        # A server's request does not say whom it is for: with several, that would be a guess.
        return self._all[0] if len(self._all) == 1 else None


class ScrubbedClient:
    """A client to which messages are forwarded without tokens."""

    def __init__(self, foreign_client: ForeignClient, scrub: Callable[[Any], Any]) -> None:
        """Forward to ``foreign_client`` what ``scrub`` returns for a message."""
        self._client = foreign_client
        self._scrub = scrub

    def notify(self, method: str, params: JsonObject) -> None:
        """Forward a notification (see `ForeignClient.notify`)."""
        self._client.notify(method, self._scrub(params))

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Forward a request (see `ForeignClient.ask_client`)."""
        return await self._client.ask_client(method, self._scrub(params))


SEPARATOR = "__"
"""Separates the name of a joined server from that of its tool; every provider allows it in
names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduction:
    """A server's description of itself when a session is opened."""

    name: str = ""
    """Its name, if it has one."""
    version: str = ""
    """Its version."""
    instructions: str | None = None
    """Instructions for the use of its tools, for the client's model."""
    capabilities: JsonObject = field(default_factory=dict)
    """Its capabilities (``tools``, ``resources`` …), in the form of MCP."""
    subscribes: bool = False
    """Whether it sends notifications of changes only to subscribers
    (`harness.sessions.session.LISTEN`), and requests input from its client in results: the
    revisions since 2026-07-28."""


class Session(Protocol):
    """One user's open connection to one server; trials of that user may share it."""

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""

    async def listen_for_changes(self) -> None:
        """Have the server tell from now on when its tools change, if it says that they can."""

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now; they are read again only after they have changed.

        What could not be read is a problem of the list. Never raises for a bad server.
        """

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record, whatever its outcome; never raises for a bad server.

        ``epoch`` is the start of the trial on the clock of `anyio.current_time`. A call is sent at
        most once. Malformed requests and calls that the server's guard rails forbid are not sent,
        and are recorded as ``invalid_arguments`` or ``blocked``.
        """

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request, within ``call_timeout_s``, and return its raw result.

        A subscription has no time limit: it is answered when it ends.

        Raises:
            RequestRefused: the server answered with an error.
            RequestRejected: the server did not take the request as harness wrote it.
            ServerError: it was not answered in time, or the server is gone.
        """

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward the server's notifications and requests to ``foreign_client`` within the block.

        If several clients share a connection, all get the notifications and none gets the requests.
        """

    async def watch(self) -> tuple[SideContent, ...]:
        """Record data beside results from now on, and return the data beside tools.

        That is `ToolCall.beside`, and `harness.sessions.side_channel_reader`. Never raises for a
        bad server.
        """

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone; ``None`` while it is alive."""

    def stderr_tail(self) -> str:
        """Return the last lines of the server's stderr, bounded."""


class SessionPool(Protocol):
    """All sessions of a run: by default at most one process for each server and distinct user."""

    def lend_session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AbstractAsyncContextManager[Session]:
        """Lend the session of that user, started on first use and replaced after it was lost.

        ``credential`` is the kind of token that the user sends, if the identity is ``bearer``; each
        kind has its own session.

        Under ``isolation: case`` each loan gets a process of its own, which ends with the loan;
        under ``none`` all users share one.

        Raises:
            NotAdmitted: the server refused this user a session.
            ServerError: it could not be started, or could not list its tools, in time.
        """

    def lend_sessions(
        self,
        server: ServerSpec,
        user_contexts: Sequence[JsonObject | None],
        credential: Credential = "valid",
    ) -> AbstractAsyncContextManager[list[Session]]:
        """Lend the sessions of several users at once, in their order; each as in `lend_session`.

        Always borrow several sessions this way: two borrowers that take them one by one could wait
        for each other forever.
        """

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        """Start in the background the server for the next loan of that user. Never raises."""


class SessionWrapper:
    """Does everything as the session that it wraps; a subclass changes what it has to."""

    def __init__(self, session: Session) -> None:
        """Wrap ``session``."""
        self._session = session

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""
        return self._session.tools

    async def listen_for_changes(self) -> None:
        """Have the server tell when its tools change."""
        await self._session.listen_for_changes()

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now."""
        return await self._session.refresh_tools()

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record."""
        return await self._session.call(request, reply=reply, epoch=epoch)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request."""
        return await self._session.send_request(method, params)

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""
        return self._session.introduction

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages to a client."""
        return self._session.forward_messages(foreign_client)

    async def watch(self) -> tuple[SideContent, ...]:
        """Watch the session."""
        return await self._session.watch()

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone."""
        return self._session.loss_reason

    def stderr_tail(self) -> str:
        """Return the last lines of the server's stderr."""
        return self._session.stderr_tail()


def get_next_cursor(page: JsonObject) -> str | None:
    """Return the cursor of the page after ``page``; ``None`` at the end.

    An empty one is the end, too: servers in some languages write it for none.
    """
    cursor = page.get("nextCursor")
    return cursor if isinstance(cursor, str) and cursor else None


def has_bad_cursor(page: JsonObject) -> bool:
    """Whether there is a further page whose cursor is no text, so that nobody can ask for it."""
    cursor = page.get("nextCursor")
    return cursor is not None and not isinstance(cursor, str)


TRACEPARENT = "traceparent"
"""The key in ``_meta`` of a request; W3C Trace Context has a header of this name."""


@dataclass(frozen=True, slots=True)
class TraceIds:
    """The ids of one trial's trace."""

    run_id: str
    """Name of the run's folder."""
    key: str
    """`harness.types.Trial.key`."""

    @property
    def trace_id(self) -> int:
        """The trace: 128 bits."""
        return self.derive_id("trace", 16)

    def derive_call_span(self, reply: int, request_id: str) -> int:
        """Return the span id of the call ``request_id`` in the model's ``reply``: 64 bits."""
        return self.derive_id(f"call {reply} {request_id}", 8)

    def derive_id(self, part: str, size: int) -> int:
        """Return an id of ``size`` bytes for a part of the trial; never 0, which means none."""
        told = hashlib.sha256(f"{self.run_id}\n{self.key}\n{part}".encode()).digest()
        return int.from_bytes(told[:size], "big") or 1

    def format_traceparent(self, span: int) -> str:
        """Return the ``traceparent`` that makes the server's spans sampled children of ``span``."""
        return f"00-{self.trace_id:032x}-{span:016x}-01"


class TracedSession(SessionWrapper):
    """A session whose calls carry the trace context of a trial; otherwise unchanged."""

    def __init__(self, session: Session, ids: TraceIds) -> None:
        """Send the calls of the trial with these ``ids`` by ``session``."""
        super().__init__(session)
        self._ids = ids

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call with its trace context (see `Session.call`)."""
        told = self._ids.format_traceparent(self._ids.derive_call_span(reply, request.id))
        traced = replace(request, meta={**request.meta, TRACEPARENT: told})
        return await self._session.call(traced, reply=reply, epoch=epoch)
