"""A session under a variant, as an external client sees it: with the variant's names.

`harness.runner.variants.variant_session.VariantSession` uses the server's names, because the names
in a model's calls are mapped with its replies. A client's calls are mapped here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import VariantSession
from harness.sessions import Session, get_next_cursor
from harness.types import JsonObject, Tool, ToolCall, ToolRequest

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
        return {"tools": list(self._rewrite_tools(self._raw))}

    async def _index_tools(self) -> dict[str, JsonObject]:
        """Return the server's tools by name, as the server wrote them."""
        raw: dict[str, JsonObject] = {}
        params: JsonObject = {}
        # A server may page for ever.
        for _ in range(_PAGES):
            page = await super().send_request("tools/list", params)
            tools = page.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
                    raw[tool["name"]] = tool
            cursor = get_next_cursor(page)
            if cursor is None:
                break
            params = {"cursor": cursor}
        return raw

    def _rewrite_tools(self, raw: Mapping[str, JsonObject]) -> Iterator[JsonObject]:
        for tool in self._shown.tools.tools:
            own = raw.get(self._shown.map_to_server(tool.name, {})[0], {})
            # What no variant changes, such as annotations, stays as the server wrote it.
            yield {**own, **_list_facts(tool)}


def _list_facts(tool: Tool) -> dict[str, Any]:
    named = {} if tool.title is None else {"title": tool.title}
    return {
        "name": tool.name,
        **named,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
    }
