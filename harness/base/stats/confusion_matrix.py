"""Confusion matrix: counts, rates and F1, by class and averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

Cell: TypeAlias = tuple[str, str]
"""(expected class, predicted class)."""


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """How often each expected class got each prediction."""

    counts: Mapping[Cell, int]
    """Cell → count; cells that never happened are left out."""

    @classmethod
    def from_cells(cls, cells: Iterable[Cell]) -> ConfusionMatrix:
        """Count ``cells``."""
        counts: dict[Cell, int] = {}
        for cell in cells:
            counts[cell] = counts.get(cell, 0) + 1
        return cls(counts)

    @property
    def expected_classes(self) -> tuple[str, ...]:
        """Every expected class, in the order of its first occurrence."""
        return tuple(dict.fromkeys(wanted for wanted, _ in self.counts))

    @property
    def predicted_classes(self) -> tuple[str, ...]:
        """Every predicted class; the expected ones come first."""
        return tuple(dict.fromkeys([*self.expected_classes, *(found for _, found in self.counts)]))

    def compute_rate(self, wanted: str, found: str) -> float | None:
        """Return P(predicted = ``found`` | expected = ``wanted``); ``None`` if never expected."""
        total = sum(count for (row, _), count in self.counts.items() if row == wanted)
        return self.counts.get((wanted, found), 0) / total if total else None

    def compute_f1(self, name: str) -> float | None:
        """Return 2·TP/(2·TP + FP + FN) of a class; ``None`` if it never occurs.

        Source: van Rijsbergen 1979.
        """
        hits = self.counts.get((name, name), 0)
        row = sum(count for (wanted, _), count in self.counts.items() if wanted == name)
        column = sum(count for (_, found), count in self.counts.items() if found == name)
        return 2 * hits / (row + column) if row + column else None

    @property
    def macro_f1(self) -> float | None:
        """The mean of F1 over the expected classes; ``None`` if there is none.

        Each class has the same weight, however often it was expected. A class that was predicted
        but never expected has no F1 of its own: it lowers those of the classes it was predicted
        for.
        """
        scores = [
            score for name in self.expected_classes if (score := self.compute_f1(name)) is not None
        ]
        return fmean(scores) if scores else None
