"""The tool lists of public servers, as their authors describe and mark them.

`public_tools.jsonl` has a tool a line: server, name, title, the first 200 characters of the
description, names of parameters, and the two hints. Types of parameters are left out: each is
optional and a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.types import Tool, ToolList


@cache
def servers() -> Mapping[str, ToolList]:
    """Return the tool list of each server."""
    tools: dict[str, list[Tool]] = {}
    path = Path(__file__).with_name("public_tools.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        tool = Tool(
            name=given["name"],
            title=given["title"],
            description=given["description"],
            input_schema={
                "type": "object",
                "properties": {name: {"type": "string"} for name in given["parameters"]},
            },
            read_only=given["read_only"],
            destructive=given["destructive"],
        )
        tools.setdefault(given["server"], []).append(tool)
    return {server: ToolList(tools=tuple(found)) for server, found in tools.items()}


def unmarked(tools: ToolList) -> ToolList:
    """Return the same tools as a server lists them that marks none."""
    return replace(
        tools, tools=tuple(replace(tool, read_only=None, destructive=None) for tool in tools.tools)
    )


def marked_as_changing(tool: Tool) -> bool:
    """Whether its author says that it changes something."""
    return tool.read_only is False or (tool.destructive is True and not tool.read_only)
