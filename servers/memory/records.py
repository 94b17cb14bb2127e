"""The memories in SQLite: entries by user, part of the memory, and key."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ..common.connections import close_with
from ..common.errors import CannotStart

Part: TypeAlias = Literal["core", "archival", "summary"]
"""Which part of a user's memory: the small one, the large one, or the one text."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL, part TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, vector BLOB,
    UNIQUE (user, part, key)
)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is remembered."""

    key: str
    """Its name; where entries are numbered, the number."""
    text: str
    """What was told."""
    vector: bytes
    """Its embedding; empty where there is none."""


class Records:
    """All memories; use it from one thread.

    Every change is written before the call that makes it returns.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Open the memories in ``file``, or empty ones that are gone with the object.

        Raises:
            CannotStart: the file is something else, or cannot be written.
        """
        try:
            self._connection = sqlite3.connect(file or ":memory:", isolation_level=None)
            close_with(self, self._connection)
            self._connection.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise CannotStart(f"{file} cannot be used as a memory: {error}") from error

    def entries(self, user: str, part: Part) -> list[Entry]:
        """Return what a user's memory holds, in the order in which it came."""
        statement = (
            "SELECT key, text, vector FROM entries WHERE user = ? AND part = ? ORDER BY number"
        )
        rows = self._connection.execute(statement, (user, part))
        return [Entry(key, text, vector or b"") for key, text, vector in rows]

    def text(self, user: str, part: Part, key: str) -> str | None:
        """Return what stands under a key."""
        statement = "SELECT text FROM entries WHERE user = ? AND part = ? AND key = ?"
        row = self._connection.execute(statement, (user, part, key)).fetchone()
        return None if row is None else str(row[0])

    def put(self, user: str, part: Part, key: str, text: str, vector: bytes | None = None) -> None:
        """Write ``text`` under a key, over what stood there; it keeps its place in the order."""
        statement = (
            "INSERT INTO entries (user, part, key, text, vector) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (user, part, key) DO UPDATE SET text = excluded.text, vector = "
            "excluded.vector"
        )
        self._connection.execute(statement, (user, part, key, text, vector))

    def remove(self, user: str, part: Part, key: str) -> bool:
        """Remove what stands under a key; return whether there was anything."""
        statement = "DELETE FROM entries WHERE user = ? AND part = ? AND key = ?"
        return self._connection.execute(statement, (user, part, key)).rowcount > 0

    def clear(self, user: str, part: Part) -> None:
        """Remove everything from a part of a user's memory."""
        self._connection.execute("DELETE FROM entries WHERE user = ? AND part = ?", (user, part))
