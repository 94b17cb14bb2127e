"""Sessions with the newsroom in the process of the probe, which take a fraction of the time.

The requests and answers are those that the server would send; transports, tokens and processes are
left out. ``isolation: case`` gets a newsroom of its own, and so does whoever comes after idle
processes were ended.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.lowlevel

from harness.base import RequestRefused
from harness.sessions.call_outcome import classify_error
from harness.sessions.result_content import render_result
from harness.sessions.session import Introduction
from harness.sessions.tool_list import list_tools
from harness.types import (
    Credential,
    JsonObject,
    ServerSpec,
    SideContent,
    ToolCall,
    ToolList,
    ToolRequest,
)
from tests.proofs.gazette.newsroom import Newsroom
from tests.proofs.gazette.policy import Denied
from tests.proofs.gazette.server import PROMPTS, RESOURCES, TEMPLATES, answer, read
from tests.proofs.gazette.tools import TOOLS

_REFUSED = -32003


class MemorySession:
    """One user's session."""

    introduction = Introduction(
        name="gazette",
        capabilities={"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
    )
    loss_reason = None

    def __init__(self, newsroom: Newsroom, user: JsonObject | None, tools: ToolList) -> None:
        """Serve ``user`` in ``newsroom``."""
        self._newsroom, self.tools = newsroom, tools
        self._caller = newsroom.identify(user or {}, {})

    async def listen_for_changes(self) -> None:
        """Hear of nothing: the list stays."""

    async def refresh_tools(self) -> ToolList:
        """Return the list, which stays."""
        return self.tools

    async def watch(self) -> tuple[SideContent, ...]:
        """Return nothing: the newsroom says nothing beside its answers."""
        return ()

    def stderr_tail(self) -> str:
        """Return nothing."""
        return ""

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Return the record of a call."""
        given = answer(self._newsroom, self._caller, request.tool, request.arguments)
        result = given.model_dump(mode="json", by_alias=True, exclude_none=True)
        content = render_result(result)
        outcome: Any = "ok"
        if given.is_error:
            outcome = classify_error(content.text, tool=request.tool, listed=True)
        return ToolCall(
            tool=request.tool,
            arguments=request.arguments,
            outcome=outcome,
            text=content.text,
            structured=content.structured,
            refusal="tool_error" if outcome == "denied" else None,
            reply=reply,
        )

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Return the answer to any other request.

        Raises:
            RequestRefused: the newsroom refuses it.
        """
        firm, caller = self._newsroom, self._caller
        try:
            if method == "resources/list":
                return {"resources": [{"name": "stylebook", "uri": uri} for uri in RESOURCES]}
            if method == "resources/templates/list":
                return {
                    "resourceTemplates": [{"name": uri, "uriTemplate": uri} for uri in TEMPLATES]
                }
            if method == "prompts/list":
                return {
                    "prompts": [
                        {"name": name, "arguments": [{"name": one} for one in names]}
                        for name, names in PROMPTS.items()
                    ]
                }
            if method == "resources/read":
                uri = str(params["uri"])
                text = read(firm, caller, uri.removeprefix("gazette://"))
                return {"contents": [{"uri": uri, "text": text}]}
            if method == "prompts/get":
                said = firm.headline(caller, str(params["arguments"].get("story_id", "")))
                return {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]}
            values = firm.completions(caller, str(params["argument"]["value"]))
        except Denied as denied:
            said = str(denied)
            raise RequestRefused(said, code=_REFUSED, said=said, data=None) from denied
        return {"completion": {"values": values[:100]}}


class MemoryPool:
    """Lends sessions of newsrooms that ``make`` opens."""

    def __init__(self, make: Callable[[], Newsroom], tools: ToolList) -> None:
        """Open a newsroom when the first session is lent."""
        self._make, self._tools = make, tools
        self._shared: Newsroom | None = None

    @asynccontextmanager
    async def lend_session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AsyncGenerator[MemorySession]:
        """Lend a session, in the shared newsroom or one of its own."""
        await anyio.lowlevel.checkpoint()
        if server.isolation == "case":
            yield MemorySession(self._make(), user_context, self._tools)
            return
        if self._shared is None:
            self._shared = self._make()
        yield MemorySession(self._shared, user_context, self._tools)

    async def end_idle(self) -> None:
        """Forget the shared newsroom."""
        self._shared = None

    def has_sent_token(self, _text: str) -> bool:
        """Return whether a token was sent: there is none."""
        return False


@asynccontextmanager
async def open_memory(make: Callable[[], Newsroom]) -> AsyncGenerator[MemoryPool]:
    """Yield a pool of newsrooms in memory."""

    async def request(_method: str, _params: JsonObject) -> dict[str, Any]:
        tools = [
            one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in TOOLS.values()
        ]
        return {"tools": tools}

    yield MemoryPool(make, await list_tools(request))
