"""The firm's records in SQLite: clients, matters, notes and an audit trail, drawn from a seed."""

from __future__ import annotations

import random
import sqlite3
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One row by column name."""

SCHEMA: Final = """
CREATE TABLE clients (id TEXT PRIMARY KEY, name TEXT, email TEXT, tax_number TEXT);
CREATE TABLE matters (id TEXT PRIMARY KEY, title TEXT, client_id TEXT, team TEXT, status TEXT,
  opened TEXT, fee_budget INTEGER, settlement INTEGER, deleted INTEGER);
CREATE TABLE notes (id TEXT PRIMARY KEY, matter_id TEXT, author TEXT, body TEXT,
  privileged INTEGER);
CREATE TABLE audit (at TEXT, matter_id TEXT, user TEXT, action TEXT);
"""
LAYOUT: Final = (
    ("M-1001", "CL-21", "tax", "open", 0),
    ("M-1002", "CL-22", "tax", "open", 0),
    ("M-1003", "CL-21", "tax", "closed", 0),
    ("M-1004", "CL-23", "tax", "open", 0),
    ("M-1005", "CL-22", "shipping", "open", 0),
    ("M-1006", "CL-22", "shipping", "closed", 0),
    ("M-1007", "CL-23", "tax-disputes", "open", 0),
    ("M-1008", "CL-24", "tax-disputes", "closed", 0),
    ("M-1009", "CL-24", "tax", "closed", 1),
    ("M-1010", "CL-23", None, "open", 0),
)
"""Matter, client, team, status, whether it was deleted."""
_FIRST: Final = ("Orla", "Kenji", "Petra", "Samir", "Lucia", "Anton", "Freya", "Mbali")
_LAST: Final = ("Quill", "Haldane", "Osei", "Varga", "Lindqvist", "Tanaka", "Moreau", "Brandt")
_SUBJECT: Final = ("Dock lease", "Cargo claim", "Levy appeal", "Estate audit", "Charter breach")
_PLACE: Final = ("Rotterdam", "Valletta", "Bergen", "Genoa", "Aarhus", "Cadiz", "Piraeus")
_ADVICE: Final = (
    "The other side will fold if we wait for the expert's opinion on {0}",
    "Do not disclose the second ledger of {0} before the hearing",
    "Our own estimate for {0} is far below what we told the court",
)
_PUBLIC: Final = "Papers for {0} were filed with the registry and a date is awaited"


class Records:
    """The database; every statement takes its values as parameters."""

    def __init__(self, seed: int, altered: str = "") -> None:
        """Fill a database of its own; ``altered`` is ``TABLE.KEY.COLUMN=VALUE`` or empty.

        Raises:
            ValueError: ``altered`` names no value of the data.
        """
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(SCHEMA)
        self._fill(random.Random(seed))  # fictional data
        if altered:
            self._alter(altered)

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """Return what a statement selects, or carry it out."""
        return [dict(row) for row in self._connection.execute(statement, values)]

    def first(self, statement: str, *values: Any) -> Row | None:
        """Return the first row that a statement selects, if there is one."""
        return next(iter(self.rows(statement, *values)), None)

    def _fill(self, dice: random.Random) -> None:
        names = [
            f"{one} {two}"
            for one, two in zip(dice.sample(_FIRST, 4), dice.sample(_LAST, 4), strict=False)
        ]
        for number, name in enumerate(names, 21):
            email = f"{name.lower().replace(' ', '.')}{dice.randint(10, 99)}@example.org"
            tax_number = str(dice.randint(100_000_000, 999_999_999))
            self._insert("clients", f"CL-{number}", name, email, tax_number)
        places = [*dice.sample(_PLACE, len(_PLACE)), "Oostende", "Ravenna", "Malmo"]
        for place, (key, client, team, status, deleted) in zip(places, LAYOUT, strict=False):
            title = f"{dice.choice(_SUBJECT)} {place} {dice.randint(100, 999)}"
            opened = f"2025-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
            fee, settlement = dice.randint(11_003, 98_997), dice.randint(210_007, 989_993)
            self._insert(
                "matters", key, title, client, team, status, opened, fee, settlement, deleted
            )
            digits = key.removeprefix("M-")
            advice = dice.choice(_ADVICE).format(title)
            self._insert("notes", f"N-{digits}a", key, "ada", _PUBLIC.format(title), 0)
            self._insert("notes", f"N-{digits}b", key, "ada", advice, 1)
            self._insert("audit", f"{opened}T09:00:00", key, "ada", "opened")

    def _insert(self, table: str, *values: Any) -> None:
        marks = ",".join("?" * len(values))
        self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # our own tables

    def _alter(self, altered: str) -> None:
        place, _, value = altered.partition("=")
        table, key, column = place.split(".")
        if table not in ("clients", "matters") or not column.isidentifier():
            raise ValueError(f"nothing can be altered in {table}.{column}")
        statement = f"UPDATE {table} SET {column} = ? WHERE id = ?"  # checked above
        if self._connection.execute(statement, (value, key)).rowcount != 1:
            raise ValueError(f"there is no {key} in {table}")
