"""What the file of a view consists of, and whether it holds for a log.

It is derived: it holds for a log of one size and time, and for one version of harness. Its own time
is set to that of the log, so that one that somebody has written to since is not trusted.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.version import __version__

NAME = "view.sqlite"
"""The file, beside its log."""
_FORM = 2
"""Raised when views of another form are written."""
_CACHE_KB = 256
"""Of a draft, in memory. Rows are written in order, so that few pages are needed twice."""

CREATED = (
    "CREATE TABLE facts (form TEXT, log_size INTEGER, log_time INTEGER, digest TEXT)",
    "CREATE TABLE parts (name TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID",
    "CREATE TABLE reviews (key TEXT PRIMARY KEY, line TEXT) WITHOUT ROWID",
    "CREATE TABLE settled (at INTEGER PRIMARY KEY, line TEXT)",
    (
        "CREATE TABLE cells (number INTEGER PRIMARY KEY, suite TEXT, name TEXT, model TEXT,"
        " identity TEXT, status TEXT, tools TEXT, tags TEXT, checks TEXT, facts TEXT)"
    ),
    "CREATE TABLE bodies (number INTEGER PRIMARY KEY, body TEXT)",
    (
        "CREATE TABLE rows (axis INTEGER, row INTEGER, suite TEXT, name TEXT, first INTEGER,"
        " differs INTEGER, failed INTEGER, urgency REAL, score REAL, seconds REAL, cost REAL,"
        " PRIMARY KEY (axis, row)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE places (axis INTEGER, row INTEGER, place INTEGER, number INTEGER,"
        " PRIMARY KEY (axis, row, place)) WITHOUT ROWID"
    ),
    "CREATE TABLE texts (cells TEXT, ats TEXT, starts TEXT, packed BLOB)",
)
"""The tables. Lists in ``cells`` stand between line breaks, which no name has; ``facts`` are in
small letters. ``parts`` are JSON: what a page shows besides its rows."""


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a view says of the log that it was made from."""

    size: int
    """Bytes."""
    time: int
    """Nanoseconds."""
    digest: str
    """SHA-256 of those bytes."""


@dataclass(frozen=True, slots=True)
class RunView:
    """The view of a run."""

    path: Path
    """Its file."""

    @contextmanager
    def open_database(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that reads it, and has room for tables of its own."""
        with closing(sqlite3.connect(_format_uri(self.path), uri=True)) as db:
            yield db

    def read_part(self, name: str) -> Any:
        """Return the part ``name``, one of those that `writing` writes."""
        return json.loads(self.read_part_json(name))

    def read_part_json(self, name: str) -> str:
        """Return it as JSON."""
        with self.open_database() as db:
            ((body,),) = db.execute("SELECT body FROM parts WHERE name = ?", (name,))
        return str(body)

    def read_bodies(self) -> str:
        """Return all cells of the run, a JSON array; of a large run that is large, too."""
        with self.open_database() as db:
            found = db.execute("SELECT body FROM bodies ORDER BY number")
            return f"[{','.join(body for (body,) in found)}]"

    def read_settled(self, at: int) -> str | None:
        """Return the line of the trial at ``at`` of the log as others decided it, if they did."""
        with self.open_database() as db:
            row = db.execute("SELECT line FROM settled WHERE at = ?", (at,)).fetchone()
        return None if row is None else str(row[0])


def build_form() -> str:
    """Return what a view of this version says of its form."""
    return f"{_FORM} {__version__}"


def read_log_facts(place: Path) -> LogFacts | None:
    """Return what the view at ``place`` says of its log; ``None``: there is none to be trusted."""
    try:
        facts = place.stat()
        with closing(sqlite3.connect(_format_uri(place), uri=True)) as db:
            if tuple(sql for (sql,) in db.execute("SELECT sql FROM sqlite_master")) != CREATED:
                return None
            made_as, size, time, digest = db.execute("SELECT * FROM facts").fetchone()
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            whole = facts.st_size == pages * db.execute("PRAGMA page_size").fetchone()[0]
    except (OSError, sqlite3.Error, TypeError, ValueError):
        return None
    if made_as != build_form() or not whole or facts.st_mtime_ns != time:
        return None
    return LogFacts(size, time, digest)


def is_view_current(place: Path, log: os.stat_result) -> bool:
    """Return whether the view at ``place`` is that of a log whose file has the facts ``log``."""
    found = read_log_facts(place)
    return found is not None and (found.size, found.time) == (log.st_size, log.st_mtime_ns)


def finish_draft(db: sqlite3.Connection, draft: Path, facts: os.stat_result, digest: str) -> None:
    """Write of which log the view in ``draft`` is, and close it; then it may be put in place."""
    db.execute("DELETE FROM facts")
    row = (build_form(), facts.st_size, facts.st_mtime_ns, digest)
    db.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", row)
    db.execute("COMMIT")
    db.close()
    with draft.open("rb") as file:
        os.fsync(file)
    os.utime(draft, ns=(facts.st_mtime_ns, facts.st_mtime_ns))


def open_draft(draft: Path) -> sqlite3.Connection:
    """Return a connection that writes the file ``draft``, in one go, before it is in its place."""
    db = sqlite3.connect(draft, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
        db.execute(f"PRAGMA {pragma}")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    return db


def _format_uri(path: Path) -> str:
    return f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
