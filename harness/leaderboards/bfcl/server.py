"""``python -m harness.leaderboards.bfcl.server PORT``: one MCP server for all cases, over HTTP.

The ``_meta`` of every request names its trial and case. A case sees only its own functions. Calls
of single-turn cases are acknowledged; those of multi-turn cases act on instances that belong to the
trial alone.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base import HarnessError
from harness.leaderboards.bfcl.apis.common import filter_by_turn, list_case_tools, list_class_tools
from harness.leaderboards.bfcl.apis.execution import Instances, make_instances
from harness.leaderboards.bfcl.checker.multi_turn import execute_model_call
from harness.leaderboards.bfcl.data import BfclEntry, data_folder, find_entry
from harness.leaderboards.bfcl.functions import build_tool
from harness.leaderboards.bfcl.transcript_steps import OutputCall
from harness.types import USER_CONTEXT_META_KEY, JsonObject, Tool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

CASE, TRIAL, TURN = "bfcl_case", "trial", "turn"
"""Keys of ``_meta``: a request's case, trial and turn."""

ACKNOWLEDGED = "The call was received."
"""The result of a call in a single-turn case; no check reads it."""

_KEPT = 2000
# Trials whose instances are kept: more than ever run at the same time.


def list_tools_at(entry: BfclEntry, turn: int = 0) -> list[Tool]:
    """Return the functions of a case as tools, as they are offered from ``turn`` (0-based) on."""
    if entry.category.judging == "multi_turn":
        classes, held = entry.question["involved_classes"], list_held_back(entry)
        offered = filter_by_turn(list_case_tools(classes, held, data_folder()), turn)
        return [
            Tool(name=one.name, description=one.description, input_schema=one.parameters)
            for one in offered
        ]
    return [build_tool(function, entry.category.language) for function in entry.functions]


def measure_tools(entry: BfclEntry) -> int:
    """Return the number of characters of all functions of a case; 0 if it offers none."""
    if entry.category.judging == "multi_turn":
        # Those of a class are the same in each case that has it.
        return sum(
            _measure_class(name, data_folder()) for name in entry.question["involved_classes"]
        )
    return sum(map(_measure_tool, list_tools_at(entry)))


@cache
def _measure_class(name: str, folder: Path) -> int:
    return sum(
        len(json.dumps([tool.name, tool.description, tool.parameters]))
        for tool in list_class_tools(name, folder)
    )


def _measure_tool(tool: Tool) -> int:
    return len(json.dumps([tool.name, tool.description, tool.input_schema]))


def list_held_back(entry: BfclEntry) -> dict[str, list[str]]:
    """Return the functions that a case offers only later, by their first turn (from 0)."""
    held: dict[str, list[str]] = entry.question.get("missed_function", {})
    return held


@dataclass(slots=True)
class TrialInstances:
    """The instances of all trials that are running."""

    _of_trial: OrderedDict[tuple[str, str], Instances] = field(default_factory=OrderedDict)

    def execute_call(self, entry: BfclEntry, trial: str, call: OutputCall) -> str:
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
        return execute_model_call(self._of_trial[key], call)


def make_server() -> Server[Any]:
    """Return the server; what a request can see depends only on its ``_meta``."""
    # Loaded late, since suites use this module without starting a server.
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    worlds = TrialInstances()

    def read_request(context: Any) -> tuple[BfclEntry, int, str]:
        meta = context.meta or {}
        told: JsonObject = meta.get(USER_CONTEXT_META_KEY) or {}
        try:
            return find_entry(str(told.get(CASE))), int(told.get(TURN, 0)), str(told.get(TRIAL))
        except HarnessError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def list_tools(context: Any, _params: Any) -> types.ListToolsResult:
        entry, turn, _ = read_request(context)
        tools = [
            types.Tool(
                name=one.name, description=one.description, input_schema=dict(one.input_schema)
            )
            for one in list_tools_at(entry, turn)
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        entry, turn, trial = read_request(context)
        # A function that is held back must not work before its turn.
        if params.name not in {tool.name for tool in list_tools_at(entry, turn)}:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        text = worlds.execute_call(entry, trial, OutputCall(params.name, params.arguments or {}))
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
        # A client's open connection must not delay the end.
        timeout_graceful_shutdown=1,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
