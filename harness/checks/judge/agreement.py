"""How well two raters agree, beyond what chance alone would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two raters' labels, compared pair by pair."""

    labels: tuple[str, ...]
    """The labels that there are, in the order of `confusion`."""
    confusion: tuple[tuple[int, ...], ...]
    """How often the first rater chose the label of the row and the second that of the column."""

    @property
    def total(self) -> int:
        """Pairs."""
        return sum(map(sum, self.confusion))

    @property
    def agreed(self) -> int:
        """Pairs of equal labels."""
        return sum(row[place] for place, row in enumerate(self.confusion))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 is full agreement, 0 what chance gives, below 0 less than that.

        ``None`` where it is undefined: there is no pair, or both raters gave one and the same label
        throughout. Source: Cohen 1960.
        """
        total = self.total
        first = [sum(row) for row in self.confusion]
        second = [sum(column) for column in zip(*self.confusion, strict=True)]
        by_chance = sum(left * right for left, right in zip(first, second, strict=True))
        if total == 0 or by_chance == total * total:
            return None
        return float((self.agreed * total - by_chance) / (total * total - by_chance))


def agreement(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> Agreement:
    """Compare ``(first rater's label, second rater's label)`` pairs; every label is one of ``labels``."""
    counts = Counter(pairs)
    confusion = tuple(tuple(counts[row, column] for column in labels) for row in labels)
    return Agreement(labels=tuple(labels), confusion=confusion)
