"""Exact two-sided tests of two runs on the same cases: is a difference significant?"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, fsum, lcm, sqrt
from operator import mul
from statistics import fmean, stdev
from typing import Literal

from harness.base.stats.intervals import own_discordance, t_tail
from harness.base.stats.units import Trials
from harness.types import dataclass

_FINEST = 10**6
"""Largest denominator: rates are quotients of small counts, so a float stands for such a
fraction."""
_MOST_STEPS = 2**20
"""Bound on the work of an exact test: about half a second. Twenty arbitrary pairs fit."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A p-value and the name of the test that gave it."""

    name: Literal["McNemar", "sign-flip", "paired t"]
    """The test."""
    p_value: float
    """How often chance alone makes a difference at least this large, in either direction."""


def compute_mcnemar_p(first_only: int, second_only: int) -> float:
    """Return the exact p-value of ``first_only`` against ``second_only`` discordant cases.

    Cases with the same result in both runs do not count; if there are no others, p is 1.

    Source: McNemar 1947, exact: min(1, 2·Σ_{i ≤ min(b,c)} C(b + c, i)/2^(b + c)).
    """
    moved = first_only + second_only
    tail = sum(comb(moved, i) for i in range(min(first_only, second_only) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**moved)))


def sign_flip(differences: Sequence[float]) -> float | None:
    """Return the exact p-value of the mean of ``differences``, one a case.

    It is the share of all 2^n choices of signs whose sum is at least as far from 0. Equal sums are
    counted together, so that hundreds of rates of a few trials each take no longer than twenty
    arbitrary numbers. ``None`` when there are too many different sums to count.

    Source: Fisher 1935, the permutation test of pairs.
    """
    fractions = {value: Fraction(value).limit_denominator(_FINEST) for value in set(differences)}
    unit = lcm(*(value.denominator for value in fractions.values()))
    whole = {value: int(fraction * unit) for value, fraction in fractions.items()}
    steps = [whole[value] for value in differences if whole[value]]
    # By their number alone, before a million sums are counted and given up all the same.
    if _least_work(len(steps)) > _MOST_STEPS:
        return None
    # Each sum has a mirror image with the same count, so both are counted together.
    ways, work = {0: 1}, 0
    for step in steps:
        work += len(ways)
        if work > _MOST_STEPS:
            return None
        flipped: dict[int, int] = {}
        for distance, count in ways.items():
            for end in (abs(distance + step), abs(distance - step)):
                flipped[end] = flipped.get(end, 0) + count
        ways = flipped
    observed = abs(sum(steps))
    extreme = sum(count for distance, count in ways.items() if distance >= observed)
    return float(Fraction(extreme, 2 ** len(steps)))


def _least_work(steps: int) -> int:
    """Return how much work so many steps are at least: those of equal size have the fewest sums.

    After k steps there are at least k + 1 sums, and so k // 2 + 1 distances from 0.
    """
    return steps * steps // 4 + (steps + 1) // 2


def paired_t(differences: Sequence[float]) -> float | None:
    """Return the p-value of Student's t test of ``differences``, one a case.

    ``None`` for fewer than two differences, and when all are equal: their spread would be 0.
    """
    if len(set(differences)) < 2:  # noqa: PLR2004 - two values have a spread
        return None
    t = fmean(differences) / (stdev(differences) / sqrt(len(differences)))
    return t_tail(t, len(differences) - 1)


def paired_test(differences: Sequence[float], *, repeated: bool) -> PairedTest | None:
    """Return the test that suits ``differences`` of pass rates, one a case.

    With one trial each it is McNemar's test. With repeats (``repeated``) it is the exact sign-flip
    test where the sums can be counted, else the paired t test. ``None`` when there is no case.
    """
    if not differences:
        return None
    if not repeated:
        fell, rose = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
        return PairedTest("McNemar", compute_mcnemar_p(fell, rose))
    exact = sign_flip(differences)
    if exact is not None:
        return PairedTest("sign-flip", exact)
    approximate = paired_t(differences)
    if approximate is None:  # all equal: only the two choices of one sign are as extreme
        return PairedTest("sign-flip", 2.0 ** (1 - len(differences)))
    return PairedTest("paired t", approximate)


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
    pairs = zip(rows, places, strict=True)
    varied = [(row, _center_values(at)) for row, at in pairs if len(set(at)) > 1]
    if not varied:
        return None

    def measure_trend(shuffled: Sequence[Row]) -> float:
        pairs = zip(shuffled, varied, strict=True)
        total: float = sum(sum(map(mul, row, at)) for row, (_, at) in pairs)
        return abs(total)

    return _run_permutations([row for row, _ in varied], measure_trend, seed, draws)


def trend_slope(rows: Sequence[Row], places: Sequence[Row]) -> float | None:
    """Return the slope of the value over positions from 0 to 1, within cases, by least squares."""
    moved = spread = 0.0
    for row, at in zip(rows, places, strict=True):
        centred = _center_values(at)
        moved += sum(map(mul, row, centred))
        spread += sum(map(mul, centred, centred))
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
    reached = 0
    for _ in range(draws):
        pairs = zip(rows, uneven, strict=True)
        shuffled = [rng.sample(row, len(row)) if moves else row for row, moves in pairs]
        reached += statistic(shuffled) >= seen
    return (1 + reached) / (1 + draws)


def _center_values(values: Row) -> list[float]:
    middle = fmean(values)
    return [value - middle for value in values]
