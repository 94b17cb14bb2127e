# harness/descriptions/linting/rules/shouting.py
"""Rules on capitals."""

from __future__ import annotations

from collections.abc import Iterator

from harness.descriptions.linting.findings import Family, LintFinding, Rule
from harness.types import ToolList


def check_shouting(tools: ToolList) -> Iterator[LintFinding]:
    """Yield the tools whose descriptions are all in capitals."""
    for tool in tools.tools:
        if tool.description.isupper():
            yield LintFinding(
                rule="shouting",
                tool=tool.name,
                message="Its description is all in capitals.",
            )


FAMILY = Family(
    check=check_shouting,
    rules={
        "shouting": Rule(
            severity="note",
            why="Capitals cost more tokens.",
            instead="Write it as a sentence.",
        )
    },
)
"""The rules on capitals."""
