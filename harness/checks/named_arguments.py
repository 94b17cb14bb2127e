"""The arguments that a check names, to find misspelt ones before any tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.matching.matchers import is_matcher
from harness.matching.paths import steps
from harness.types import Check, JsonObject


def argument_names(check: Check) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield ``(tool, names of its arguments)`` for every call in a check or inside a group."""
    for one in check.walk():
        yield from _described(one.params)


def _described(params: JsonObject) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "tool" in params and "args" in params:
        yield params["tool"], tuple(_names(params["args"]))
    for calls in (params.get("calls"), params.get("expected")):
        for call in calls if isinstance(calls, list | tuple) else ():
            yield from _described(call)


def _names(args: JsonObject) -> Iterator[str]:
    if not is_matcher(args):
        yield from args
        return
    for operator in ("$equals", "$contains"):
        if isinstance(args.get(operator), dict):
            yield from args[operator]
    for path in args.get("$path", ()):
        first = next(iter(steps(path)), None)
        if isinstance(first, str):
            yield first
