"""Confidence sequences: intervals that are valid at every look and at any stopping time."""

from __future__ import annotations

from collections.abc import Iterable
from math import log, log1p, sqrt

from harness.stats.intervals import Interval

_POINTS = 400
"""Candidates for the mean: differences are told apart to half a percentage point."""
_MOST_BET = 0.5
"""Largest share of the capital that is bet: a gambler is never ruined."""


class ConfidenceSequence:
    """An interval of the mean of differences from −1 to 1, one a case; it narrows with each.

    At any time, and at all times together, the interval holds the true mean with 95 %: whoever
    looks after every case and stops when it leaves 0 is wrong in at most one study of twenty.

    For each candidate mean a gambler bets on and against it, by what the cases before showed; the
    candidates against which nobody has made a fortune of 1/α are the interval.

    Source: Waudby-Smith and Ramdas 2024, JRSS B 86:1, the hedged capital process.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        """``alpha`` is the chance that it ever misses the mean."""
        self._alpha = alpha
        self._count = 0
        self._sum, self._squares = 0.5, 0.25  # of one imagined case in the middle
        self._candidates = [(index + 0.5) / _POINTS for index in range(_POINTS)]
        self._up = [0.0] * _POINTS  # logarithm of the capital of those who bet on more
        self._down = [0.0] * _POINTS
        self._low, self._high = 0.0, 1.0

    def add(self, differences: Iterable[float]) -> Interval:
        """Take further ``differences`` and return the interval."""
        for difference in differences:
            self._bet((difference + 1) / 2)
        return self.interval

    @property
    def interval(self) -> Interval:
        """Lower and upper bound of the mean difference, from all that was taken so far."""
        return 2 * self._low - 1, 2 * self._high - 1

    def _bet(self, value: float) -> None:
        """Let every gambler bet on ``value``, which is from 0 to 1."""
        self._count += 1
        variance = self._squares / self._count
        stake = sqrt(2 * log(2 / self._alpha) / (variance * self._count * log1p(self._count)))
        for index, mean in enumerate(self._candidates):
            self._up[index] += log1p(min(stake, _MOST_BET / mean) * (value - mean))
            self._down[index] += log1p(-min(stake, _MOST_BET / (1 - mean)) * (value - mean))
        self._sum += value
        self._squares += (value - self._sum / (self._count + 1)) ** 2
        self._narrow()

    def _narrow(self) -> None:
        """Drop the candidates against which a gambler's capital has passed the limit."""
        fortune = log(2 / self._alpha)  # each of the two gamblers began with half of the capital
        half = 0.5 / _POINTS
        left = [
            mean
            for mean, up, down in zip(self._candidates, self._up, self._down, strict=True)
            if max(up, down) < fortune and self._low <= mean <= self._high
        ]
        if left:
            self._low = max(self._low, left[0] - half)
            self._high = min(self._high, left[-1] + half)
