"""Sessions with MCP servers, run as real processes, and the record of every call to them.

`harness.sessions.pool.open_sessions` opens a pool; the pool lends a `Session` for a server and a
user, and starts a process if there is none yet. All processes end with the pool. A `SessionWrapper`
changes only a part of a session: `TracedSession` sends the trace context of a trial, with ids that
are derived from the run, the trial and the call, so that spans made from the log later have the ids
that the server got.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from harness.sessions.forwarding import ForeignClient
from harness.types import (
    Credential,
    JsonObject,
    ServerSpec,
    SideContent,
    ToolCall,
    ToolList,
    ToolRequest,
)

if TYPE_CHECKING:
    from harness.sessions.forwarding import ForeignClient


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
    (`harness.sessions.forwarding.LISTEN`), and requests input from its client in results: the
    revisions since 2026-07-28."""


class Session(Protocol):
    """One user's open connection to one server; trials of that user may share it."""

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""

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
