"""What OpenAI's Responses API accepts as tools: functions, alone and in namespaces, and its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.openai_rules import (
    check_function,
    check_keys,
    check_not_empty,
    check_string,
    wrong_type,
)
from tests.fake_provider.schemas import duplicates

TOOL_FIELDS = {
    "function": (
        "name parameters",
        "strict description allowed_callers defer_loading output_schema async",
    ),
    "namespace": ("name description tools", ""),
    "custom": ("name", "description format allowed_callers defer_loading"),
    "web_search": ("", "external_web_access filters search_context_size user_location"),
    "tool_search": ("", "description execution parameters"),
}
"""Type of a tool → what it must and may say."""
IN_NAMESPACE = "."
"""What stands between a namespace and a function's name in the neutral view."""


def check_tools(tools: list[Any]) -> None:
    """Hold the tools of a request, one by one and together."""
    for number, tool in enumerate(tools):
        _check_tool(f"tools[{number}]", tool, tuple(TOOL_FIELDS))
    if twice := duplicates([tool["name"] for tool in tools if "name" in tool]):
        raise Rejected(
            f"Invalid 'tools': function names must be unique, '{twice[0]}' is not.", param="tools"
        )


def functions(tools: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield every function, by its name or by ``namespace.name``."""
    for tool in tools:
        if tool["type"] == "function":
            yield tool["name"], tool
        elif tool["type"] == "namespace":
            for name, function in functions(tool["tools"]):
                yield f"{tool['name']}{IN_NAMESPACE}{name}", function


def names(tools: list[Json]) -> list[str]:
    """Return the name of every function."""
    return [name for name, _ in functions(tools)]


def _check_tool(path: str, tool: Any, kinds: tuple[str, ...]) -> None:
    if not isinstance(tool, dict):
        raise wrong_type(path, "an object", tool)
    kind = tool.get("type")
    if kind not in kinds:
        supported = ", ".join(map(repr, kinds))
        raise Rejected(f"Invalid value: '{kind}'. Supported values are: {supported}.", param=path)
    required, optional = TOOL_FIELDS[kind]
    check_keys(path, tool, f"type {required}", optional)
    if kind == "function":
        check_function(path, tool, f"{path}.parameters")
    elif "name" in tool:
        check_string(f"{path}.name", tool["name"])
    if kind == "namespace":
        check_not_empty(f"{path}.tools", tool["tools"])
        for number, inner in enumerate(tool["tools"]):
            _check_tool(f"{path}.tools[{number}]", inner, ("function", "custom"))
        if twice := duplicates([inner["name"] for inner in tool["tools"]]):
            raise Rejected(
                f"Invalid '{path}.tools': names must be unique, '{twice[0]}' is not.", param=path
            )
