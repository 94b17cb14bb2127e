"""The tables of a store that the page of a run is shown from, and what fills them.

Lists in ``_cells`` stand between line breaks, which no name has; its ``facts`` are in small
letters. ``_shown`` says in which cell the trial at a place of the log is, ``_columns`` in which row
and column a cell is. ``_parts`` are JSON: what a page shows besides its rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.reports.querying.columns import replace_surrogates
from harness.reports.sections.remarks import call_lines
from harness.reports.viewer.grid import (
    QUESTION,
    ConversationExcerpt,
    build_cell,
    build_grid_frame,
    shorten_line,
)
from harness.reports.viewer.run_summary import build_entry, build_summary, run_facts
from harness.runlog import RunLog, TrialLine, dump_line, index_by_key
from harness.suites import AXES, DEFAULT
from harness.types import SEARCH, Report

PAGE = (
    'CREATE TABLE "_parts" (name TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID',
    'CREATE TABLE "_settled" (at INTEGER PRIMARY KEY, line TEXT)',
    (
        'CREATE TABLE "_cells" (number INTEGER PRIMARY KEY, suite TEXT, name TEXT, entrant TEXT,'
        " model TEXT, identity TEXT, status TEXT, axes TEXT, tools TEXT, tags TEXT, checks TEXT,"
        " facts TEXT)"
    ),
    'CREATE TABLE "_bodies" (number INTEGER PRIMARY KEY, body TEXT)',
    'CREATE TABLE "_shown" (at INTEGER PRIMARY KEY, number INTEGER)',
    (
        'CREATE TABLE "_rows" (axis INTEGER, row INTEGER, suite TEXT, name TEXT, first INTEGER,'
        " differs INTEGER, failed INTEGER, warned INTEGER, urgency REAL, score REAL,"
        " latency_s REAL, paid_usd REAL, PRIMARY KEY (axis, row)) WITHOUT ROWID"
    ),
    (
        'CREATE TABLE "_columns" (axis INTEGER, row INTEGER, place INTEGER, number INTEGER,'
        " PRIMARY KEY (axis, row, place)) WITHOUT ROWID"
    ),
)
HAS_PAGE = 'SELECT 1 FROM "_parts" LIMIT 1'
"""Has a row if these tables are filled."""
CLEARED = tuple(f'DELETE FROM "{sql.split(chr(34))[1]}"' for sql in PAGE)  # noqa: S608 - our own
"""Empties them."""

AXIS_FILTERS = tuple(axis.name for axis in AXES)
DEFAULTS = dict.fromkeys(AXIS_FILTERS, DEFAULT)
FILTERS = ("status", "tool", "model", *AXIS_FILTERS, "identity", "tag", "check")
"""What cells are filtered by."""
_FEW = 1_000
"""Cases of a run whose names are told with its facts."""
_NAMED = ("suite", "case", "entrant", "model", "identity", "status")
_FACTS = ("suite", "case", "entrant", "identity", "status", "problem", "question")
_ASKED = "SELECT text FROM messages WHERE trial_id = ? AND role = 'user' ORDER BY n LIMIT 1"
_CALLED = (
    "SELECT tool FROM calls WHERE trial_id = ? AND phase = 'model' AND outcome != ? ORDER BY n"
)


def write_page(db: sqlite3.Connection, log: RunLog, report: Report) -> None:
    """Write what the page of ``log`` shows into its store, which has its trials; see `make_store`.

    ``report`` is that of ``log``.
    """
    framed = build_grid_frame(report)
    offered = _write_cells(db, log, report, framed)
    logged = index_by_key(log.results)
    for one in report.results:
        # Only what others decided: all else is in the log already.
        if one != logged.get(one.key, one):
            row = (log.get_offset(one.key), dump_line(TrialLine(run=one)))
            db.execute('INSERT INTO "_settled" VALUES (?, ?)', row)
    run = run_facts(log.header, log.path)
    if len(report.cases) >= _FEW:  # their names are in the rows
        run["suites"] = [{**suite, "cases": []} for suite in run["suites"]]
    summary = build_summary(log, report)
    parts = {
        "run": run,
        "grid": {**framed, **offered},
        # What people said is told with what there is of it when it is asked for.
        "summary": {**summary, "call_lines": list(call_lines(report))},
        "entry": build_entry(log, report, summary),
        "done": len(log.results),
        "footer": None if log.footer is None else dump_line(log.footer),
    }
    named = [(name, _format_json(one)) for name, one in parts.items()]
    db.executemany('INSERT INTO "_parts" VALUES (?, ?)', named)


def _write_cells(
    db: sqlite3.Connection, log: RunLog, report: Report, framed: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the cells and their rows; return what there is to choose from."""
    grids = [_GridRows(place, axis, framed["urgency"]) for place, axis in enumerate(framed["axes"])]
    amounts: Counter[str] = Counter()
    suites: set[str] = set()
    warned = 0
    offered: dict[str, set[str]] = {name: set() for name in FILTERS}
    for number, case in enumerate(report.cases):
        # A planned trial without a line is part of its case, and has nothing to show.
        places = {trial.key: log.get_offset(trial.key) for trial in case.trials if trial.key in log}
        said = {key: _read_excerpt(db, at) for key, at in places.items()}
        cell = {**build_cell(case, said), "at": list(places.values())}
        _write_cell(db, number, cell)
        for grid in grids:
            grid.add_cell(db, number, cell)
        amounts[cell["status"]] += 1
        suites.add(cell["suite"])
        warned += "warnings" in cell
        for name, values in list_filter_values(cell).items():
            offered[name].update(values)
    for grid in grids:
        grid.write_rows(db)
    return {
        "offered": {name: sorted(values) for name, values in offered.items()},
        "amounts": dict(amounts),
        "warned": warned,
        "several": len(suites) > 1,
        "rows": {grid.axis["name"]: len(grid.rows) for grid in grids},
    }


