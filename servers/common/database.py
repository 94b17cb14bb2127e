"""SQLite held in memory: every statement a constant, every value a parameter.

A filter that was not given is null, and ``:x IS NULL OR …`` lets all rows pass.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from .connections import close_with

Row: TypeAlias = dict[str, Any]
"""One row by column name."""


class MemoryDatabase:
    """A database of its own, gone with the object; use it from one thread.

    Statements may use ``holds(whole, part)`` and ``same(one, other)``, which ignore case and
    accents.
    """

    def __init__(
        self,
        schema: str,
        tables: Mapping[str, Iterable[tuple[Any, ...]]],
        functions: Mapping[str, Callable[[str, str], bool]] | None = None,
    ) -> None:
        """Create the tables of ``schema`` and fill each with its rows, in the order of its columns.

        ``functions`` are further ones of two arguments that statements may use, by name.
        """
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        close_with(self, self._connection)
        self._connection.row_factory = sqlite3.Row
        for name, function in {"holds": _holds, "same": _same, **(functions or {})}.items():
            self._connection.create_function(name, 2, function, deterministic=True)
        self._connection.executescript(schema)
        with self._connection:
            self._connection.execute("BEGIN")
            for table, rows in tables.items():
                self._fill(table, list(rows))
        self._connection.execute("PRAGMA foreign_keys = ON")

    def rows(self, statement: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """Return what a statement selects."""
        return [dict(row) for row in self._connection.execute(statement, values or {})]

    def row(self, statement: str, values: Mapping[str, Any] | None = None) -> Row | None:
        """Return the first row that a statement selects, if there is one."""
        return next(iter(self.rows(statement, values)), None)

    def page(self, statement: str, values: Mapping[str, Any], limit: int) -> tuple[int, list[Row]]:
        """Return the column ``matches`` and the first rows of a statement with a ``:limit``."""
        rows = self.rows(statement, {**values, "limit": limit})
        return (rows[0]["matches"] if rows else 0), rows

    def change(self, statement: str, values: Mapping[str, Any]) -> int:
        """Carry out a statement that writes; return how many rows it touched."""
        return self._connection.execute(statement, values).rowcount

    def alter(self, table: str, key: str, column: str, value: str) -> bool:
        """Set one column of the row whose primary key is ``key``; return whether that changed it.

        Unknown names change nothing.
        """
        columns = {
            str(row["name"]): int(row["pk"])
            for row in self.rows("SELECT name, pk FROM pragma_table_info(:table)", {"table": table})
        }
        keys = [name for name, place in columns.items() if place]
        if column not in columns or column in keys or len(keys) != 1:
            return False
        # The names are those of our own tables, looked up above.
        named = f"UPDATE {table} SET {column} = :value WHERE {keys[0]} = :key"  # noqa: S608
        statement = f"{named} AND {column} <> :value"
        return self.change(statement, {"value": value, "key": key}) == 1

    def _fill(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        marks = ",".join("?" * len(rows[0]))
        self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608  # our own table's name


def fold(text: str) -> str:
    """Return ``text`` without case and accents: *José* is *jose*."""
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text.casefold())
        if not unicodedata.combining(letter)
    )


def _holds(whole: str, part: str) -> bool:
    """Return whether ``part`` stands in ``whole``; unlike in LIKE, nothing in it is a wildcard."""
    return fold(part) in fold(whole)


def _same(one: str, other: str) -> bool:
    return fold(one) == fold(other.strip())
