"""Another identity's session over one connection, for identity by ``meta``.

With ``meta``, each request names its user. By default, trials of different users have separate
connections, so that users cannot affect each other. Under ``isolation: none`` they share one, which
reveals a server that mixes users up. A probe, with its dozens of users, always shares connections.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from harness.sessions import Introduction
from harness.types import Aside, JsonObject, ToolCall, ToolList, ToolRequest

if TYPE_CHECKING:
    from harness.sessions.calls import CallSender
    from harness.sessions.connection import Connection
    from harness.sessions.forwarding import ForeignClient


class Visit:
    """A `harness.sessions.Session` of one user over another user's connection."""

    def __init__(
        self,
        host: Connection,
        user_context: JsonObject | None,
        tools: ToolList,
        caller: CallSender,
    ) -> None:
        """Call this user's ``tools`` by ``caller``, over the connection ``host``."""
        self._host = host
        self._user_context = user_context
        self._tools = tools
        self._caller = caller

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""
        return self._tools

    @property
    def lost(self) -> str | None:
        """Why the server is gone; ``None`` while it is alive."""
        return self._host.lost

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record (see `harness.sessions.Session.call`)."""
        return await self._caller.call(request, reply=reply, epoch=epoch)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request (see `harness.sessions.Session.ask`)."""
        return await self._caller.ask(method, params)

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""
        return self._caller.introduction

    def forwarding(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages to a client (see `harness.sessions.Session.forwarding`)."""
        return self._caller.forwarding(foreign_client)

    async def watch(self) -> tuple[Aside, ...]:
        """Watch this user's session (see `harness.sessions.Session.watch`)."""
        return await self._host.watched(self._caller, self._user_context)

    def stderr_tail(self) -> str:
        """Return the last lines of the server's stderr."""
        return self._host.stderr_tail()
