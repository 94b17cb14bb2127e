"""A session under a variant for a client that we do not run: it lists and calls shown names itself.

A model's calls are mapped back by `harness.variants.model`; an agent that others wrote sends them
over MCP, so that the list and the calls are translated here.
"""

from __future__ import annotations

from dataclasses import replace

from harness.sessions import Session
from harness.types import JsonObject, Tool, ToolCall, ToolRequest
from harness.variants.session import VariantSession
from harness.variants.shown import ShownTools


class ProxiedVariantSession(VariantSession):
    """A session that lists the tools of a variant, and takes calls under the names it shows."""

    def __init__(self, session: Session, shown: ShownTools) -> None:
        """``shown`` is what the client sees of the session's tools."""
        super().__init__(session, shown)
        self._listed = [_listed(tool) for tool in shown.tools.tools]

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call under the server's names."""
        tool, arguments = self._shown.inward(request.tool, request.arguments)
        own = replace(request, tool=tool, arguments=arguments)
        return await super().call(own, reply=reply, epoch=epoch)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request; the list of tools is the variant's."""
        if method == "tools/list":
            return {"tools": self._listed}
        return await super().ask(method, params)


def _listed(tool: Tool) -> JsonObject:
    """Return ``tool`` as MCP writes it."""
    hints = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    parts = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {key: hint for key, hint in hints.items() if hint is not None} or None,
    }
    return {key: part for key, part in parts.items() if part is not None}
