"""Confidence intervals of rates and their differences, valid at 0 and 1 too; 95 % by default."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from harness.base.stats.student import t_quantile

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

Interval: TypeAlias = tuple[float, float]
"""Lower and upper bound."""


def wilson_interval(passed: float, total: float, z: float = Z95) -> Interval | None:
    """Return the Wilson interval of ``passed`` / ``total``; ``None`` if ``total`` is 0.

    Source: Wilson 1927. ``total`` may be a fraction, such as an effective number of trials; ``z``
    is the normal quantile of the level, in all functions here.
    """
    if total <= 0:
        return None
    rate, z2 = passed / total, z * z
    scale = 1 + z2 / total
    centre = (rate + z2 / (2 * total)) / scale
    half = z / scale * sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    # Exact at both ends, where rounding would leave a tiny rest.
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == total else min(1.0, centre + half)
    return low, high


def newcombe_interval(
    passed: float, total: float, other_passed: float, other_total: float, z: float = Z95
) -> Interval | None:
    """Return the interval of the first rate minus the second, of two unrelated samples.

    ``None`` when one of them is empty.

    Source: Newcombe 1998, Statistics in Medicine 17:873, method 10 (square and add, from Wilson
    intervals).
    """
    first, second = wilson_interval(passed, total, z), wilson_interval(other_passed, other_total, z)
    if first is None or second is None:
        return None
    return _square_and_add(passed / total, first, other_passed / other_total, second, 0.0)


def newcombe_paired(
    both: int, first_only: int, second_only: int, neither: int, z: float = Z95
) -> Interval | None:
    """Return the interval of the first rate minus the second, of two samples of the same cases.

    The arguments count cases: passed in both, only in the first, only in the second, in neither.
    ``None`` when there is no case.

    Source: Newcombe 1998, Statistics in Medicine 17:2635, method 10: square and add, reduced by the
    correlation of the pairs (with his continuity correction).
    """
    total = both + first_only + second_only + neither
    first, second = (
        wilson_interval(both + first_only, total, z),
        wilson_interval(both + second_only, total, z),
    )
    if first is None or second is None:
        return None
    # The correction applies to a positive correlation alone, and must not turn it negative.
    product = float(both * neither - first_only * second_only)
    if product > 0:
        product = max(product - total / 2, 0.0)
    margins = (
        (both + first_only)
        * (second_only + neither)
        * (both + second_only)
        * (first_only + neither)
    )
    correlation = product / sqrt(margins) if margins else 0.0
    return _square_and_add(
        (both + first_only) / total, first, (both + second_only) / total, second, correlation
    )


def paired_interval(differences: Sequence[float], alpha: float = 0.05) -> Interval | None:
    """Return the 1 − ``alpha`` t interval of the mean of ``differences``, one a case.

    It is cut at −1 and 1. ``None`` for fewer than two, and when all are equal: a spread of 0 cannot
    be inferred from a finite sample.
    """
    if len(set(differences)) < 2:  # noqa: PLR2004 - two values have a spread
        return None
    centre, count = fmean(differences), len(differences)
    half = t_quantile(1 - alpha / 2, count - 1) * stdev(differences) / sqrt(count)
    return max(-1.0, centre - half), min(1.0, centre + half)


def _square_and_add(
    p: float, one: Interval, q: float, two: Interval, correlation: float
) -> Interval:
    down, up = (p - one[0], two[1] - q), (one[1] - p, q - two[0])
    lower, upper = (sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b)) for a, b in (down, up))
    return p - q - lower, p - q + upper
