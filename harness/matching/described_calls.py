"""The calls that the settings of a check describe, and the plain values in their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from harness.matching.matchers import is_matcher
from harness.types import JsonObject

Scalar: TypeAlias = str | int | float
"""A value that a text can contain; booleans are none."""


def described_calls(params: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(tool, arguments)`` for every call that the settings of a check describe."""
    if "tool" in params and "args" in params:
        yield params["tool"], params["args"]
    for calls in (params.get("calls"), params.get("expected")):
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping):
                yield from described_calls(call)


def plain_values(pattern: Any) -> Iterator[Scalar]:
    """Yield every text and number in a pattern, those inside matchers too."""
    if isinstance(pattern, Mapping):
        for key, part in pattern.items():
            if not (is_matcher(pattern) and key == "$type"):
                yield from plain_values(part)
    elif isinstance(pattern, list | tuple):
        for part in pattern:
            yield from plain_values(part)
    elif isinstance(pattern, str | int | float) and not isinstance(pattern, bool):
        yield pattern
