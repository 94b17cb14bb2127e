"""The calls that a check describes, to find those that no tool takes before tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judging.checks import KINDS
from harness.judging.checks.witness.patterns import ANY, find_names
from harness.judging.matching.described_calls import described_calls
from harness.types import Check, JsonObject


def valid_calls(check: Check) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(tool, arguments)`` for every call in a check, as far as it is meant to be valid.

    Of a kind with an attribute ``takes_invalid`` that is true, only the names must be; one that
    compares otherwise than matchers do says by ``as_matcher`` what it compares with.
    """
    for one in check.walk():
        kind = KINDS.get(one.kind)
        as_matcher = getattr(kind, "as_matcher", dict)
        for tool, args in described_calls(one.params):
            if getattr(kind, "takes_invalid", False):
                yield tool, dict.fromkeys(find_names(args), ANY)
            elif getattr(kind, "names_tools", True):
                yield tool, as_matcher(args)
