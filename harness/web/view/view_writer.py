"""Makes the view of a run from its log and its report: one case at a time."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.reports import (
    build_grid_frame,
    call_lines,
    extract_text,
    hash_log_prefix,
    iterate_cells,
)
from harness.runlog import ReviewLine, RunLog, TrialLine, dump_line, index_by_key
from harness.types import Report
from harness.web.history import build_entry
from harness.web.results import build_summary, run_facts
from harness.web.view.tables import CREATED, finish_draft, open_draft
from harness.web.view.texts import Packer

FILTERS = ("status", "tool", "model", "identity", "tag", "check")
"""What cells are filtered by."""
_SMALL_PAGE, _SMALL = 512, 1_000
"""Bytes of a page of SQLite in the view of a run with few cases: small runs make small files."""
_FACTS = ("suite", "case", "model", "identity", "status", "problem", "question")
_LISTS = ("tags", "tools", "failed")


def write_view(draft: Path, log: RunLog, report: Report, facts: os.stat_result) -> None:
    """Write the view of ``log``, whose file has these ``facts``, into the file ``draft``.

    ``report`` is that of ``log``.

    Raises:
        sqlite3.OperationalError: there is no room for it.
        OSError: the log is gone.
    """
    db = open_draft(draft)
    try:
        if len(report.cases) < _SMALL:
            db.execute(f"PRAGMA page_size = {_SMALL_PAGE}")
        db.execute("BEGIN")
        for sql in CREATED:
            db.execute(sql)
        framed = build_grid_frame(report)
        offered = _write_cells(db, log, report, framed)
        _write_parts(db, log, report, {**framed, **offered})
        finish_draft(db, draft, facts, hash_log_prefix(log.path, facts.st_size))
    finally:
        db.close()


def _write_cells(
    db: sqlite3.Connection, log: RunLog, report: Report, framed: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the cells, their rows and what was said; return what there is to choose from."""
    grids = [_GridRows(place, axis, framed["urgency"]) for place, axis in enumerate(framed["axes"])]
    packer, offered = Packer(db), _FilterValues()
    for number, made in enumerate(iterate_cells(report, log)):
        cell = made.cell
        db.execute(
            "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _build_cell_row(number, cell)
        )
        db.execute(
            "INSERT INTO bodies VALUES (?, ?)", (number, _format_json({**cell, "number": number}))
        )
        for one in grids:
            one.add_cell(db, number, cell)
        for at, line in made.lines.items():
            packer.add_text(number, at, extract_text(line))
        offered.add_cell(cell)
    packer.close()
    for one in grids:
        one.write_rows(db)
    return {**offered.summarize(), "rows": {one.axis["name"]: len(one.rows) for one in grids}}


def _write_parts(
    db: sqlite3.Connection, log: RunLog, report: Report, framed: Mapping[str, Any]
) -> None:
    logged = index_by_key(log.results)
    for one in report.results:
        if one != logged.get(one.key, one):
            row = (log.get_offset(one.key), dump_line(TrialLine(run=one)))
            db.execute("INSERT INTO settled VALUES (?, ?)", row)
    for key, review in log.reviews.items():
        row_of = (_replace_surrogates(key), dump_line(ReviewLine(review=review)))
        db.execute("INSERT INTO reviews VALUES (?, ?)", row_of)
    parts = {
        "run": _encode_run(log, report),
        "grid": framed,
        # what people said is told with what there is of it when it is asked for
        "summary": {**build_summary(log, report), "call_lines": list(call_lines(report))},
        "entry": build_entry(log, report),
        "done": len(log.results),
        "footer": None if log.footer is None else dump_line(log.footer),
    }
    named = [(name, _format_json(one)) for name, one in parts.items()]
    db.executemany("INSERT INTO parts VALUES (?, ?)", named)


def _encode_run(log: RunLog, report: Report) -> dict[str, Any]:
    """Return what is known of a run; the names of many cases are in its rows alone."""
    run = run_facts(log.header, log.path)
    if len(report.cases) >= _SMALL:
        run["suites"] = [{**suite, "cases": []} for suite in run["suites"]]
    return run


