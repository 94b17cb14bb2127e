"""Where results go, sorted or not: into memory or, like the others of their log, on disk."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.base import iterate_batches
from harness.runlog.interning import ResultPacker, pack_value, unpack_value
from harness.runlog.on_disk.latest_results import FileSequence, LatestResults
from harness.runlog.on_disk.temporary_database import (
    explain_full_disk,
    nameless_database,
    nameless_file,
)
from harness.types import Conversations, TrialResult

_BLOCK = 128
"""Results of a block."""
_RECENT = 4
"""Blocks that are held in memory."""


class ResultBlocks(FileSequence):
    """Results that do not change any more."""

    def __init__(self, results: Iterable[TrialResult], folder: Path, packing: ResultPacker) -> None:
        """Read all of ``results``; they are kept in ``folder``, if it can be written to."""
        self._packing = packing
        self._conversations: Conversations | None = None
        self._file = nameless_file(folder)
        self._ends = array("Q", [0])
        self._number = 0
        self._recent: tuple[tuple[int, list[TrialResult]], ...] = ()
        weakref.finalize(self, self._file.close)
        for batch in iterate_batches(results, _BLOCK):
            data = pack_value([*map(packing.pack_row, batch)])
            with explain_full_disk(folder):
                self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))
            self._number += len(batch)
        with explain_full_disk(folder):
            self._file.flush()

    def link_to(self, conversations: Conversations) -> None:
        """Set where the results read their transcripts from."""
        self._conversations = conversations
        # Results in memory may be linked to other conversations.
        self._recent = ()

    def select_places(self, *places: range) -> Sequence[TrialResult]:
        """Return those at ``places``, one range after the other."""
        return _ResultSlice(self, places)

    def iterate_range(self, places: range) -> Iterator[TrialResult]:
        """Yield those at ``places``."""
        at = places.start
        while at < places.stop:
            block, first = divmod(at, _BLOCK)
            found = self._read_block(block)[first : first + places.stop - at]
            yield from found
            at += len(found)

    def __len__(self) -> int:
        """Return their number."""
        return self._number

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each result, in their order."""
        return self.iterate_range(range(self._number))

    def read_at(self, place: int) -> TrialResult:
        """Return the result at ``place``."""
        block, at = divmod(place, _BLOCK)
        return self._read_block(block)[at]

    def _read_block(self, number: int) -> list[TrialResult]:
        for known, results in self._recent:
            if known == number:
                return results
        start, end = self._ends[number : number + 2]
        # `pread` moves no position, so several readers do not disturb each other.
        rows = unpack_value(os.pread(self._file.fileno(), end - start, start))
        results = [*map(self._packing.unpack_row, rows)]
        if self._conversations is not None:
            for result in results:
                result.link_to(self._conversations)
        self._recent = ((number, results), *self._recent[: _RECENT - 1])
        return results


class _ResultSlice(FileSequence):
    """Some of the results of `ResultBlocks`, in their order."""

    __slots__ = ("_of", "_places")  # there is one for each case

    def __init__(self, of: ResultBlocks, places: tuple[range, ...]) -> None:
        self._of = of
        self._places = places

    def __len__(self) -> int:
        """Return their number."""
        return sum(map(len, self._places))

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each result, in their order."""
        for places in self._places:
            yield from self._of.iterate_range(places)

    def read_at(self, place: int) -> TrialResult:
        """Return the result at ``place`` of them."""
        for places in self._places:
            if place < len(places):
                return self._of.read_at(places[place])
            place -= len(places)
        raise IndexError(place)


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


def sort_results(
    results: Iterable[TrialResult],
    order: Callable[[TrialResult], Place],
    like: Sequence[TrialResult],
) -> Iterable[TrialResult]:
    """Return all of ``results`` in ``order``, held where the results ``like`` these are."""
    if isinstance(like, LatestResults):
        return ResultsInOrder(results, order, like.folder, like.packing)
    return sorted(results, key=order)


def store_results(
    results: Iterable[TrialResult], like: Sequence[TrialResult]
) -> Sequence[TrialResult]:
    """Return ``results`` as a sequence, held where the results ``like`` these are."""
    if isinstance(like, LatestResults):
        return ResultBlocks(results, like.folder, like.packing)
    return tuple(results)


def index_by_key(results: Sequence[TrialResult]) -> Mapping[str, TrialResult]:
    """Return the ``results`` of a log by the keys of their trials."""
    if isinstance(results, LatestResults):
        return results.results_by_key
    return {result.key: result for result in results}
