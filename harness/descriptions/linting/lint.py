"""Applies all rules to one tool list."""

from __future__ import annotations

from harness.descriptions.linting.findings import FAMILIES, LintFinding, Severity
from harness.types import ToolList

_GRAVITY: tuple[Severity, ...] = ("error", "warning", "note")


def lint_tools(tools: ToolList) -> tuple[LintFinding, ...]:
    """Return all findings: first of the list as a whole, then tool by tool in the server's order.

    For one tool, the most severe findings come first.

    Raises:
        UsageError: another package's rules cannot be imported.
    """
    order = {tool.name: place for place, tool in enumerate(tools.tools)}
    families = [FAMILIES.get(name) for name in FAMILIES.list_names()]
    found = dict.fromkeys(finding for family in families for finding in family.check(tools))

    def sort_key(one: LintFinding) -> tuple[int, int]:
        of_tool = -1 if one.tool is None else order.get(one.tool, len(order))
        return of_tool, _GRAVITY.index(one.severity)

    # Sorting is stable: findings of equal rank keep the order of the rules.
    return tuple(sorted(found, key=sort_key))
