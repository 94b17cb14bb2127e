"""The page on ``harness lint`` says what is true."""

from __future__ import annotations

import re
from pathlib import Path

from harness.descriptions.linting.findings import load_rules
from harness.descriptions.linting.rules.listing import LARGE_LIST, LARGE_TOOL, MOST_TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_table_holds_every_rule_with_its_severity() -> None:
    rows = re.findall(r"^\| (error|warning|note) \| [^|]+ \| (.*) \|$", PAGE, re.MULTILINE)
    shown = {
        rule: severity for severity, rules in rows for rule in re.findall(r"`([\w-]+)`", rules)
    }
    assert shown == {name: rule.severity for name, rule in load_rules().items()}


def test_the_bounds_are_those_that_are_used() -> None:
    for bound in (
        f"about {LARGE_TOOL:,} tokens",
        f"about {LARGE_LIST:,} tokens",
        f"more than {MOST_TOOLS} tools",
    ):
        assert bound in PAGE
