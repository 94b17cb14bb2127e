"""Permutation tests: do the conditions under which each case was tried matter?

A *row* is one case: its value under each condition (a wording, an order of the list). If the
conditions made no difference, the values of a row could stand in any order. So each test compares
the observed statistic with that of shuffled rows. This is valid however much the cases differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, fsum
from statistics import fmean

from harness.base.stats.clusters import Trials, own_discordance

DRAWS = 1_000
"""Shuffles of all rows: enough to tell p = 0.05 from 0.06."""

Row = Sequence[float]
"""The values of one case."""


def spread_p(rows: Sequence[Row], *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the p-value of the observed spread of the means of the conditions.

    Every row has one value for each condition, in the same order. ``None`` without rows, or with
    fewer than two conditions.

    Source: Cochran 1950, the Q test, by permutation instead of its chi-squared limit.
    """
    if not rows or len(rows[0]) < 2:  # noqa: PLR2004 - one condition cannot differ
        return None

    def measure_spread(shuffled: Sequence[Row]) -> float:
        return fsum(sum(column) * sum(column) for column in zip(*shuffled, strict=True))

    return _run_permutations(rows, measure_spread, seed, draws)


def trend_p(
    rows: Sequence[Row], places: Sequence[Row], *, seed: int, draws: int = DRAWS
) -> float | None:
    """Return the two-sided p-value of the observed trend over ``places``.

    ``places`` has the position of each value. ``None`` where no row has two positions.
    """
    varied = [
        (row, _center_values(at)) for row, at in zip(rows, places, strict=True) if len(set(at)) > 1
    ]
    if not varied:
        return None

    def measure_trend(shuffled: Sequence[Row]) -> float:
        pairs = zip(shuffled, varied, strict=True)
        return abs(sum(sum(map(_multiply, row, at)) for row, (_, at) in pairs))

    return _run_permutations([row for row, _ in varied], measure_trend, seed, draws)


def trend_slope(rows: Sequence[Row], places: Sequence[Row]) -> float | None:
    """Return the slope of the value over positions from 0 to 1, within cases, by least squares."""
    moved = spread = 0.0
    for row, at in zip(rows, places, strict=True):
        centred = _center_values(at)
        moved += sum(map(_multiply, row, centred))
        spread += sum(map(_multiply, centred, centred))
    return moved / spread if spread else None


def homogeneity_p(conditions: Sequence[Trials]) -> float | None:
    """Return the exact p-value of the observed differences between one case's conditions.

    All ways to distribute the passes over the trials are counted. ``None`` where no condition has
    two trials: a difference cannot be told from chance then.

    Source: Freeman and Halton 1951, Fisher's exact test of more than two rates, ordered by the
    chi-squared statistic.
    """
    judged = [(passed, total) for passed, total in conditions if total]
    if len(judged) < 2 or all(total == 1 for _, total in judged):  # noqa: PLR2004 - as above
        return None
    # In exact fractions, since ties decide what is as extreme as what was seen.
    ways: dict[tuple[int, Fraction], int] = {(0, Fraction(0)): 1}
    for _, total in judged:
        further: dict[tuple[int, Fraction], int] = {}
        for (used, spread), count in ways.items():
            for passed in range(total + 1):
                end = used + passed, spread + Fraction(passed * passed, total)
                further[end] = further.get(end, 0) + count * comb(total, passed)
        ways = further
    passes = sum(passed for passed, _ in judged)
    seen = sum((Fraction(passed * passed) / total for passed, total in judged), Fraction(0))
    possible = {spread: count for (used, spread), count in ways.items() if used == passes}
    extreme = sum(count for spread, count in possible.items() if spread >= seen)
    return float(Fraction(extreme, sum(possible.values())))


def discordance_between(conditions: Sequence[Trials]) -> float | None:
    """Return how often two trials of one case under different conditions end differently.

    ``None`` with fewer than two judged conditions.
    """
    rates = [passed / judged for passed, judged in conditions if judged]
    pairs = [p * (1 - q) + q * (1 - p) for p, q in combinations(rates, 2)]
    return fmean(pairs) if pairs else None


def excess_discordance(cases: Sequence[Sequence[Trials]]) -> list[float]:
    """Return, for each case, how much more often trials of different conditions end differently.

    The baseline is how often two trials of the same condition do, which is chance alone. Cases
    without two judged trials of one condition are left out: chance cannot be estimated there.
    """
    found = []
    for conditions in cases:
        between, within = discordance_between(conditions), own_discordance(conditions)
        if between is not None and within is not None:
            found.append(between - within)
    return found


def _run_permutations(
    rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float], seed: int, draws: int
) -> float:
    """Return the share of shuffles (and the observed rows) with at least the observed statistic."""
    rng = random.Random(seed)  # noqa: S311 - a simulation is no secret
    # Sums in another order differ in their last digits, and equal ones must count.
    seen = statistic(rows) - 1e-9
    # To shuffle equal values changes nothing.
    uneven = [len(set(row)) > 1 for row in rows]
    if not any(uneven):
        return 1.0
    reached = sum(
        statistic(
            [
                rng.sample(row, len(row)) if moves else row
                for row, moves in zip(rows, uneven, strict=True)
            ]
        )
        >= seen
        for _ in range(draws)
    )
    return (1 + reached) / (1 + draws)


def _center_values(values: Row) -> list[float]:
    middle = fmean(values)
    return [value - middle for value in values]


def _multiply(first: float, second: float) -> float:
    return first * second
