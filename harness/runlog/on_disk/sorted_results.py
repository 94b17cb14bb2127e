"""Sorts results of which not all fit into memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from harness.base import iterate_batches
from harness.runlog.on_disk.result_packing import ResultPacker, pack_value, unpack_value
from harness.runlog.on_disk.temporary_database import explain_full_disk, nameless_database
from harness.types import TrialResult

Place: TypeAlias = tuple[int, int, int, int]
"""A sort key: by suite, case, model and repeat."""

_AT_ONCE = 500
"""Results that are written to the file at a time."""
_TABLE = (
    "CREATE TABLE results (suite INTEGER, case_at INTEGER, model INTEGER, repeat INTEGER, "
    # `number` keeps the order of equal places; the table is its own index.
    "number INTEGER, result BLOB, PRIMARY KEY (suite, case_at, model, repeat, number)) "
    "WITHOUT ROWID"
)
_ALL = "SELECT result FROM results ORDER BY suite, case_at, model, repeat, number"


class ResultsInOrder(Iterable[TrialResult]):
    """Results in the order of a sort key; equal ones stand in the order in which they came."""

    def __init__(
        self,
        results: Iterable[TrialResult],
        order: Callable[[TrialResult], Place],
        folder: Path,
        packing: ResultPacker,
    ) -> None:
        """Read all of ``results``; they are kept in ``folder``, if it can be written to."""
        self._packing = packing
        self._db = nameless_database(folder, _TABLE)
        weakref.finalize(self, self._db.close)
        rows = (
            (*order(result), number, pack_value(packing.pack_row(result)))
            for number, result in enumerate(results)
        )
        for batch in iterate_batches(rows, _AT_ONCE):
            with explain_full_disk(folder):
                self._db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", batch)

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield them in order."""
        for (data,) in self._db.execute(_ALL):
            yield self._packing.unpack_row(unpack_value(data))
