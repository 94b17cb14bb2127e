"""Another user's session over a connection that is open: what every request says, no process has to know before.

Only for identity by ``meta``, where each request carries its user. Trials have connections of their
own, so that nothing of one user can be in the way of another; a probe asks as dozens of users, and
wants to know just that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.types import JsonObject, ToolCall, ToolList, ToolRequest

if TYPE_CHECKING:
    from harness.sessions.calls import CallSender
    from harness.sessions.connection import Connection


class Visit:
    """A `harness.sessions.Session` of one user over somebody else's connection."""

    def __init__(self, host: Connection, tools: ToolList, caller: CallSender) -> None:
        """Call the ``tools`` that this user sees by ``caller``, which speaks over ``host``."""
        self._host = host
        self._tools = tools
        self._caller = caller

    @property
    def tools(self) -> ToolList:
        """What this user sees."""
        return self._tools

    @property
    def lost(self) -> str | None:
        """Why the server is gone, once it is."""
        return self._host.lost

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record (see `harness.sessions.Session.call`)."""
        return await self._caller.call(request, reply=reply, epoch=epoch)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request (see `harness.sessions.Session.ask`)."""
        return await self._caller.ask(method, params)

    def stderr_tail(self) -> str:
        """Return the last lines that the server wrote on stderr."""
        return self._host.stderr_tail()
