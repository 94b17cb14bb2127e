"""Many looks or many tests: confidence sequences, spending of alpha, corrections of p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log, log1p, pi, sqrt

from harness.base.stats.intervals import Interval

_POINTS = 400
"""Number of candidates for the mean: they differ by half a percentage point."""
_MOST_BET = 0.5
"""Largest share of the capital in one bet, so that a gambler is never ruined."""


class ConfidenceSequence:
    """An interval of the mean of differences from −1 to 1; it narrows with each case.

    With a probability of 95 % the interval holds the true mean at all times together: somebody who
    looks after every case and stops once the interval excludes 0 is wrong in at most one study of
    twenty.

    For each candidate mean, two gamblers bet that the true mean is higher or lower, based on the
    cases so far. The interval consists of the candidates against which no gambler has reached a
    capital of 1/α.

    Source: Waudby-Smith and Ramdas 2024, JRSS B 86:1, the hedged capital process.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        """``alpha`` is the chance that the interval ever misses the mean."""
        self._alpha = alpha
        self._count = 0
        self._sum, self._squares = 0.5, 0.25  # with one imagined case in the middle
        # Each mean that is still possible, with the logarithm of the capital of those who bet on a
        # higher mean, and of those who bet on a lower one.
        self._candidates = [((index + 0.5) / _POINTS, 0.0, 0.0) for index in range(_POINTS)]
        self._low, self._high = 0.0, 1.0

    def add(self, differences: Iterable[float]) -> Interval:
        """Add further ``differences``, one a case, and return the interval."""
        for difference in differences:
            self._bet((difference + 1) / 2)
        return self.interval

    @property
    def interval(self) -> Interval:
        """Lower and upper bound of the mean difference, from all cases so far."""
        return 2 * self._low - 1, 2 * self._high - 1

    def _bet(self, value: float) -> None:
        """Let every gambler bet on ``value``, a number from 0 to 1."""
        self._count += 1
        variance = self._squares / self._count
        stake = sqrt(2 * log(2 / self._alpha) / (variance * self._count * log1p(self._count)))
        self._candidates = [
            (
                mean,
                up + log1p(min(stake, _MOST_BET / mean) * (value - mean)),
                down + log1p(-min(stake, _MOST_BET / (1 - mean)) * (value - mean)),
            )
            for mean, up, down in self._candidates
        ]
        self._sum += value
        self._squares += (value - self._sum / (self._count + 1)) ** 2
        self._narrow()

    def _narrow(self) -> None:
        """Drop the candidates against which a gambler's capital has passed the limit."""
        fortune = log(2 / self._alpha)  # each of the two gamblers began with half of the capital
        # Each candidate stands for the means up to halfway to the next.
        half = 0.5 / _POINTS
        left = [mean for mean, up, down in self._candidates if up < fortune and down < fortune]
        if left:
            self._low = max(self._low, left[0] - half)
            self._high = min(self._high, left[-1] + half)
            # The interval never widens: what lies outside is out for good. One inside may come
            # back, since its gamblers can lose again.
            self._candidates = [one for one in self._candidates if left[0] <= one[0] <= left[-1]]


def compute_allowance(look: int, *, looks: int | None = None, level: float = 0.05) -> float:
    """Return the significance level of the ``look``-th test (from 1).

    If the number of ``looks`` is known beforehand, each has an equal share. Otherwise the shares
    6/(π²·look²) decrease, so that the sum over any number of looks stays within ``level``. Both
    hold for dependent tests too: on the same cases, on rewrites made from earlier results.

    Raises:
        ValueError: ``look`` is not from 1 to ``looks``.

    Source: Bonferroni's inequality; Foster and Stine 2008 and Ramdas et al. 2017 on spending the
    error over a sequence of tests.
    """
    if look < 1 or (looks is not None and look > looks):
        raise ValueError(f"look {look} of {looks}")
    return level / looks if looks is not None else level * 6 / (pi * look) ** 2


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, which bound the chance of any false alarm: for gates.

    Source: Holm 1979.
    """
    order = _rank_ascending(p_values)
    raised = (min(1.0, (len(order) - rank) * p_values[i]) for rank, i in enumerate(order))
    return _restore_order(order, list(accumulate(raised, max)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values that bound the share of false alarms (FDR): for dashboards.

    Source: Benjamini and Hochberg 1995.
    """
    order = _rank_ascending(p_values)[::-1]
    count = len(order)
    lowered = (min(1.0, count / (count - rank) * p_values[i]) for rank, i in enumerate(order))
    return _restore_order(order, list(accumulate(lowered, min)))


def _rank_ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda i: p_values[i])


def _restore_order(order: Sequence[int], values: Sequence[float]) -> list[float]:
    adjusted = dict(zip(order, values, strict=True))
    return [adjusted[i] for i in range(len(order))]
