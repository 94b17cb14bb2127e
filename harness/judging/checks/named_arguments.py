"""The calls that a check describes, to find those that no tool takes before tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judging.checks.kind import WantedCall
from harness.judging.checks.registry import get_kind
from harness.types import Check


def valid_calls(check: Check) -> Iterator[WantedCall]:
    """Yield every call in a check, as far as it must be valid by the schema of its tool."""
    for member in check.walk():
        yield from get_kind(member).valid_calls(member.params)
