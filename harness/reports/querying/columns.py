"""What a table of a run is made of: columns, each with the value that stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from harness.reports.record_fields import FieldKind
from harness.types import written_fields

# SQLite's integers have 64 bits.
_WIDEST = 2**63

Row = TypeVar("Row")
"""What a row is made from."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table."""

    name: str
    """Its name."""
    kind: FieldKind
    """What it holds: `BOOLEAN` is 0 or 1, `JSON` a text for SQLite's JSON functions; any column may
    hold null, which is *unknown* or *none*."""
    doc: str
    """What that is, and in which unit."""
    value: Callable[[Row], Any]
    """The value, of whatever the row is made from."""
    judged: bool = True
    """Whether the results of others, or a person, may change it later."""

    def compute_value(self, source: Row) -> Any:
        """Return the value for the row of ``source``, as SQLite takes it."""
        value = self.value(source)
        if value is None or isinstance(value, float):
            return value
        if self.kind == "JSON":
            return encode_json(value)
        if type(value) is str:
            return _replace_surrogates(value)
        # Before integers, since a bool is one in Python.
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int):
            return to_number(value)
        return _replace_surrogates(str(value))


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A table of a run."""

    name: str
    """Its name."""
    doc: str
    """What one row is."""
    columns: tuple[Column[Row], ...]
    """Its columns, all but `RUN`, which each table begins with."""
    keys: tuple[str, ...] = ()
    """Columns that rows are looked up by."""

    def build_row(self, source: Row) -> tuple[Any, ...]:
        """Return the row of ``source``."""
        return tuple(
            [column.compute_value(source) for column in self.columns]
        )  # a generator takes longer

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

    @property
    def insert_statement(self) -> str:
        """The statement that adds a row."""
        return _format_insert(self.name, len(self.columns))


@cache
def _format_insert(table: str, columns: int) -> str:
    return f'INSERT INTO "{table}" VALUES ({", ".join("?" * columns)})'  # noqa: S608


_STORED: Mapping[FieldKind, str] = {
    "TEXT": "TEXT",
    "INTEGER": "INTEGER",
    "REAL": "REAL",
    "BOOLEAN": "INTEGER",
    "JSON": "TEXT",
}

RUN: Column[Any] = Column("run", "TEXT", "Name of the run.", lambda _: None)
"""The first column of each table; it is the same in the whole file, which therefore has none."""


def to_number(value: int) -> int | float:
    """Return ``value`` as SQLite takes it."""
    return value if -_WIDEST <= value < _WIDEST else float(value)


def encode_json(value: Any) -> str:
    """Return a value of the log as JSON."""
    return _replace_surrogates(_JSON.encode(value))


def _replace_surrogates(text: str) -> str:
    """Return ``text`` with a question mark for each half of a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    return written_fields(value)


_JSON = json.JSONEncoder(ensure_ascii=False, default=_to_plain)
