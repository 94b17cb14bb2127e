"""Findings that the user ignores, and the severity at which the command fails."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from harness.base import UsageError, did_you_mean
from harness.descriptions.linting.findings import LintFinding, load_rules
from harness.types import ToolList

EVERY_TOOL = "*"
"""Key for every tool, and for the list as a whole."""

Threshold: TypeAlias = Literal["error", "warning", "never"]
"""The lowest severity with which a finding fails the command."""

Ignored: TypeAlias = Mapping[str, Collection[str]]
"""Tool, or `EVERY_TOOL`, → the rules whose findings are ignored."""


def check_ignored(ignored: Ignored, tools: ToolList, called: str) -> None:
    """Require that ``ignored`` has only known rules and tools; errors call it ``called``.

    Raises:
        UsageError: it names an unknown rule or tool.
    """
    listed = [
        EVERY_TOOL,
        *(tool.name for tool in tools.tools),
        # Tools that cannot be used have findings, too.
        *(problem.tool for problem in tools.problems),
    ]
    for tool, rules in ignored.items():
        if tool not in listed:
            raise UsageError(
                f"{called}: the server lists no tool {tool!r}", meant=did_you_mean(tool, listed)
            )
        for rule in rules:
            if rule not in load_rules():
                near = (
                    did_you_mean(rule, load_rules()) or f"The rules are: {', '.join(load_rules())}."
                )
                raise UsageError(f"{called}: there is no rule {rule!r}", meant=near)


def drop_ignored(findings: Sequence[LintFinding], ignored: Ignored) -> tuple[LintFinding, ...]:
    """Return the findings that are not ignored."""
    everywhere = set(ignored.get(EVERY_TOOL, ()))
    return tuple(
        finding
        for finding in findings
        if finding.rule not in everywhere
        and finding.rule not in ignored.get(finding.tool or EVERY_TOOL, ())
    )


def has_finding_at(findings: Sequence[LintFinding], threshold: Threshold) -> bool:
    """Whether a finding has at least the severity ``threshold``."""
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set[str]()}[threshold]
    return any(finding.severity in failing for finding in findings)
