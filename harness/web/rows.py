"""The rows of a run that fit what is asked for, and those of them that are on the screen.

`harness/reports/viewer/assets/rows.js` filters and sorts by the same rules where a page has all
cells itself: while a run goes on, in the HTML report, and for runs side by side. Of several large
runs it gets the most telling tests: those whose results differ, then those that did not pass.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from harness.reports import AXIS_FILTERS, search_texts
from harness.types import dataclass
from harness.web.run_view import RunView

MOST_ROWS = 500
"""Rows of one answer."""
ORDERS: Mapping[str, str] = {
    "urgency": "urgency",
    "suite": "first",
    "name": "name",
    "score": "score",
    "latency_s": "latency_s DESC",
    "paid_usd": "paid_usd DESC",
}
"""What rows are sorted by; equal ones stand as in the suite."""
_SAME = ("status", "model", "identity")
_AMONG: Mapping[str, str] = {
    "tool": "tools",
    "tag": "tags",
    "check": "checks",
    **dict.fromkeys(AXIS_FILTERS, "axes"),
}
_KEPT = 32
"""Lists of rows that are kept: 400 KB each for 100,000 tests."""

Order: TypeAlias = "array[int]"
"""Numbers of rows, in the order in which they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """Which rows are asked for, and in which order."""

    by: str = "model"
    """The axis: what makes the columns."""
    sort: str = "urgency"
    """One of `ORDERS`."""
    chosen: tuple[tuple[str, str], ...] = ()
    """Filters with the values that a cell of the row must have."""
    words: tuple[str, ...] = ()
    """Words that a cell of the row must have, in small letters."""
    failed: bool = False
    """Whether a cell of the row must not have passed."""
    warned: bool = False
    """Whether a cell of the row must have a warning."""
    different: bool = False
    """Whether its columns must differ."""


class Arranger:
    """Answers questions; what is scrolled through is not asked anew of the view for each screen."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: OrderedDict[tuple[Path, int, int, RowQuery], Order] = OrderedDict()

    def find_rows(self, view: RunView, question: RowQuery, go_on: Callable[[], None]) -> Order:
        """Return the rows that fit ``question``; ``go_on`` may end the search by raising."""
        # A view that is made anew is another file, and lists of the old one no longer fit.
        facts = view.path.stat()
        key = (view.path, facts.st_ino, facts.st_mtime_ns, question)
        found = self._known.get(key)
        if found is None:
            found = select_rows(view, question, go_on)
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def find_axis(view: RunView, name: str) -> int | None:
    """Return the number of the axis ``name``."""
    names = [axis["name"] for axis in view.read_part("grid")["axes"]]
    return names.index(name) if name in names else None


def select_rows(view: RunView, question: RowQuery, go_on: Callable[[], None]) -> Order:
    """Return the numbers of the rows that fit ``question``, in its order."""
    with view.open_database() as db:
        if question.words:
            _store_matches(db, question.words, go_on)
        # Sorting cannot be interrupted: after the search is the last moment to give up.
        go_on()
        fits, values = _build_cell_condition(question)
        axis = find_axis(view, question.by)
        asked = {
            "failed": question.failed,
            "warned": question.warned,
            "differs": question.different,
            fits: bool(fits),
        }
        where = " AND ".join(("axis = :axis", *(one for one, given in asked.items() if given)))
        order = ORDERS[question.sort]
        sql = f"SELECT row FROM _rows WHERE {where} ORDER BY {order}, first"  # noqa: S608 - ours
        return array("L", (row for (row,) in db.execute(sql, {"axis": axis, **values})))


def _store_matches(db: sqlite3.Connection, words: Sequence[str], go_on: Callable[[], None]) -> None:
    """Note which cells have which word, in a table of this connection."""
    numbers = {word: number for number, word in enumerate(words)}
    db.execute("CREATE TEMP TABLE found (word INTEGER, number INTEGER)")
    db.executemany(
        "INSERT INTO found SELECT ?, number FROM _shown WHERE at = ?",
        ((numbers[word], at) for word, at in search_texts(db, words, go_on)),
    )
    db.execute("CREATE INDEX temp.word_of ON found (word, number)")


def _build_cell_condition(question: RowQuery) -> tuple[str, dict[str, str]]:
    """Return the condition on a cell of the row, if there is any, with its values by name."""
    values: dict[str, str] = {}

    def bind_value(value: str) -> str:
        name = f"value{len(values)}"
        values[name] = value
        return f":{name}"

    wanted = []
    for name, value in question.chosen:
        if name in _SAME:
            wanted.append(f"_cells.{name} = {bind_value(value)}")
        else:
            # With the line breaks around it, so that no name is found within a longer one.
            item = f"\n{name}={value}\n" if name in AXIS_FILTERS else f"\n{value}\n"
            wanted.append(f"instr(_cells.{_AMONG[name]}, {bind_value(item)})")
    for number, word in enumerate(question.words):
        said = f"SELECT 1 FROM temp.found WHERE word = {number} AND number = _cells.number"  # noqa: S608
        wanted.append(f"(instr(_cells.facts, {bind_value(word)}) OR EXISTS ({said}))")
    if not wanted:
        return "", {}
    cells = " AND ".join(wanted)
    among = f"SELECT row FROM _columns JOIN _cells USING (number) WHERE axis = :axis AND {cells}"  # noqa: S608
    return f"row IN ({among})", values


def read_window(view: RunView, by: str, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Return ``rows`` as the viewer shows them; a place that nobody was asked at has no cell."""
    found = []
    with view.open_database() as db:
        (axes,) = db.execute("SELECT body FROM _parts WHERE name = 'grid'").fetchone()
        listed = json.loads(axes)["axes"]
        axis = next(n for n, one in enumerate(listed) if one["name"] == by)
        for number in rows:
            suite, name, first = db.execute(
                "SELECT suite, name, first FROM _rows WHERE axis = ? AND row = ?", (axis, number)
            ).fetchone()
            cells: list[Any] = [None] * len(listed[axis]["columns"])
            for place, body in db.execute(
                "SELECT place, body FROM _columns JOIN _bodies USING (number)"
                " WHERE axis = ? AND row = ?",
                (axis, number),
            ):
                cells[place] = json.loads(body)
            found.append({"name": name, "suite": suite, "first": first, "cells": cells})
    return found


def find_place(view: RunView, by: str, wanted: str, rows: Sequence[int]) -> dict[str, Any] | None:
    """Return where the cell ``wanted`` is: its row among ``rows``, which may lack it, and column.

    ``wanted`` is ``SUITE/CASE/ENTRANT``, each percent-encoded, or ``#`` with the cell's number.
    """
    axis = find_axis(view, by)
    with view.open_database() as db:
        if wanted[:1] == "#" and wanted[1:].isdecimal() and wanted.isascii():
            found = db.execute("SELECT number FROM _cells WHERE number = ?", (wanted[1:19],))
        else:
            names = tuple(unquote(part) for part in wanted.split("/")[:3])
            found = db.execute(
                "SELECT number FROM _cells WHERE suite = ? AND name = ? AND entrant = ?",
                (*names, "", "")[:3],
            )
        cell = found.fetchone()
        where = (
            cell
            and db.execute(
                "SELECT row, place FROM _columns WHERE axis = ? AND number = ?", (axis, *cell)
            ).fetchone()
        )
    if not where:
        return None
    row, column = where
    return {"row": rows.index(row) if row in rows else None, "column": column}


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
