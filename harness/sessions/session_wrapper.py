"""A session around another one: the base of those that change only a part of it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from harness.sessions.forwarding import ForeignClient
from harness.sessions.session import Introduction, Session
from harness.types import JsonObject, SideContent, ToolCall, ToolList, ToolRequest


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
