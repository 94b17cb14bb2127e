"""The calls that the settings of a check describe, and the plain values in their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from harness.judging.matching.matchers import is_matcher
from harness.types import JsonObject

Scalar: TypeAlias = str | int | float
"""A value that a text can contain; booleans are not included."""


def described_calls(params: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(tool, arguments)`` for every call that the settings of a check describe."""
    if "tool" in params and "args" in params:
        yield params["tool"], params["args"]
    for calls in (params.get("calls"), params.get("expected")):
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping):
                yield from described_calls(call)


def find_named_tools(params: JsonObject) -> Iterator[tuple[str, bool]]:
    """Yield every tool that ``params`` name, and whether it may be absent from the server."""
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


def stated_arguments(pattern: JsonObject) -> JsonObject | None:
    """Return the arguments that a pattern fixes exactly, also under ``$equals``.

    ``None`` if a matcher leaves one of them open.
    """
    if pattern.keys() == {"$equals"} and isinstance(pattern["$equals"], Mapping):
        return dict(pattern["$equals"])
    return None if _has_matcher(pattern) else dict(pattern)


def _has_matcher(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _has_matcher(part) for key, part in value.items())
    return isinstance(value, list | tuple) and any(map(_has_matcher, value))


def plain_values(pattern: Any) -> Iterator[Scalar]:
    """Yield every text and number in a pattern, also those inside matchers."""
    if isinstance(pattern, Mapping):
        for key, part in pattern.items():
            # The name of a type is no value that could stand in a text.
            if not (is_matcher(pattern) and key == "$type"):
                yield from plain_values(part)
    elif isinstance(pattern, list | tuple):
        for part in pattern:
            yield from plain_values(part)
    elif isinstance(pattern, str | int | float) and not isinstance(pattern, bool):
        yield pattern
