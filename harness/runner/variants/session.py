"""A session under a variant: harness itself answers searches and calls of hidden tools."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from harness.runner.variants.shown import ShownTools
from harness.sessions import ForeignClient, Introduction, Session, without_answer
from harness.types import (
    NOT_LOADED,
    NOT_SHOWN,
    SEARCH,
    Aside,
    JsonObject,
    ToolCall,
    ToolList,
    ToolRequest,
)

DECOY_ANSWER = "This tool is not available at the moment."
"""The result that a model gets for a call of a decoy."""


class VariantSession:
    """A session that offers only the tools that a variant shows, under the server's names."""

    def __init__(self, session: Session, shown: ShownTools) -> None:
        """``shown`` is what the model sees of the session's tools."""
        self._session = session
        self._shown = shown

    @property
    def tools(self) -> ToolList:
        """The server's tools that the model sees, as the server describes them."""
        return self._shown.offered

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call; answer it here if it is a search or calls a decoy or a hidden tool."""
        if request.search and self._shown.search is not None:
            words = self._shown.search.answer(request.arguments)
            return without_answer(request, SEARCH, words, reply=reply, epoch=epoch)
        if request.tool.endswith(NOT_LOADED):
            called, _ = self._shown.outward(request.tool, {})
            words = f"Unknown tool: {called}. Tools can be called once a search has found them."
            return without_answer(request, "not_loaded", words, reply=reply, epoch=epoch)
        if request.tool in self._shown.decoys:
            return without_answer(request, "decoy", DECOY_ANSWER, reply=reply, epoch=epoch)
        if request.tool.endswith(NOT_SHOWN):
            words = f"Unknown tool: {request.tool.removesuffix(NOT_SHOWN)}"
            return without_answer(request, "unknown_tool", words, reply=reply, epoch=epoch)
        return await self._session.call(request, reply=reply, epoch=epoch)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request: as `Session.ask`."""
        return await self._session.ask(method, params)

    @property
    def introduction(self) -> Introduction:
        """The server's introduction: as `Session.introduction`."""
        return self._session.introduction

    def forwarding(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Pass messages on to a client: as `Session.forwarding`."""
        return self._session.forwarding(foreign_client)

    async def watch(self) -> tuple[Aside, ...]:
        """Watch the session: as `Session.watch`."""
        return await self._session.watch()

    @property
    def lost(self) -> str | None:
        """Why the server is lost: as `Session.lost`."""
        return self._session.lost

    def stderr_tail(self) -> str:
        """Return the last lines of the server's stderr: as `Session.stderr_tail`."""
        return self._session.stderr_tail()
