"""The base of sequences of results that are read from a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from operator import eq
from typing import overload

from harness.types import TrialResult


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
