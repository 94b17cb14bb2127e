"""Cases by models: the verdicts of several models on the same cases."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base import make_one_line, shorten_text
from harness.reports.sections.sentences import URGENCY, least_urgent_first
from harness.reports.terminal import table_lines
from harness.types import CaseResult, Report

_MAX_NAME = 40
"""Characters of a case's or a model's name."""


def grid_lines(report: Report, width: int) -> Iterator[str]:
    """Yield the grid within ``width``, cases that did not pass everywhere last.

    It is empty with one model. A cell is the case's verdict with that model, and with several
    trials how many of them passed; ``·`` where that model was not asked.
    """
    models = list(report.entrants)
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
    return shorten_text(make_one_line(name), _MAX_NAME)


def _format_cell(case: CaseResult | None) -> str:
    if case is None:
        return "·"
    return case.status if case.planned == 1 else f"{case.status} {case.passed_count}/{case.planned}"
