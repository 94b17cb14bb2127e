"""Exact two-sided tests of two runs on the same cases: is a difference significant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm, sqrt
from statistics import fmean, stdev
from typing import Literal

from harness.base.stats.student import t_tail

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
        return PairedTest(
            "McNemar",
            compute_mcnemar_p(sum(d < 0 for d in differences), sum(d > 0 for d in differences)),
        )
    exact = sign_flip(differences)
    if exact is not None:
        return PairedTest("sign-flip", exact)
    approximate = paired_t(differences)
    if approximate is None:  # all equal: only the two choices of one sign are as extreme
        return PairedTest("sign-flip", 2.0 ** (1 - len(differences)))
    return PairedTest("paired t", approximate)