@dataclass(slots=True)
class _GridRow:
    """A row while its cells are put into it."""

    number: int
    suite: str
    name: str
    first: int
    statuses: list[str] = field(default_factory=list)
    urgency: float = 1e9
    score: float = 2.0
    seconds: float = 0.0
    cost: float = 0.0


class _GridRows:
    """The rows of one axis; `rows.js` arranges cells in the same way."""

    def __init__(self, place: int, axis: Mapping[str, Any], urgency: Sequence[str]) -> None:
        self.axis = axis
        self.rows: dict[tuple[str, ...], _GridRow] = {}
        self._place = place
        self._urgency = urgency
        self._columns = {tuple(one["key"]): n for n, one in enumerate(axis["columns"])}

    def add_cell(self, db: sqlite3.Connection, number: int, cell: Mapping[str, Any]) -> None:
        """Put a cell into its row; one that has no column is left out."""
        place = self._columns.get(tuple(cell.get(name, "") for name in self.axis["column"]))
        name = cell.get("group") if "group" in self.axis["row"] else cell["case"]
        if place is None or name is None:
            return
        key = tuple(cell.get(one, "") for one in self.axis["row"])
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = _GridRow(len(self.rows), cell["suite"], name, number)
        row.statuses.append(cell["status"])
        urgent = self._urgency.index(cell["status"]) + (0 if cell.get("problem") else 0.5)
        row.urgency = min(row.urgency, urgent)
        row.score = min(row.score, cell.get("score", 2.0))
        row.seconds = max(row.seconds, cell.get("seconds", 0.0))
        row.cost = max(row.cost, cell.get("cost", 0.0))
        where = (self._place, row.number, place, number)
        db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)", where)

    def write_rows(self, db: sqlite3.Connection) -> None:
        """Write the rows."""
        several = len(self._columns)
        db.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(
                        self._place,
                        row.number,
                        _replace_surrogates(row.suite),
                        _replace_surrogates(row.name),
                        row.first,
                    ),
                    len(set(row.statuses)) > 1 or len(row.statuses) < several,
                    any(status != "passed" for status in row.statuses),
                    *(row.urgency, row.score, row.seconds, row.cost),
                )
                for row in self.rows.values()
            ),
        )


class _FilterValues:
    """The values that cells have of each filter, and how many cells ended how."""

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {name: set() for name in FILTERS}
        self._amounts: Counter[str] = Counter()
        self._suites: set[str] = set()

    def add_cell(self, cell: Mapping[str, Any]) -> None:
        values = self._values
        self._amounts[cell["status"]] += 1
        self._suites.add(cell["suite"])
        for name in ("status", "model", "identity"):
            if one := cell.get(name):
                values[name].add(one)
        for name, listed in (("tag", "tags"), ("tool", "tools"), ("check", "failed")):
            values[name].update(cell.get(listed, ()))

    def summarize(self) -> dict[str, Any]:
        return {
            "offered": {name: sorted(values) for name, values in self._values.items()},
            "amounts": dict(self._amounts),
            "several": len(self._suites) > 1,
        }


def _build_cell_row(number: int, cell: Mapping[str, Any]) -> tuple[Any, ...]:
    lists = [cell.get(name, ()) for name in _LISTS]
    facts = [cell.get(name, "") for name in _FACTS] + [one for names in lists for one in names]
    tags, tools, failed = lists
    named = (cell.get(name, "") for name in ("suite", "case", "model", "identity", "status"))
    listed = (_join_between_breaks(names) for names in (tools, tags, failed))
    return (
        number,
        *map(_replace_surrogates, named),
        *listed,
        _replace_surrogates(" ".join(facts).lower()),
    )


def _join_between_breaks(names: Iterable[str]) -> str:
    return _replace_surrogates("".join(f"\n{name}" for name in names) + "\n")


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _format_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
