"""Writes what the page of a run shows into its store: one case at a time."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.reports import (
    QUESTION,
    ConversationExcerpt,
    build_cell,
    build_grid_frame,
    call_lines,
    shorten_line,
)
from harness.runlog import RunLog, TrialLine, dump_line, index_by_key
from harness.types import SEARCH, Report
from harness.web.history import build_entry
from harness.web.results import build_summary, run_facts

FILTERS = ("status", "tool", "model", "identity", "tag", "check")
"""What cells are filtered by."""
_FEW = 1_000
"""Cases of a run whose names are told with its facts."""
_FACTS = ("suite", "case", "model", "identity", "status", "problem", "question")
_LISTS = ("tags", "tools", "failed")
_ASKED = "SELECT text FROM messages WHERE trial_id = ? AND role = 'user' ORDER BY n LIMIT 1"
_CALLED = (
    "SELECT tool FROM calls WHERE trial_id = ? AND phase = 'model' AND outcome != ? ORDER BY n"
)


def write_view(db: sqlite3.Connection, log: RunLog, report: Report) -> None:
    """Write what the page of ``log`` shows into its store, which has its trials; see `make_store`.

    ``report`` is that of ``log``.
    """
    framed = build_grid_frame(report)
    offered = _write_cells(db, log, report, framed)
    _write_parts(db, log, report, {**framed, **offered})


def _write_cells(
    db: sqlite3.Connection, log: RunLog, report: Report, framed: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the cells and their rows; return what there is to choose from."""
    grids = [_GridRows(place, axis, framed["urgency"]) for place, axis in enumerate(framed["axes"])]
    offered = _FilterValues()
    for number, case in enumerate(report.cases):
        # A planned trial without a line is part of its case, and has nothing to show.
        places = {trial.key: log.get_offset(trial.key) for trial in case.trials if trial.key in log}
        said = {key: _read_excerpt(db, at) for key, at in places.items()}
        cell = {**build_cell(case, said), "at": list(places.values())}
        db.execute(
            'INSERT INTO "_cells" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            _build_cell_row(number, cell),
        )
        body = _format_json({**cell, "number": number})
        db.execute('INSERT INTO "_bodies" VALUES (?, ?)', (number, body))
        for at in places.values():
            db.execute('INSERT INTO "_shown" VALUES (?, ?)', (at, number))
        for one in grids:
            one.add_cell(db, number, cell)
        offered.add_cell(cell)
    for one in grids:
        one.write_rows(db)
    return {**offered.summarize(), "rows": {grid.axis["name"]: len(grid.rows) for grid in grids}}


def _read_excerpt(db: sqlite3.Connection, at: int) -> ConversationExcerpt:
    """Return what a cell shows of the conversation at ``at`` of the log."""
    asked = db.execute(_ASKED, (at,)).fetchone()
    called = [tool for (tool,) in db.execute(_CALLED, (at, SEARCH))]
    return ConversationExcerpt(shorten_line(asked[0], QUESTION) if asked else "", called)


def _write_parts(
    db: sqlite3.Connection, log: RunLog, report: Report, framed: Mapping[str, Any]
) -> None:
    logged = index_by_key(log.results)
    for one in report.results:
        # Only what others decided: all else is in the log already.
        if one != logged.get(one.key, one):
            row = (log.get_offset(one.key), dump_line(TrialLine(run=one)))
            db.execute('INSERT INTO "_settled" VALUES (?, ?)', row)
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
    db.executemany('INSERT INTO "_parts" VALUES (?, ?)', named)


def _encode_run(log: RunLog, report: Report) -> dict[str, Any]:
    """Return what is known of a run; the names of many cases are in its rows alone."""
    run = run_facts(log.header, log.path)
    if len(report.cases) >= _FEW:
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
    # Beyond all that there are, so that the first cell sets each of them.
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
        # Among equal ones, a cell that has something to say comes first.
        urgent = self._urgency.index(cell["status"]) + (0 if cell.get("problem") else 0.5)
        row.urgency = min(row.urgency, urgent)
        row.score = min(row.score, cell.get("score", 2.0))
        row.seconds = max(row.seconds, cell.get("seconds", 0.0))
        row.cost = max(row.cost, cell.get("cost", 0.0))
        where = (self._place, row.number, place, number)
        db.execute('INSERT OR REPLACE INTO "_columns" VALUES (?, ?, ?, ?)', where)

    def write_rows(self, db: sqlite3.Connection) -> None:
        """Write the rows."""
        several = len(self._columns)
        db.executemany(
            'INSERT INTO "_rows" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (
                (
                    *(
                        self._place,
                        row.number,
                        _replace_surrogates(row.suite),
                        _replace_surrogates(row.name),
                        row.first,
                    ),
                    # A column that lacks the case differs from those that have it.
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
    facts = [cell.get(name, "") for name in _FACTS] + [name for names in lists for name in names]
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
    # SQLite keeps texts as UTF-8, in which half of a surrogate pair has no place.
    return text.encode("utf-8", "replace").decode()


def _format_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
