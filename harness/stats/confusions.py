"""Which class was taken for which: counts, rates and F1, class by class and averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

Cell: TypeAlias = tuple[str, str]
"""The class that was wanted, and the one that was found."""


@dataclass(frozen=True, slots=True)
class Confusions:
    """How often each class was taken for each."""

    counts: Mapping[Cell, int]
    """Cell → how often; cells that never happened are left out."""

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Confusions:
        """Count ``cells``."""
        counts: dict[Cell, int] = {}
        for cell in cells:
            counts[cell] = counts.get(cell, 0) + 1
        return cls(counts)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every class that was wanted, in the order in which it first was."""
        return tuple(dict.fromkeys(wanted for wanted, _ in self.counts))

    @property
    def found(self) -> tuple[str, ...]:
        """Every class that was found, those that were wanted first."""
        return tuple(dict.fromkeys([*self.wanted, *(found for _, found in self.counts)]))

    def rate(self, wanted: str, found: str) -> float | None:
        """Return P(found | wanted); ``None`` for a class that was never wanted."""
        total = sum(count for (row, _), count in self.counts.items() if row == wanted)
        return self.counts.get((wanted, found), 0) / total if total else None

    def f1(self, name: str) -> float | None:
        """Return 2·TP/(2·TP + FP + FN) of a class; ``None`` if it was never wanted nor found.

        Source: van Rijsbergen 1979.
        """
        hits = self.counts.get((name, name), 0)
        row = sum(count for (wanted, _), count in self.counts.items() if wanted == name)
        column = sum(count for (_, found), count in self.counts.items() if found == name)
        return 2 * hits / (row + column) if row + column else None

    @property
    def macro_f1(self) -> float | None:
        """The mean of F1 over the classes that were wanted; ``None`` where there is none.

        Each class counts the same, however often it was wanted. A class that was found and never
        wanted has no F1 of its own: it lowers those of the classes that it was taken for.
        """
        scores = [score for name in self.wanted if (score := self.f1(name)) is not None]
        return fmean(scores) if scores else None
