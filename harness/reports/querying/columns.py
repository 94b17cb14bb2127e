"""What a table of a run is made of: columns, each with the value that stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from harness.reports.record_fields import FieldKind
from harness.suites import AXES
from harness.types import dataclass, written_fields

# SQLite's integers have 64 bits.
_WIDEST = 2**63

ENTRANT = " || ".join(["model", *(f"coalesce('+' || \"{axis.name}\", '')" for axis in AXES)])
"""What gives the name of a trial's entrant in SQL: `HasEntrant.entrant`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    kind: FieldKind
    """What it holds: `BOOLEAN` is 0 or 1, `JSON` a text for SQLite's JSON functions; any column may
    hold null, which is *unknown* or *none*."""
    name: str
    """Its name."""
    doc: str
    """What that is, and in which unit."""
    path: str = ""
    """Where its value is in what a row is made from: names, with dots between them; by default
    there is a thing of the column's name."""
    judged: bool = True
    """Whether the results of others, or a person, may change it later."""


TEXT, INTEGER, REAL, BOOLEAN, JSON = (
    partial(Column, kind) for kind in ("TEXT", "INTEGER", "REAL", "BOOLEAN", "JSON")
)


@dataclass(frozen=True)
class Table:
    """A table of a run."""

    name: str
    """Its name."""
    doc: str
    """What one row is."""
    columns: tuple[Column, ...]
    """Its columns, all but `RUN`, which each table begins with."""
    keys: tuple[str, ...] = ()
    """Columns that rows are looked up by."""

    def build_row(self, **things: Any) -> tuple[Any, ...]:
        """Return the row of the ``things`` that the columns name."""
        row = list(self._get_values(SimpleNamespace(**things)))
        for place in self._places_of_json:
            if row[place] is not None:
                row[place] = _JSON.encode(row[place])
        # A generator takes longer, and so does a call for each value: a run does this while it goes
        # on.
        return tuple([one if type(one) in _AS_IT_IS else _to_stored(one) for one in row])

    @cached_property
    def _get_values(self) -> Callable[[Any], tuple[Any, ...]]:
        return attrgetter(*(column.path or column.name for column in self.columns))

    @cached_property
    def _places_of_json(self) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column.kind == "JSON"]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of its columns, `RUN` first."""
        return (RUN.name, *(column.name for column in self.columns))

    @property
    def create_statements(self) -> tuple[str, ...]:
        """The statements that create it."""
        columns = ", ".join(f'"{column.name}" {_STORED[column.kind]}' for column in self.columns)
        return (
            f'CREATE TABLE "{self.name}" ({columns})',
            *(
                f'CREATE INDEX "{self.name} by {key}" ON "{self.name}" ("{key}")'
                for key in self.keys
            ),
        )

    @cached_property
    def insert_statement(self) -> str:
        """The statement that adds a row."""
        return f'INSERT INTO "{self.name}" VALUES ({", ".join("?" * len(self.columns))})'  # noqa: S608


_STORED: Mapping[FieldKind, str] = {
    "TEXT": "TEXT",
    "INTEGER": "INTEGER",
    "REAL": "REAL",
    "BOOLEAN": "INTEGER",
    "JSON": "TEXT",
}

RUN = TEXT("run", "Name of the run.")
"""The first column of each table; it is the same in the whole file, which therefore has none."""


_AS_IT_IS = frozenset({type(None), float, bool})
"""Types that SQLite takes."""


def _to_stored(value: Any) -> Any:
    """Return ``value`` as SQLite takes it."""
    return to_number(value) if isinstance(value, int) else replace_surrogates(str(value))


def to_number(value: int) -> int | float:
    """Return ``value`` as SQLite takes it."""
    return value if -_WIDEST <= value < _WIDEST else float(value)


def replace_surrogates(text: str) -> str:
    """Return ``text`` with a question mark for each half of a surrogate pair: SQLite's is UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    return written_fields(value)


_JSON = json.JSONEncoder(ensure_ascii=False, default=_to_plain)
