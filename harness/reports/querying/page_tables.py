"""The tables of a store that the page of a run is shown from; `harness.web.view` writes them."""

from __future__ import annotations

PAGE = (
    'CREATE TABLE "_parts" (name TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID',
    'CREATE TABLE "_settled" (at INTEGER PRIMARY KEY, line TEXT)',
    (
        'CREATE TABLE "_cells" (number INTEGER PRIMARY KEY, suite TEXT, name TEXT, model TEXT,'
        " identity TEXT, status TEXT, tools TEXT, tags TEXT, checks TEXT, facts TEXT)"
    ),
    'CREATE TABLE "_bodies" (number INTEGER PRIMARY KEY, body TEXT)',
    'CREATE TABLE "_shown" (at INTEGER PRIMARY KEY, number INTEGER)',
    (
        'CREATE TABLE "_rows" (axis INTEGER, row INTEGER, suite TEXT, name TEXT, first INTEGER,'
        " differs INTEGER, failed INTEGER, urgency REAL, score REAL, seconds REAL, cost REAL,"
        " PRIMARY KEY (axis, row)) WITHOUT ROWID"
    ),
    (
        'CREATE TABLE "_columns" (axis INTEGER, row INTEGER, place INTEGER, number INTEGER,'
        " PRIMARY KEY (axis, row, place)) WITHOUT ROWID"
    ),
)
"""Lists in ``_cells`` stand between line breaks, which no name has; its ``facts`` are in small
letters. ``_shown`` says in which cell the trial at a place of the log is, ``_columns`` in which row
and column a cell is. ``_parts`` are JSON: what a page shows besides its rows."""
HAS_PAGE = 'SELECT 1 FROM "_parts" LIMIT 1'
"""Has a row if these tables are filled."""
CLEARED = tuple(f'DELETE FROM "{sql.split(chr(34))[1]}"' for sql in PAGE)  # noqa: S608 - our own
"""Empties them."""
