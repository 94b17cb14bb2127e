"""Names by which readers of reports tell cases apart: no two cases of a report share one.

A name says suite and entrant where a report has several, and never changes with what else a run
holds. Where a format cannot show a name as it is, or where it could be read in two ways, a digest
of the true one follows: ``shop::mail ~5f2b01c9``.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.base import KNOWN, digest_json, make_one_line, shorten_middle
from harness.types import CaseResult, Report

_DIGITS = 8
"""Digits of a digest that follows a name."""


def case_name(case: CaseResult, report: Report, limit: int | None = None) -> str:
    """Return the case's name with as much of suite and entrant as is needed to tell it apart.

    A name of more than ``limit`` characters is cut.
    """
    return build_case_name(case.suite, case.case, case.entrant, report, limit)


def build_case_name(
    suite: str, case: str, entrant: str, report: Report, limit: int | None = None
) -> str:
    """Return what `case_name` returns for the case of that ``suite`` and ``entrant``."""
    lead = f"{suite}::" if len(report.suites) > 1 else ""
    end = _entrant_end(entrant, report)
    # "a" + "::" + "b::c" and "a::b" + "::" + "c" are one text.
    is_clear = _is_clear(entrant, report) and (not lead or lead.index("::") == len(suite))
    return _make_distinct(
        f"{lead}{case}{end}", make_one_line, (suite, case, entrant), is_clear=is_clear, limit=limit
    )


def name_within_suite(case: CaseResult, report: Report, show: Callable[[str], str]) -> str:
    """Return the case's name for a format that shows its suite beside it, both by ``show``."""
    is_clear = _is_clear(case.entrant, report) and show(case.suite) == case.suite
    name = f"{case.case}{_entrant_end(case.entrant, report)}"
    return _make_distinct(
        name, show, (case.suite, case.case, case.entrant), is_clear=is_clear, limit=None
    )


def part_name(part: str, limit: int = 300) -> str:
    """Return the name of a suite, case, entrant or identity for a page that matches it alone."""
    return _make_distinct(part, make_one_line, (part,), is_clear=True, limit=limit)


def _entrant_end(entrant: str, report: Report) -> str:
    return f" [{entrant}]" if len(report.entrants) > 1 else ""


def _is_clear(entrant: str, report: Report) -> bool:
    """Return whether the last bracket of a name is surely that before its entrant."""
    return len(report.entrants) < 2 or " [" not in entrant  # noqa: PLR2004 - several


def _make_distinct(
    name: str,
    show: Callable[[str], str],
    parts: tuple[str, ...],
    *,
    is_clear: bool,
    limit: int | None,
) -> str:
    """Return ``name`` as ``show`` shows it, followed by a digest unless it is unmistakable."""
    shown = show(name)
    if limit is not None and len(shown) > limit:
        shown, is_clear = shorten_middle(shown, limit - _DIGITS - 2), False
    if is_clear and shown == name:
        return shown
    # Of the redacted parts, because a digest of a short secret would give it away.
    return f"{shown} ~{digest_json([KNOWN.redact_text(part) for part in parts])[:_DIGITS]}"
