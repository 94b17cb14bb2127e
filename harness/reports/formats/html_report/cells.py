"""The cells of the page's grid: all of a small run at once, else the first rows, then the others.

A browser takes seconds for the cells of a hundred thousand cases, and shows the first rows before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from harness.base import iterate_batches
from harness.reports.sections.sentences import URGENCY
from harness.reports.viewer.grid import build_grid, build_grid_frame, iterate_cells
from harness.runlog import RunLog
from harness.types import JsonObject, Report

MOST_AT_ONCE = 2_000
"""Cells that a page shows without a word."""
FIRST = 60
"""Rows that are shown at once of a larger run: more than a screen."""
BLOCK = 1_000
"""Cells of one block of the others."""


def first_grid(report: Report, log: RunLog) -> JsonObject:
    """Return the grid with all cells, or with those of the first rows and the number of blocks."""
    if len(report.cases) <= MOST_AT_ONCE:
        return build_grid(report, log)
    numbers = {id(case): number for number, case in enumerate(report.cases)}
    # Failures come first: nothing else of the order is known without reading every conversation.
    urgent = sorted(report.cases, key=lambda case: URGENCY.index(case.status))
    rows = set(islice(dict.fromkeys((case.suite, case.case) for case in urgent), FIRST))
    first = tuple(case for case in report.cases if (case.suite, case.case) in rows)
    made = iterate_cells(replace(report, cases=first), log)
    return {
        **build_grid_frame(report),
        "cells": [
            {**one, "place": numbers[id(case)]} for case, one in zip(first, made, strict=True)
        ],
        "blocks": -(-len(report.cases) // BLOCK),
    }


def further_cells(report: Report, log: RunLog) -> Iterator[tuple[str, Any]]:
    """Yield all cells of a large run, a block of the page's data each."""
    if len(report.cases) <= MOST_AT_ONCE:
        return
    for number, block in enumerate(iterate_batches(iterate_cells(report, log), BLOCK)):
        yield f"cells-{number}", block
