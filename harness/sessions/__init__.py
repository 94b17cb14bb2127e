"""Sessions with MCP servers, run as real processes, and the record of every call to them.

`harness.sessions.pool.open_sessions` opens a pool; the pool lends a `Session` for a server and a
user, and starts a process if there is none yet. All processes end with the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from harness.types import Aside, Credential, JsonObject, ServerSpec, ToolCall, ToolList, ToolRequest

if TYPE_CHECKING:
    from harness.sessions.passed_on import Onlooker

SEPARATOR = "__"
"""Separates the name of a joined server from that of its tool; allowed in names by every provider.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduction:
    """What a server says of itself when a session is opened."""

    name: str = ""
    """Its name, if it gives one."""
    version: str = ""
    """Its version."""
    instructions: str | None = None
    """How its tools are to be used, for the model of whoever connects."""
    capabilities: JsonObject = field(default_factory=dict)
    """What it offers (``tools``, ``resources`` …), as MCP writes it."""
    subscribes: bool = False
    """Whether it tells of changes only to who listens (`harness.sessions.passed_on.LISTEN`), and
    asks its client in results: the revisions since 2026-07-28."""


class Session(Protocol):
    """One user's open connection to one server; trials of that user may share it."""

    @property
    def tools(self) -> ToolList:
        """What this user sees."""
        ...

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record, whatever its outcome; never raises for a bad server.

        ``epoch`` is the start of the trial on the clock of `anyio.current_time`. A call is sent at
        most once. Malformed requests and calls that the server's guard rails forbid are not sent,
        and are recorded as ``invalid_arguments`` or ``blocked``.
        """
        ...

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request, within ``call_timeout_s``, and return its raw result.

        A subscription has no limit of time: it is answered when it ends.

        Raises:
            RequestRefused: the server answered with an error.
            ServerError: it was not answered in time, or the server is gone.
        """
        ...

    @property
    def introduction(self) -> Introduction:
        """What the server says of itself."""
        ...

    def passing_on(self, onlooker: Onlooker) -> AbstractAsyncContextManager[None]:
        """Pass on what the server says and asks of its own accord, for the length of the block.

        Where several clients share a connection, all are told, and none is asked.
        """
        ...

    async def watch(self) -> tuple[Aside, ...]:
        """Record from now on what comes beside results, and return what is shown beside tools.

        That is `ToolCall.beside`, and `harness.sessions.surroundings`. Never raises for a
        bad server.
        """
        ...

    @property
    def lost(self) -> str | None:
        """Why the server is gone, once it is; ``None`` while it lives."""
        ...

    def stderr_tail(self) -> str:
        """Return the last lines that the server wrote on stderr, bounded."""
        ...


class SessionPool(Protocol):
    """All sessions of a run: by default at most one process for each server and distinct user."""

    def session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AbstractAsyncContextManager[Session]:
        """Lend the session of that user, started on first use and replaced after it was lost.

        ``credential`` is the token that the user sends, where the identity is ``bearer``; each kind
        has a session of its own.

        Under ``isolation: case`` each loan gets a process of its own, which ends with the loan;
        under ``none`` all users share one.

        Raises:
            NotAdmitted: the server refused this user a session.
            ServerError: it could not be started, or could not list its tools, in time.
        """
        ...

    def sessions(
        self,
        server: ServerSpec,
        user_contexts: Sequence[JsonObject | None],
        credential: Credential = "valid",
    ) -> AbstractAsyncContextManager[list[Session]]:
        """Lend the sessions of several users at once, in their order; each as in `session`.

        Use this to borrow several. Borrowed one after the other, two borrowers that each hold one
        could wait for each other forever.
        """
        ...

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        """Start in the background the server for the next loan of that user. Never raises."""
        ...
