"""The tools that a check names, to find misspelt ones before any tokens are spent."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judging.checks.registry import get_kind
from harness.types import Check, NamedTool


def tool_names(check: Check) -> Iterator[NamedTool]:
    """Yield every tool that ``check`` names, including those inside groups, with its place."""
    for member in check.walk():
        for tool, allow_absent in get_kind(member).named_tools(member.params):
            yield NamedTool(tool=tool, at=check.at, allow_absent=allow_absent)
