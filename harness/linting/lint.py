"""All rules over one tool list."""

from __future__ import annotations

from harness.linting.confusable import check_confusable
from harness.linting.descriptions import check_descriptions
from harness.linting.findings import RULES, LintFinding
from harness.linting.listing import check_listing
from harness.linting.parameters import check_parameters
from harness.types import ToolList


def lint(tools: ToolList) -> tuple[LintFinding, ...]:
    """Return everything that was found: of the list as a whole first, then tool by tool in the server's order."""
    order = {tool.name: place for place, tool in enumerate(tools.tools)}
    ranks = {rule: place for place, rule in enumerate(RULES)}
    found = dict.fromkeys(
        [
            *check_listing(tools),
            *check_descriptions(tools),
            *check_confusable(tools),
            *check_parameters(tools),
        ]
    )
    return tuple(
        sorted(
            found,
            key=lambda one: (
                -1 if one.tool is None else order.get(one.tool, len(order)),
                ranks[one.rule],
            ),
        )
    )
