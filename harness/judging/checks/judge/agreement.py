"""How well two raters agree, beyond agreement by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two raters' labels, compared pair by pair."""

    labels: tuple[str, ...]
    """The possible labels, in the order of `confusion`."""
    confusion: tuple[tuple[int, ...], ...]
    """How often the first rater chose the label of the row and the second that of the column."""

    @property
    def total(self) -> int:
        """Number of pairs."""
        return sum(map(sum, self.confusion))

    @property
    def equal_pairs(self) -> int:
        """Number of pairs with equal labels."""
        return sum(row[place] for place, row in enumerate(self.confusion))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 is full agreement, 0 is agreement by chance, below 0 is less.

        ``None`` where it is undefined: there are no pairs, or both raters gave the same label
        throughout. Source: Cohen 1960.
        """
        total = self.total
        first = [sum(row) for row in self.confusion]
        second = [sum(column) for column in zip(*self.confusion, strict=True)]
        by_chance = sum(left * right for left, right in zip(first, second, strict=True))
        # Both would divide by zero.
        if total == 0 or by_chance == total * total:
            return None
        return float((self.equal_pairs * total - by_chance) / (total * total - by_chance))


def compare_labels(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> Agreement:
    """Compare ``(first rater's label, second rater's label)`` pairs of ``labels``."""
    counts = Counter(pairs)
    confusion = tuple(tuple(counts[row, column] for column in labels) for row in labels)
    return Agreement(labels=tuple(labels), confusion=confusion)
