"""Tables of verdicts: tests by identities, and cases by models.

The first is also told as JSON, in words that all reports share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.base import make_one_line, shorten_middle
from harness.judging import UNOBSERVED_HINT, group_by_value, leak_lines
from harness.reports.case_names import build_case_name
from harness.reports.record_fields import axis_fields
from harness.reports.sections.sentences import URGENCY, least_urgent_first
from harness.reports.terminal import table_lines
from harness.suites import list_disturbances
from harness.types import (
    AccessCell,
    AccessReport,
    AccessRow,
    CaseResult,
    Leak,
    Report,
    Status,
)

_WORDS = {"not_attempted": "not tried"}
_MARKS: dict[Status, str] = {
    "passed": "",
    "failed": " ✗",
    "error": " ?",
    "skipped": " –",
    "cancelled": " –",
}
_MAX_NAME = 30
LEGEND = "✗ not as expected, ? no verdict, – not run; · this identity does not ask"


def cell_words(cell: AccessCell | None) -> str:
    """Return one cell: ``filtered``, ``denied ✗``, ``LEAKED ✗``; ``·`` without such a case."""
    if cell is None:
        return "·"
    word = "LEAKED" if cell.leaks else _WORDS.get(cell.access, cell.access)
    # What did not run says nothing of access, not even that it was not tried.
    if cell.status in {"skipped", "cancelled"} and not cell.decisions:
        word = cell.status
    return f"{word}{_MARKS[cell.status]}"


def row_name(row: AccessRow, report: Report, limit: int | None = None) -> str:
    """Return the test's name with as much of suite and model as is needed to tell it apart."""
    return build_case_name(row.suite, row.group, row.entrant, report, limit)


def sort_rows_by_urgency(access: AccessReport) -> list[AccessRow]:
    """Return the rows, those with leaks first, then those with failures."""

    def rank(row: AccessRow) -> tuple[bool, bool]:
        passed = all(cell.status == "passed" for cell in row.cells)
        return not any(cell.leaks for cell in row.cells), passed

    return sorted(access.rows, key=rank)


def align_cells(row: AccessRow, identities: Sequence[str]) -> list[AccessCell | None]:
    """Return the cells of ``row`` in the order of ``identities``; ``None`` for a missing one."""
    by_identity = {cell.identity: cell for cell in row.cells}
    return [by_identity.get(identity) for identity in identities]


def leak_title(leak: Leak, report: Report) -> str:
    """Return a leak in as few words as will do."""
    value = f" ({leak.shown})" if leak.shown else ""
    return f"{_leak_place(leak, report)}: {leak.field}{value} in {leak.place}"


def leak_words(leak: Leak, report: Report) -> str:
    """Return a leak on one line."""
    return f"{make_one_line(_leak_place(leak, report))}: {'; '.join(leak_lines(leak))}"


def _leak_place(leak: Leak, report: Report) -> str:
    """Return the case in which it leaked, with the subject that asked if there are several."""
    if len(report.entrants) < 2 and len(report.suites) < 2:  # noqa: PLR2004 - several
        return leak.case
    asked = next((one for one in report.results if one.key == leak.key), None)
    if asked is None:
        return leak.case
    return build_case_name(leak.suite, leak.case, asked.entrant, report)


def distinct_leaks(access: AccessReport) -> list[tuple[Leak, int]]:
    """Return each leaked value of an identity once, with the number of trials that showed it."""
    return group_by_value(access.leaks)


def access_warnings(access: AccessReport) -> Iterator[str]:
    """Yield a warning for each suite where identity was not observed, or something not read."""
    for suite, reason in access.unobserved.items():
        why = f"{make_one_line(suite)}: {make_one_line(reason)}"
        yield f"Identity not observed in {why}. {UNOBSERVED_HINT}"
    for suite, lines in access.not_read.items():
        yield from (f"Not read in {make_one_line(suite)}: {make_one_line(line)}" for line in lines)


def matrix_lines(report: Report, width: int) -> Iterator[str]:
    """Yield the matrix as lines within ``width``; identities beyond it come in further blocks."""
    access = report.access
    rows = sort_rows_by_urgency(access)
    if not rows:
        return
    names = ["test", *(row_name(row, report, _MAX_NAME) for row in rows)]
    cells = [map(cell_words, align_cells(row, access.identities)) for row in rows]
    heads = [shorten_middle(make_one_line(identity), _MAX_NAME) for identity in access.identities]
    yield from table_lines(names, list(zip(heads, *cells, strict=True)), width)


def matrix_json(report: Report) -> dict[str, Any]:
    """Return the access matrix as JSON; empty where all cases have the same identity."""
    access = report.access
    if not (access.rows or access.unobserved or access.not_read):
        return {}
    return {
        "leaks": [asdict(leak) for leak in access.leaks],
        "identity_not_observed": dict(access.unobserved),
        "not_read": {suite: list(lines) for suite, lines in access.not_read.items()},
        "identities": list(access.identities),
        "rows": [
            {
                "suite": row.suite,
                "test": row.group,
                "model": row.model,
                **axis_fields(row.axes),
                "cells": {cell.identity: _cell_json(cell) for cell in row.cells},
            }
            for row in access.rows
        ],
    }


def _cell_json(cell: AccessCell) -> dict[str, Any]:
    return {
        "case": cell.case,
        "access": cell.access,
        "leaked": bool(cell.leaks),
        "status": cell.status,
        "tools": [
            {key: value for key, value in asdict(decision).items() if key != "identity"}
            for decision in cell.decisions
        ],
    }


_LONGEST_NAME = 40
"""Characters of a case's or a model's name."""


def grid_lines(report: Report, width: int) -> Iterator[str]:
    """Yield the grid within ``width``, cases that did not pass everywhere last.

    It is empty with one model. A cell is the case's verdict with that model, and with several
    trials how many of them passed; ``·`` where that model was not asked. What was asked under
    faults has tables of its own (`fault_tables`).
    """
    models = [name for name, facts in report.entrants.items() if not list_disturbances(facts)]
    if len(models) < 2:  # noqa: PLR2004 - a grid of one column is a list
        return
    found = {(case.suite, case.case, case.entrant): case for case in report.cases}
    # A case stands where its worst result does.
    worst = {(case.suite, case.case): case for case in least_urgent_first(report)}
    rows = sorted(worst, key=lambda row: -URGENCY.index(worst[row].status))
    several = len(report.suites) > 1
    names = ["case", *(f"{suite}::{case}" if several else case for suite, case in rows)]
    columns = [
        [_shorten_name(model), *(_format_cell(found.get((*row, model))) for row in rows)]
        for model in models
    ]
    yield from table_lines(list(map(_shorten_name, names)), columns, width)


def _shorten_name(name: str) -> str:
    return shorten_middle(make_one_line(name), _LONGEST_NAME)


def _format_cell(case: CaseResult | None) -> str:
    if case is None:
        return "·"
    return case.status if case.planned == 1 else f"{case.status} {case.passed_count}/{case.planned}"
