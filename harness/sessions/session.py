"""Sessions with MCP servers, run as real processes, and the record of every call to them.

`harness.sessions.pool.open_sessions` opens a pool; the pool lends a `Session` for a server and a
user, and starts a process if there is none yet. All processes end with the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

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
        ...

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record, whatever its outcome; never raises for a bad server.

        ``epoch`` is the start of the trial on the clock of `anyio.current_time`. A call is sent at
        most once. Malformed requests and calls that the server's guard rails forbid are not sent,
        and are recorded as ``invalid_arguments`` or ``blocked``.
        """
        ...

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request, within ``call_timeout_s``, and return its raw result.

        A subscription has no time limit: it is answered when it ends.

        Raises:
            RequestRefused: the server answered with an error.
            RequestRejected: the server did not take the request as harness wrote it.
            ServerError: it was not answered in time, or the server is gone.
        """
        ...

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""
        ...

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward the server's notifications and requests to ``foreign_client`` within the block.

        If several clients share a connection, all get the notifications and none gets the requests.
        """
        ...

    async def watch(self) -> tuple[SideContent, ...]:
        """Record data beside results from now on, and return the data beside tools.

        That is `ToolCall.beside`, and `harness.sessions.side_channel_reader`. Never raises for a
        bad server.
        """
        ...

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone; ``None`` while it is alive."""
        ...

    def stderr_tail(self) -> str:
        """Return the last lines of the server's stderr, bounded."""
        ...


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
        ...

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
        ...

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        """Start in the background the server for the next loan of that user. Never raises."""
        ...
