"""A random source with the same results on every machine, for all fictional data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

_T = TypeVar("_T")


class Dice:
    """Draws that are the same for the same seed on every machine and every Python version."""

    def __init__(self, seed: int) -> None:
        """Begin anew; equal seeds give equal draws."""
        self._random = random.Random(seed)  # noqa: S311  # not for secrets

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``."""
        # Of all its methods, only `random()` is promised to give the same numbers in every Python
        # version.
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[_T]) -> _T:
        """Return one of ``options``."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[_T, int]]) -> _T:
        """Return one of ``options``, each as often as its weight says."""
        rest = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            if rest < weight:
                return option
            rest -= weight
        raise AssertionError("the weights add up")

    def day(self, first: date, last: date) -> date:
        """Return a day from ``first`` to ``last``, both included."""
        return first + timedelta(days=self.below((last - first).days + 1))
