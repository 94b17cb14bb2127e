"""The cells of several runs that are shown side by side; of large runs the most telling tests.

A page that shows runs side by side holds all cells that it gets. So of many tests it gets those
whose results differ, then those that did not pass.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from harness.web.run_view import RunView

MOST_TESTS = 2_000
"""Tests of several runs that a page gets."""

_TESTS = (
    "CREATE TABLE tests (run INTEGER, number INTEGER, suite TEXT, name TEXT, status TEXT)",
    "CREATE TABLE chosen (suite TEXT, name TEXT, PRIMARY KEY (suite, name)) WITHOUT ROWID",
)
_CHOOSE = """
INSERT INTO chosen SELECT suite, name FROM tests GROUP BY suite, name
ORDER BY COUNT(DISTINCT status) > 1 OR COUNT(DISTINCT run) < :runs DESC,
  MAX(status != 'passed') DESC, MIN(run), MIN(number)
LIMIT :most
"""
_NUMBERS = """
SELECT number FROM tests JOIN chosen USING (suite, name) WHERE run = ? ORDER BY number
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """What is shown of several runs."""

    cells: list[list[dict[str, Any]]]
    """The cells of each run."""
    shown: int
    """Tests that are among them."""
    tests: int
    """Tests of all runs, each counted once."""


def read_side_by_side(views: Sequence[RunView], most: int = MOST_TESTS) -> SideBySide:
    """Return the cells of ``views``, of at most ``most`` tests."""
    with closing(sqlite3.connect("")) as db:  # on disk where it does not fit into memory
        for sql in _TESTS:
            db.execute(sql)
        for run, view in enumerate(views):
            db.executemany("INSERT INTO tests VALUES (?, ?, ?, ?, ?)", _iterate_cells(run, view))
        db.execute(_CHOOSE, {"runs": len(views), "most": most})
        ((tests,),) = db.execute("SELECT COUNT(*) FROM (SELECT 1 FROM tests GROUP BY suite, name)")
        ((shown,),) = db.execute("SELECT COUNT(*) FROM chosen")
        cells = [
            _read_bodies(view, [number for (number,) in db.execute(_NUMBERS, (run,))])
            for run, view in enumerate(views)
        ]
    return SideBySide(cells=cells, shown=shown, tests=tests)


def _iterate_cells(run: int, view: RunView) -> Iterator[tuple[int, int, str, str, str]]:
    with view.open_database() as db:
        for found in db.execute("SELECT number, suite, name, status FROM _cells"):
            yield (run, *found)


def _read_bodies(view: RunView, numbers: Sequence[int]) -> list[dict[str, Any]]:
    with view.open_database() as db:
        return [
            json.loads(body)
            for number in numbers
            for (body,) in db.execute("SELECT body FROM _bodies WHERE number = ?", (number,))
        ]
