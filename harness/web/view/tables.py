"""The part of a run's store that its page is shown from, read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.reports import format_read_uri, read_reviews
from harness.types import Review


@dataclass(frozen=True, slots=True)
class RunView:
    """What the page shows of a run."""

    path: Path
    """The store."""

    @contextmanager
    def open_database(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that reads it, and has room for tables of its own."""
        with closing(sqlite3.connect(format_read_uri(self.path), uri=True)) as db:
            yield db

    def read_part(self, name: str) -> Any:
        """Return the part ``name``, one of those that `writing` writes."""
        return json.loads(self.read_part_json(name))

    def read_part_json(self, name: str) -> str:
        """Return it as JSON."""
        with self.open_database() as db:
            ((body,),) = db.execute('SELECT body FROM "_parts" WHERE name = ?', (name,))
        return str(body)

    def read_bodies(self) -> str:
        """Return all cells of the run, a JSON array; of a large run that is large, too."""
        with self.open_database() as db:
            found = db.execute('SELECT body FROM "_bodies" ORDER BY number')
            return f"[{','.join(body for (body,) in found)}]"

    def read_settled(self, at: int) -> str | None:
        """Return the line of the trial at ``at`` of the log as others decided it, if they did."""
        with self.open_database() as db:
            row = db.execute('SELECT line FROM "_settled" WHERE at = ?', (at,)).fetchone()
        return None if row is None else str(row[0])

    def read_reviews(self) -> Mapping[str, Review]:
        """Return what people said of the verdicts, by the key of the trial."""
        with self.open_database() as db:
            return read_reviews(db)
