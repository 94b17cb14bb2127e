"""The last result of each trial of a log on disk: a sequence that reads them when asked for."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import eq
from pathlib import Path
from typing import Any, TypeVar, overload

from harness.runlog.interning import ResultPacker, pack_value, unpack_value
from harness.runlog.on_disk.temporary_database import explain_full_disk, nameless_database
from harness.types import TrialResult

_T = TypeVar("_T")
_AT_ONCE = 500
"""Results that are read from the file at a time."""
_TABLE = "CREATE TABLE results (seq INTEGER PRIMARY KEY, key BLOB UNIQUE, at INTEGER, result BLOB)"
_PUT = (
    "INSERT INTO results (key, at, result) VALUES (:key, :at, :result) "
    "ON CONFLICT (key) DO UPDATE SET at = :at, result = :result"
)


class FileSequence(Sequence[TrialResult]):  # noqa: PLW1641 - like a list, it has no hash
    """A sequence that reads each result when it is asked for."""

    __slots__ = ()

    @abstractmethod
    def read_at(self, place: int) -> TrialResult:
        """Return the result at ``place``, from 0 on, which there is."""

    @overload
    def __getitem__(self, place: int) -> TrialResult: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TrialResult]: ...
    def __getitem__(self, place: int | slice) -> TrialResult | Sequence[TrialResult]:
        """Return one result; several are read at once."""
        # `range` knows what negative places and slices mean, and raises for those beyond the end.
        found = range(len(self))[place]
        if isinstance(found, range):
            return tuple(map(self.read_at, found))
        return self.read_at(found)

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` is a sequence of equal results, wherever it has them."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))


class LatestResults(FileSequence):
    """The last result of each trial, in the order in which they were first put."""

    def __init__(self, folder: Path) -> None:
        """Start without any result; they are kept in ``folder``, if it can be written to."""
        self.folder = folder
        self._db = nameless_database(folder, _TABLE)
        weakref.finalize(self, self._db.close)
        self.packing = ResultPacker()
        """Knows the cases of the results."""
        # Counted here, because SQLite walks through a table to count it.
        self._number = 0

    def put(self, result: TrialResult, at: int) -> None:
        """Keep ``result``, whose line is ``at``, in the place of an earlier one of its trial."""
        data = pack_value(self.packing.pack_row(result))
        values = {"key": _encode_key(result.key), "at": at, "result": data}
        with explain_full_disk(self.folder):
            # Asked first, because an upsert does not say whether the row was there.
            self._number += result.key not in self.offsets
            self._db.execute(_PUT, values)

    def drop(self, key: str) -> None:
        """Forget the result of the trial with that key."""
        with explain_full_disk(self.folder):
            dropped = self._db.execute("DELETE FROM results WHERE key = ?", (_encode_key(key),))
            self._number -= dropped.rowcount

    @property
    def offsets(self) -> Mapping[str, int]:
        """Key of a trial → where its line begins in the log."""
        return _KeyMapping(self, "at", int)

    @property
    def results_by_key(self) -> Mapping[str, TrialResult]:
        """Key of a trial → its result."""
        return _KeyMapping(self, "result", self.unpack_result)

    def read_column(self, name: str, key: str) -> Any:
        """Return a column of the row of the trial with that key; ``None`` if it has no result."""
        found = self._db.execute(
            f"SELECT {name} FROM results WHERE key = ?",  # noqa: S608 - our own names
            (_encode_key(key),),
        ).fetchone()
        return None if found is None else found[0]

    def unpack_result(self, data: bytes) -> TrialResult:
        """Return the result in a row."""
        return self.packing.unpack_row(unpack_value(data))

    def __len__(self) -> int:
        """Return their number."""
        return self._number

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each result, in their order."""
        last = -1
        while rows := self._db.execute(
            "SELECT seq, result FROM results WHERE seq > ? ORDER BY seq LIMIT ?", (last, _AT_ONCE)
        ).fetchall():
            last = rows[-1][0]
            yield from (self.unpack_result(data) for _, data in rows)

    def read_at(self, place: int) -> TrialResult:
        """Return the result at ``place``."""
        (data,) = self._db.execute(
            "SELECT result FROM results ORDER BY seq LIMIT 1 OFFSET ?", (place,)
        ).fetchone()
        return self.unpack_result(data)


class _KeyMapping(Mapping[str, _T]):
    """What `LatestResults` knows of each trial, by its key."""

    def __init__(self, results: LatestResults, column: str, read: Callable[[Any], _T]) -> None:
        self._results = results
        self._column = column
        self._read = read

    def __getitem__(self, key: str) -> _T:
        found = self._results.read_column(self._column, key)
        if found is None:
            raise KeyError(key)
        return self._read(found)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._results.read_column("at", key) is not None

    def __iter__(self) -> Iterator[str]:
        return (result.key for result in self._results)

    def __len__(self) -> int:
        return len(self._results)


def _encode_key(key: str) -> bytes:
    """Return ``key``, which a log may have made of anything, as SQLite takes it."""
    return key.encode("utf-8", "surrogatepass")
