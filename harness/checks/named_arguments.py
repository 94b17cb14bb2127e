"""The arguments that a check names, to find misspelt ones before any tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.matching.described_calls import described_calls
from harness.matching.matchers import is_matcher
from harness.matching.paths import steps
from harness.types import Check, JsonObject


def argument_names(check: Check) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield ``(tool, names of its arguments)`` for every call in a check or inside a group."""
    for one in check.walk():
        for tool, args in described_calls(one.params):
            yield tool, tuple(_names(args))


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
