"""A model and a session under a variant: calls are mapped between its names and the server's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from harness.models import Model
from harness.runner.variants.host_resources import call_host_tool
from harness.runner.variants.shown_tools import ShownTools
from harness.sessions import (
    ForwardedRequest,
    Introduction,
    Session,
    SessionWrapper,
    build_unanswered_call,
    get_next_cursor,
)
from harness.types import (
    NOT_LOADED,
    NOT_SHOWN,
    REWORDED,
    SEARCH,
    AssistantMessage,
    Injection,
    JsonObject,
    Message,
    Outcome,
    Reply,
    ToolCall,
    ToolList,
    ToolRequest,
)

DECOY_ANSWER = "This tool is not available at the moment."
"""The result that a model gets for a call of a decoy."""


class VariantSession(SessionWrapper):
    """A session that offers only the tools that a variant shows, under the server's names."""

    def __init__(
        self,
        session: Session,
        shown: ShownTools,
        show: Callable[[Session], ShownTools] | None = None,
    ) -> None:
        """``shown`` is what the model sees of the session's tools; ``show`` applies it to others.

        Without ``show``, changes of the list are not shown.
        """
        super().__init__(session)
        self._shown = shown
        self._show = show
        self._source = session.tools

    async def refresh_tools(self) -> ToolList:
        """Return the server's tools that the model sees now."""
        if self._show is not None and (now := await super().refresh_tools()) is not self._source:
            self._source = now
            self._shown = self._show(self._session)
        return self._shown.offered

    @property
    def tools(self) -> ToolList:
        """The server's tools that the model sees, as the server describes them."""
        return self._shown.offered

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call, unless it is answered here: a search, or one that is not to be sent."""
        if self._shown.is_host_tool(request.tool):
            return await call_host_tool(self._session, request, reply=reply, epoch=epoch)
        if (unsent := self._answer_here(request)) is not None:
            return build_unanswered_call(request, *unsent, reply=reply, epoch=epoch)
        if isinstance(request, ForwardedRequest) and self._shown.rewords_errors(request.tool):
            return await self._forward_reworded(request, reply, epoch)
        return self._reword_call(await self._session.call(request, reply=reply, epoch=epoch))

    def _answer_here(self, request: ToolRequest) -> tuple[Outcome, str] | None:
        """Return outcome and text of a call that is not sent; ``None`` if it is."""
        if request.search and self._shown.search is not None:
            return SEARCH, self._shown.search.search(request.arguments)
        if request.tool.endswith(NOT_LOADED):
            words = f"Unknown tool: {self._shown.map_to_model(request.tool, {})[0]}."
            if self._shown.search is not None:
                words += " Tools can be called once a search has found them."
            return "not_loaded", words
        if request.tool in self._shown.decoys:
            return "decoy", DECOY_ANSWER
        if request.tool in self._shown.variant.block:
            words = f"Tool {request.tool} is blocked: harness did not send this call."
            return "blocked", words
        if request.tool.endswith(NOT_SHOWN):
            return "unknown_tool", f"Unknown tool: {request.tool.removesuffix(NOT_SHOWN)}"
        return None

    async def _forward_reworded(
        self, request: ForwardedRequest, reply: int, epoch: float
    ) -> ToolCall:
        """Send one call of a foreign client, which gets an error in the variant's words."""
        # Held until it is known how the call ended: a refusal stays what it is.
        held: list[Callable[[], None]] = []
        sent = replace(
            request,
            answered=lambda result: held.append(partial(request.answered, result)),
            refused=lambda *parts: held.append(partial(request.refused, *parts)),
        )
        made = self._reword_call(await self._session.call(sent, reply=reply, epoch=epoch))
        shown = made.injected
        if shown is None or shown.fault != REWORDED:
            for forward in held:
                forward()
        elif made.error_code is None:
            request.answered(shown.as_result)
        else:
            request.refused(made.error_code, shown.text, None)
        return made

    def _reword_call(self, made: ToolCall) -> ToolCall:
        """Return a call with the error text that the variant shows in place of the server's."""
        words = self._shown.reword_error(made.tool, made.text)
        if made.outcome not in _WORDED or made.injected is not None or words is None:
            return made
        rule = f"variant {self._shown.variant.name}"
        shown = Injection(fault=REWORDED, rule=rule, text=words, is_error=True)
        return replace(made, injected=shown)


_WORDED: frozenset[Outcome] = frozenset({"tool_error", "invalid_arguments", "unknown_tool"})
"""Outcomes whose text the server wrote for the model. A refusal stays what it is."""

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

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself, with the instructions of the variant."""
        said = super().introduction
        if self._shown.variant.instructions is None:
            return said
        shown = "\n\n".join(self._shown.offered.instructions.values())
        return replace(said, instructions=shown or None)

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


_Names = Callable[[str, JsonObject], tuple[str, JsonObject]]


class VariantModel:
    """A model in one trial that sees a variant of the server's tools."""

    def __init__(self, model: Model, shown: Sequence[ShownTools]) -> None:
        """``shown`` has each tool list of the trial as the model sees it.

        There are several if the server's list changes during the trial.
        """
        self._model = model
        self._shown = shown

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply, its calls in the server's names.

        Raises:
            ModelError: there is no usable reply.
        """
        shown = next(one for one in self._shown if one.offered is tools)
        said = [
            replace(message, reply=_map_reply(message.reply, shown.map_to_model))
            if isinstance(message, AssistantMessage)
            else message
            for message in conversation
        ]
        if shown.search is None:
            reply = await self._model.answer(said, shown.tools, system)
            return _map_reply(reply, shown.map_to_server)
        offered = shown.search.list_offered(shown.search.find_loaded(said))

        def map_if_loaded(tool: str, arguments: JsonObject) -> tuple[str, JsonObject]:
            if offered.get(tool) is None and shown.tools.get(tool) is not None:
                # By this name the call can neither reach the server nor count as one of the tool.
                return shown.map_to_server(f"{tool}{NOT_LOADED}", arguments)
            return shown.map_to_server(tool, arguments)

        mapped = _map_reply(await self._model.answer(said, offered, system), map_if_loaded)
        return replace(
            mapped,
            offered=tuple(shown.server_name(tool.name) for tool in offered.tools),
            tool_requests=tuple(
                replace(request, search=shown.is_search(request.tool))
                for request in mapped.tool_requests
            ),
        )

    async def aclose(self) -> None:
        """Do nothing: the model belongs to its opener."""


def _map_reply(reply: Reply, names: _Names) -> Reply:
    """Return ``reply`` with the tool and parameters of each request mapped by ``names``."""
    # A call that was only written as text is reported by the server's name as well.
    written = reply.written_call and names(reply.written_call, {})[0]
    offered = reply.offered and tuple(names(one, {})[0] for one in reply.offered)
    mapped = [(one, *names(one.tool, one.arguments)) for one in reply.tool_requests]
    requests = (replace(one, tool=tool, arguments=given) for one, tool, given in mapped)
    return replace(reply, written_call=written, offered=offered, tool_requests=tuple(requests))