def list_filter_values(cell: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the values that ``cell`` has of each filter, as `rows.js` finds them."""
    single = {"status": cell["status"], "identity": cell.get("identity")}
    single |= {"model": cell.get("model", cell["entrant"]), **DEFAULTS, **cell.get("axes", {})}
    return {
        **{name: [value] for name, value in single.items() if value},
        "tag": cell.get("tags", ()),
        "tool": cell.get("tools", ()),
        "check": cell.get("failed", ()),
    }


def _write_cell(db: sqlite3.Connection, number: int, cell: Mapping[str, Any]) -> None:
    cell = {"model": cell["entrant"], "axes": DEFAULTS, **cell}
    axes = [f"{axis}={value}" for axis, value in cell["axes"].items()]
    tags, tools, failed = (cell.get(name, ()) for name in ("tags", "tools", "failed"))
    facts = [*(cell.get(name, "") for name in _FACTS), *tags, *tools, *failed]
    row = (
        *(replace_surrogates(cell.get(name, "")) for name in _NAMED),
        *map(_join_between_breaks, (axes, tools, tags, failed)),
        replace_surrogates(" ".join(facts).lower()),
    )
    db.execute(f'INSERT INTO "_cells" VALUES (?, {", ".join("?" * len(row))})', (number, *row))  # noqa: S608
    body = _format_json({**cell, "number": number})
    db.execute('INSERT INTO "_bodies" VALUES (?, ?)', (number, body))
    db.executemany('INSERT INTO "_shown" VALUES (?, ?)', [(at, number) for at in cell["at"]])


def _read_excerpt(db: sqlite3.Connection, at: int) -> ConversationExcerpt:
    """Return what a cell shows of the conversation at ``at`` of the log."""
    asked = db.execute(_ASKED, (at,)).fetchone()
    called = [tool for (tool,) in db.execute(_CALLED, (at, SEARCH))]
    return ConversationExcerpt(shorten_line(asked[0], QUESTION) if asked else "", called)


@dataclass(slots=True)
class _GridRow:
    """A row while its cells are put into it."""

    number: int
    suite: str
    name: str
    first: int
    statuses: list[str] = field(default_factory=list)
    warned: bool = False
    # Beyond all that there are, so that the first cell sets each of them.
    urgency: float = 1e9
    score: float = 2.0
    latency_s: float = 0.0
    paid_usd: float = 0.0


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
        row.warned |= "warnings" in cell
        # Among equal ones, a cell that has something to say comes first.
        urgent = self._urgency.index(cell["status"]) + (0 if cell.get("problem") else 0.5)
        row.urgency = min(row.urgency, urgent)
        row.score = min(row.score, cell.get("score", 2.0))
        row.latency_s = max(row.latency_s, cell.get("latency_s", 0.0))
        row.paid_usd = max(row.paid_usd, cell.get("paid_usd", 0.0))
        where = (self._place, row.number, place, number)
        db.execute('INSERT OR REPLACE INTO "_columns" VALUES (?, ?, ?, ?)', where)

    def write_rows(self, db: sqlite3.Connection) -> None:
        """Write the rows."""
        rows = (
            (
                *(self._place, row.number),
                *(replace_surrogates(row.suite), replace_surrogates(row.name), row.first),
                # A column that lacks the case differs from those that have it.
                len(set(row.statuses)) > 1 or len(row.statuses) < len(self._columns),
                any(status != "passed" for status in row.statuses),
                row.warned,
                *(row.urgency, row.score, row.latency_s, row.paid_usd),
            )
            for row in self.rows.values()
        )
        db.executemany('INSERT INTO "_rows" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', rows)


def _join_between_breaks(names: Iterable[str]) -> str:
    return replace_surrogates("".join(f"\n{name}" for name in names) + "\n")


def _format_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
