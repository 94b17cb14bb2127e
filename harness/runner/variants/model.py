"""A model that sees a variant of the tool list; its calls are mapped to the server's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.models import Model
from harness.runner.variants.shown_tools import ShownTools
from harness.types import NOT_LOADED, AssistantMessage, JsonObject, Message, Reply, ToolList

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
                return f"{shown.server_name(tool)}{NOT_LOADED}", arguments
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
    mapped = [(one, *names(one.tool, one.arguments)) for one in reply.tool_requests]
    requests = (replace(one, tool=tool, arguments=given) for one, tool, given in mapped)
    return replace(reply, written_call=written, tool_requests=tuple(requests))
