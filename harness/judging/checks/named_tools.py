"""The tools that a check names, to find misspelt ones before any tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.judging.checks import KINDS
from harness.types import Check, JsonObject, NamedTool


def tool_names(check: Check) -> Iterator[NamedTool]:
    """Yield every tool that ``check`` names, including those inside groups, with its place.

    A kind whose params name no tools of the server has an attribute ``names_tools`` that is false.
    """
    for one in check.walk():
        if getattr(KINDS.get(one.kind), "names_tools", True):
            for tool, allow_absent in _find_named(one.params):
                yield NamedTool(tool=tool, at=check.at, allow_absent=allow_absent)


def _find_named(params: JsonObject) -> Iterator[tuple[str, bool]]:
    source = params.get("source", {})
    if (
        isinstance(source, Mapping) and "tool" in source
    ):  # `allow_absent` stands beside it in the suite
        yield from _read_tool(
            {"tool": source["tool"], "allow_absent": params.get("allow_absent", False)}
        )
    yield from _read_tool(params)
    for key in ("calls", "expected", "same_state_as"):
        calls = params.get(key)
        for call in calls if isinstance(calls, list | tuple) else ():
            yield from _read_tool(call)


def _read_tool(named: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(named, Mapping) and isinstance(named.get("tool"), str):
        yield named["tool"], named.get("allow_absent") is True
