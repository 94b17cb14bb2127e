"""``python -m harness.leaderboards.bfcl.server PORT``: one MCP server for all cases, over HTTP.

The ``_meta`` of every request names its trial and case. A case sees only its own functions. Calls
of single-turn cases are acknowledged; those of multi-turn cases act on instances that belong to the
trial alone.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.base import HarnessError
from harness.leaderboards.bfcl.apis.execution import Instances, make_instances
from harness.leaderboards.bfcl.apis.tools import tools_at, tools_of_case
from harness.leaderboards.bfcl.checker.multi_turn import executed
from harness.leaderboards.bfcl.data import Entry, entry_of
from harness.leaderboards.bfcl.output import Call
from harness.leaderboards.bfcl.schemas import description_of, parameters_of
from harness.leaderboards.bfcl.source import data_folder
from harness.types import USER_CONTEXT_META_KEY, JsonObject, Tool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

CASE, TRIAL, TURN = "bfcl_case", "trial", "turn"
"""Keys of ``_meta``: a request's case, trial and turn."""

ACKNOWLEDGED = "The call was received."
"""The result of a call in a single-turn case; no check reads it."""

_KEPT = 2000
# Trials whose instances are kept: more than ever run at the same time.


def tools_of(entry: Entry, turn: int = 0) -> list[Tool]:
    """Return the functions of a case as tools, as they are offered from ``turn`` (0-based) on."""
    if entry.category.judging == "multi_turn":
        listed = tools_of_case(entry.question["involved_classes"], held_out(entry), data_folder())
        offered = tools_at(listed, turn)
        return [
            Tool(name=one.name, description=one.description, input_schema=one.parameters)
            for one in offered
        ]
    language = entry.category.language
    return [
        Tool(
            name=one["name"],
            description=description_of(one, language),
            input_schema=parameters_of(one, language),
        )
        for one in entry.functions
    ]


def held_out(entry: Entry) -> dict[str, list[str]]:
    """Return the functions that a case offers only later, by their first turn (from 0)."""
    held: dict[str, list[str]] = entry.question.get("missed_function", {})
    return held


@dataclass(slots=True)
class Worlds:
    """The instances of all trials that are running."""

    _of_trial: OrderedDict[tuple[str, str], Instances]

    @classmethod
    def none(cls) -> Worlds:
        """Return an empty store."""
        return cls(OrderedDict())

    def call(self, entry: Entry, trial: str, call: Call) -> str:
        """Execute a call on the instances of its trial, and return the result."""
        if entry.category.judging != "multi_turn":
            return ACKNOWLEDGED
        key = (entry.id, trial)
        if key not in self._of_trial:
            self._of_trial[key] = make_instances(
                entry.question["involved_classes"],
                entry.question["initial_config"],
                long_context=entry.category.name == "multi_turn_long_context",
                data=data_folder(),
            )
            if len(self._of_trial) > _KEPT:
                self._of_trial.popitem(last=False)
        self._of_trial.move_to_end(key)
        return executed(self._of_trial[key], call)


def make_server() -> Server[Any]:
    """Return the server; what a request can see depends only on its ``_meta``."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    worlds = Worlds.none()

    def asked(context: Any) -> tuple[Entry, int, str]:
        meta = context.meta or {}
        told: JsonObject = meta.get(USER_CONTEXT_META_KEY) or {}
        try:
            return entry_of(str(told.get(CASE))), int(told.get(TURN, 0)), str(told.get(TRIAL))
        except HarnessError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def list_tools(context: Any, _params: Any) -> types.ListToolsResult:
        entry, turn, _ = asked(context)
        tools = tools_of(entry, turn)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=one.name, description=one.description, input_schema=dict(one.input_schema)
                )
                for one in tools
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        entry, turn, trial = asked(context)
        if params.name not in {tool.name for tool in tools_of(entry, turn)}:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        text = worlds.call(entry, trial, Call(params.name, params.arguments or {}))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("bfcl", on_list_tools=list_tools, on_call_tool=call_tool)


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal comes; return 2 if the command line is wrong."""
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.stderr.write(f"{__doc__}\n")
        return 2
    import uvicorn

    app = make_server().streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(arguments[0]),
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
