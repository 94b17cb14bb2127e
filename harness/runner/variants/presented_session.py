"""A session under a variant, as an external client sees it: with the variant's names.

`harness.runner.variants.variant_session.VariantSession` uses the server's names, because the names
in a model's calls are mapped with its replies. A client's calls are mapped here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import VariantSession
from harness.sessions import Session, get_next_cursor
from harness.types import JsonObject, ToolCall, ToolRequest

_PAGES = 100
"""Most pages of a tool list that are read."""


class PresentedSession(VariantSession):
    """A session whose tool list and calls use the names of a variant.

    The list is read once: later changes by the server are not shown.
    """

    def __init__(self, session: Session, shown: ShownTools) -> None:
        """``shown`` is what the client sees of the session's tools."""
        super().__init__(session, shown)
        self._raw: dict[str, JsonObject] | None = None

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call with the server's names, which are recorded."""
        tool, arguments = self._shown.map_to_server(request.tool, request.arguments)
        named = replace(request, tool=tool, arguments=arguments)
        return await super().call(named, reply=reply, epoch=epoch)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request; the tool list is that of the variant."""
        if method != "tools/list":
            return await super().send_request(method, params)
        if self._raw is None:
            self._raw = await self._index_tools()
        tools = []
        for tool in self._shown.tools.tools:
            # What no variant changes, such as annotations, stays as the server wrote it.
            own = self._raw.get(self._shown.map_to_server(tool.name, {})[0], {})
            title = {} if tool.title is None else {"title": tool.title}
            facts = {"description": tool.description, "inputSchema": dict(tool.input_schema)}
            tools.append({**own, "name": tool.name, **title, **facts})
        return {"tools": tools}

    async def _index_tools(self) -> dict[str, JsonObject]:
        """Return the server's tools by name, as the server wrote them."""
        raw: dict[str, JsonObject] = {}
        cursor: str | None = None
        # A server may page for ever.
        for _ in range(_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await super().send_request("tools/list", params)
            tools = page.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
                    raw[tool["name"]] = tool
            cursor = get_next_cursor(page)
            if cursor is None:
                break
        return raw
