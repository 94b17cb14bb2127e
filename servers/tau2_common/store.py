"""A domain's documents in SQLite: found by id, in the order of the file, reset at once.

Everything after loading happens inside one transaction that is never committed, so that
`Store.reset` undoes it in the time that the changes took, and a process serves hundreds of trials.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..common.connections import close_with

Record: TypeAlias = dict[str, Any]
"""One document: JSON values under string keys."""

_TABLE: Final = """
CREATE TABLE {name} (
  place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
  sorted TEXT NOT NULL{columns})
"""
_COLUMN: Final = ", {column} TEXT GENERATED ALWAYS AS (json_extract(document, '$.{column}'))"
_PUT: Final = """
INSERT INTO {name} (id, document, sorted) VALUES (:id, :document, :sorted)
ON CONFLICT (id) DO UPDATE SET document = :document, sorted = :sorted
"""


class Store:
    """Collections of documents; use it from one thread.

    Every document is kept twice, as it is printed and with sorted keys: of the latter the digest is
    made.
    """

    def __init__(
        self,
        collections: Mapping[str, Mapping[str, Record]],
        indexed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Load ``collections`` (name → id → document).

        The fields ``indexed`` of each can be asked for in `find`.
        """
        self._names = sorted(collections)
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        close_with(self, self._connection)
        self._connection.execute("BEGIN")
        for name, documents in collections.items():
            self._create(name, (indexed or {}).get(name, ()))
            self._connection.executemany(
                _PUT.format(name=name), [_row(key, document) for key, document in documents.items()]
            )
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN")

    def get(self, collection: str, key: Any) -> Record | None:
        """Return a copy of the document of that id, or ``None``. Only a text is ever an id.

        Raises:
            TypeError: ``key`` is a list or an object, which no dictionary would look up either.
        """
        hash(key)
        if not isinstance(key, str) or not _is_unicode(key):
            return None
        found = self._connection.execute(
            f"SELECT document FROM {collection} WHERE id = ?",  # noqa: S608  # our own table's name
            (key,),
        ).fetchone()
        return None if found is None else json.loads(found[0])

    def all(self, collection: str) -> Iterator[Record]:
        """Yield a copy of every document, in the order of the file, new ones last."""
        rows = self._connection.execute(f"SELECT document FROM {collection} ORDER BY place")  # noqa: S608  # likewise
        return (json.loads(document) for (document,) in rows)

    def find(self, collection: str, **fields: Any) -> Iterator[Record]:
        """Yield the documents whose indexed fields have these values, in the order of the file.

        ``None`` lets all values pass; what is no text is no field's value.
        """
        asked = {field: value for field, value in fields.items() if value is not None}
        if not all(isinstance(value, str) and _is_unicode(value) for value in asked.values()):
            return iter(())
        condition = " AND ".join(f"{field} = :{field}" for field in asked) or "true"
        statement = f"SELECT document FROM {collection} WHERE {condition} ORDER BY place"  # noqa: S608  # likewise
        return (
            json.loads(document)
            for (document,) in self._connection.execute(statement, asked).fetchall()
        )

    def put(self, collection: str, key: str, document: Record) -> None:
        """Store a document: in the place of the one that has this id, or as the last."""
        self._connection.execute(_PUT.format(name=collection), _row(key, document))

    def digest(self) -> str:
        """Return the SHA-256, in hex, of everything as one JSON object with sorted keys."""
        whole = hashlib.sha256()
        whole.update(b"{")
        for number, name in enumerate(self._names):
            rows = self._connection.execute(f"SELECT id, sorted FROM {name} ORDER BY id")  # noqa: S608  # likewise
            body = ", ".join(f"{json.dumps(key)}: {document}" for key, document in rows)
            whole.update(f"{', ' if number else ''}{json.dumps(name)}: {{{body}}}".encode())
        whole.update(b"}")
        return whole.hexdigest()

    def reset(self) -> None:
        """Undo every change since loading."""
        self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN")

    def _create(self, name: str, indexed: Sequence[str]) -> None:
        columns = "".join(_COLUMN.format(column=column) for column in indexed)
        self._connection.execute(_TABLE.format(name=name, columns=columns))
        if indexed:
            self._connection.execute(
                f"CREATE INDEX {name}_by_fields ON {name} ({', '.join(indexed)})"
            )


def _row(key: str, document: Record) -> dict[str, str]:
    return {
        "id": key,
        "document": json.dumps(document),
        "sorted": json.dumps(document, sort_keys=True),
    }


def _is_unicode(text: str) -> bool:
    """Whether SQLite can hold it; half a surrogate pair it cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
