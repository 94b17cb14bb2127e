"""The arguments that a check names, to find misspelt ones before any tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks import KINDS
from harness.matching.described_calls import described_calls
from harness.matching.matchers import is_matcher
from harness.matching.paths import steps
from harness.types import Check, JsonObject


def argument_names(check: Check) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield ``(tool, names of its arguments)`` for every call in a check or inside a group."""
    for one in check.walk():
        for tool, args in described_calls(one.params):
            yield tool, tuple(names_of(args))


def valid_calls(check: Check) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(tool, arguments)`` for every call in a check that is meant to be valid.

    A kind for which it need not be has an attribute ``takes_invalid`` that is true; one that
    compares otherwise than matchers do says by ``as_matcher`` what it compares with.
    """
    for one in check.walk():
        kind = KINDS.get(one.kind)
        if not getattr(kind, "takes_invalid", False) and getattr(kind, "names_tools", True):
            as_matcher = getattr(kind, "as_matcher", dict)
            for tool, args in described_calls(one.params):
                yield tool, as_matcher(args)


def names_of(args: JsonObject) -> Iterator[str]:
    """Yield the names of arguments that a pattern names."""
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
