"""Writes the table of evidence of ``docs/lint.md``.

Run ``python -m tests.descriptions.linting.write_docs``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.descriptions.linting.findings import LintEvidence, Rule, load_rules

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"
_MARKED = re.compile(
    r"(?P<begin><!-- evidence -->\n).*?(?P<end><!-- end of evidence -->)", re.DOTALL
)


def written(page: str, known: Mapping[str, Rule]) -> str:
    """Return ``page`` with the table of evidence between its markers."""
    return _MARKED.sub(lambda marked: marked["begin"] + _table(known) + marked["end"], page)


def _table(known: Mapping[str, Rule]) -> str:
    groups: dict[LintEvidence, list[str]] = {}
    for name, rule in sorted(known.items()):
        groups.setdefault(rule.evidence, []).append(f"`{name}`")
    order = sorted(groups, key=lambda one: ("measured", "reported", "opinion").index(one.kind))
    head = "\n| rules | evidence | effect | source |\n|---|---|---|---|\n"
    return head + "".join(f"{_row(groups[one], one)}\n" for one in order) + "\n"


def _row(names: list[str], evidence: LintEvidence) -> str:
    figures = "; ".join(
        f"{one.points:+.1f} points"
        + (f" [{one.interval[0]:+.1f}, {one.interval[1]:+.1f}]" if one.interval else "")
        + f" ({one.of})"
        for one in evidence.measurements
    )
    effect = ": ".join(filter(None, (evidence.effect, figures))) or "–"
    return f"| {', '.join(names)} | {evidence.kind} | {effect} | {evidence.source or '–'} |"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), load_rules()), "utf-8")
