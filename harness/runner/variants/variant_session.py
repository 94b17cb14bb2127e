"""A session under a variant: harness itself answers searches and calls of hidden tools."""

from __future__ import annotations

from harness.runner.variants.shown_tools import ShownTools
from harness.sessions import Session, SessionWrapper, build_unanswered_call
from harness.types import (
    NOT_LOADED,
    NOT_SHOWN,
    SEARCH,
    ToolCall,
    ToolList,
    ToolRequest,
)

DECOY_ANSWER = "This tool is not available at the moment."
"""The result that a model gets for a call of a decoy."""


class VariantSession(SessionWrapper):
    """A session that offers only the tools that a variant shows, under the server's names."""

    def __init__(self, session: Session, shown: ShownTools) -> None:
        """``shown`` is what the model sees of the session's tools."""
        super().__init__(session)
        self._shown = shown

    @property
    def tools(self) -> ToolList:
        """The server's tools that the model sees, as the server describes them."""
        return self._shown.offered

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call; answer it here if it is a search or calls a decoy or a hidden tool."""
        if request.search and self._shown.search is not None:
            words = self._shown.search.search(request.arguments)
            return build_unanswered_call(request, SEARCH, words, reply=reply, epoch=epoch)
        if request.tool.endswith(NOT_LOADED):
            called, _ = self._shown.map_to_model(request.tool, {})
            words = f"Unknown tool: {called}. Tools can be called once a search has found them."
            return build_unanswered_call(request, "not_loaded", words, reply=reply, epoch=epoch)
        if request.tool in self._shown.decoys:
            return build_unanswered_call(request, "decoy", DECOY_ANSWER, reply=reply, epoch=epoch)
        if request.tool.endswith(NOT_SHOWN):
            words = f"Unknown tool: {request.tool.removesuffix(NOT_SHOWN)}"
            return build_unanswered_call(request, "unknown_tool", words, reply=reply, epoch=epoch)
        return await self._session.call(request, reply=reply, epoch=epoch)
