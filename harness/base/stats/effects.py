"""Effects of a change on the same cases: the difference, its interval, its test, and a verdict.

A *pair* is one case on both sides: the trials that passed and those that were judged, before and
after. Everything is computed over cases, however many trials each has.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from math import sqrt
from statistics import NormalDist, correlation, fmean, harmonic_mean
from typing import Literal, TypeAlias

from harness.base.stats.intervals import (
    Interval,
    effective_trials,
    newcombe_interval,
    newcombe_paired,
    paired_interval,
    rate_interval,
)
from harness.base.stats.paired_tests import PairedTest, paired_test
from harness.base.stats.power import cases_needed, estimate_spread, smallest_difference
from harness.base.stats.sequences import adjust_by_holm
from harness.base.stats.units import Trials, merge_row, merge_trials
from harness.types import dataclass

LEVEL = 0.05
"""The chance of any false alarm, over all effects that are reported together."""
MARGIN = 0.05
"""Default margin of equivalence: sides that differ by less are equivalent."""

Pair: TypeAlias = tuple[Trials, Trials]
"""One case before and after, each as (trials that passed, trials that were judged)."""

Evidence: TypeAlias = Literal["better", "worse", "equivalent", "undecided"]
"""The verdict over all cases, by a test and never by overlapping intervals.

``equivalent``: no difference was found, and the 95 % interval lies within the margin that was set
beforehand. ``undecided``: neither a difference nor equivalence is shown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEffect:
    """The difference that a change made, over the cases that were judged on both sides."""

    pairs: int
    """Cases that were judged on both sides; at least one."""
    before: float
    """Mean pass rate over these cases, before."""
    after: float
    """Mean pass rate over these cases, after."""
    interval: Interval
    """95 % interval of the difference, after minus before."""
    interval_method: str
    """Name of the interval's method."""
    test: PairedTest
    """The test of this difference alone."""
    p_adjusted: float
    """The p-value after Holm's correction for all effects that are reported together."""
    smallest: float | None
    """The smallest true difference that this number of cases detects with a power of 80 %; ``None``
    when not even a change of every case would be evidence."""
    verdict: Evidence
    """Better, worse, equivalent or undecided."""
    cases_to_decide: int | None
    """Cases that would probably decide between a difference of the margin and equivalence; ``None``
    where it is decided."""

    @property
    def difference(self) -> float:
        """Mean pass rate after minus before."""
        return self.after - self.before


def select_judged(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with a judged trial on both sides: the others carry no information."""
    return [pair for pair in pairs if pair[0][1] and pair[1][1]]


def merge_pair(levels: Sequence[Pair]) -> Pair:
    """Return the pair of a case that is asked in several ways, see `merge_row`."""
    before, after = merge_row(levels)
    return before, after


def paired_effects(
    groups: Sequence[Sequence[Pair]], *, margin: float = MARGIN, level: float = LEVEL
) -> list[PairedEffect | None]:
    """Return the effect on each group of pairs, with Holm's correction over all of them.

    Cases without a judged trial on a side are left out; an effect without a remaining case is
    ``None``.

    Args:
        groups: The pairs of each effect: one group for each part of a study, say.
        margin: Margin of equivalence, as a rate: within it two sides count as equivalent.
        level: The chance that any of the verdicts better or worse is false.
    """
    kept = [select_judged(group) for group in groups]
    tests = [paired_test(_list_moves(one), repeated=_has_repeats(one)) for one in kept]
    made = [test for test in tests if test is not None]
    adjusted = iter(adjust_by_holm([test.p_value for test in made]))
    # Holm's strictest level: which of the effects has to meet it is not known beforehand.
    alpha = level / max(1, len(made))
    return [
        None if test is None else _build_effect(pairs, test, next(adjusted), margin, level, alpha)
        for pairs, test in zip(kept, tests, strict=True)
    ]


def difference_interval(pairs: Sequence[Pair], alpha: float = 0.05) -> tuple[Interval, str] | None:
    """Return the 1 − ``alpha`` interval of the difference, after minus before, and its name.

    With one trial each it is Newcombe's interval for pairs; with several, Student's over the cases.
    Where all cases changed alike, so that their spread is unknown, it is Newcombe's for unrelated
    samples. The interval always has a width: twelve unchanged cases may still hide a change.
    ``None`` without a judged pair.
    """
    pairs = select_judged(pairs)
    if not pairs:
        return None
    z = NormalDist().inv_cdf(1 - alpha / 2)
    if not _has_repeats(pairs):
        ends = [(after[0], before[0]) for before, after in pairs]
        both, gained, lost, neither = (ends.count(end) for end in ((1, 1), (1, 0), (0, 1), (0, 0)))
        found, name = newcombe_paired(both, gained, lost, neither, z), "Newcombe, paired"
    else:
        found, name = paired_interval(_list_moves(pairs), alpha), "paired t"
        if found is None:
            found, name = _compute_unpaired_interval(pairs, z), "Newcombe, unpaired"
    assert found is not None, "there are judged trials on both sides"
    return found, name


def ratio_interval(pairs: Sequence[Pair]) -> Interval | None:
    """Return the 95 % interval of the mean rate after, divided by that before.

    ``None`` without a judged pair, and if nothing passed before. The pairs make it narrower only
    where they are correlated, and a negative correlation makes it no wider.

    Source: Donner and Zou 2012, Statistical Methods in Medical Research 21:347 (MOVER for ratios,
    from Wilson intervals).
    """
    pairs = select_judged(pairs)
    before, after = _list_rates(pairs) if pairs else ([], [])
    if not any(before):
        return None
    own_ends = rate_interval(before, sum(pair[0][1] for pair in pairs))
    other_ends = rate_interval(after, sum(pair[1][1] for pair in pairs))
    assert own_ends is not None, "there is a judged pair"
    assert other_ends is not None, "there is a judged pair"
    rate, other = fmean(before), fmean(after)
    r = 0.0
    if len({*before}) > 1 and len({*after}) > 1:
        # Less a correction for continuity, as large as Newcombe's at a rate of one half.
        r = max(0.0, correlation(before, after) - 2 / len(pairs))
    found = []
    for end, of, sign in ((other_ends[0], own_ends[1], -1), (other_ends[1], own_ends[0], 1)):
        middle = other * rate - r * abs(end - other) * abs(of - rate)
        scale = of * (2 * rate - of)
        root = sqrt(max(0.0, middle * middle - end * (2 * other - end) * scale))
        found.append((middle + sign * root) / scale if scale > 0 else 0.0)
    return max(0.0, found[0]), found[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestLoss:
    """The smallest loss that can be evidence: the fewest that have to get worse."""

    unit: Literal["cases", "tests"]
    """What is counted: tests where one has several cases, but cases if each is evidence."""
    lost: int
    """Those that passed before, in whole or in part, and would get worse."""
    passing: int
    """Those that passed before, in whole or in part."""
    difference: float
    """The pass rate after minus before."""
    divisible: bool
    """Whether they can also fail in part: with some of their trials, or of their cases. Then more
    of them may be evidence at a smaller difference."""


def smallest_loss(
    tests: Sequence[Sequence[Trials]],
    *,
    beyond: float = 0.0,
    level: float = LEVEL,
    certain: bool = False,
    repeated: bool = False,
) -> SmallestLoss | None:
    """Return the smallest loss that would be evidence, if nothing else changed.

    ``None`` if not even the loss of everything would be.

    Args:
        tests: The trials of each case of each test, before.
        beyond: The loss that does not count: the whole interval has to lie beyond it.
        level: The level of the test: `LEVEL`, divided by the number of tests that are made.
        certain: Whether every change is evidence, since the same question has the same answer.
        repeated: Whether the other side has several trials of a case.
    """
    judged = [ways for test in tests if (ways := [one for one in test if one[1]])]
    if certain:
        return _find_certain_loss(judged, beyond)
    before = sorted(map(merge_trials, judged), key=lambda one: -one[0] / one[1])
    rates = [passed / total for passed, total in before]
    several = any(len(ways) > 1 for ways in judged)
    divisible = several or repeated or _has_several_trials(judged)

    def find_evidence(tests: int) -> PairedEffect | None:
        sizes = [1.0]
        if divisible and beyond > 0:
            # Losses in part may be surer than losses of everything: the interval of what is not all
            # or nothing is narrower, and so is that of losses of one size.
            sizes += (_IN_PART * rate for rate in sorted({*rates[:tests]}, reverse=True))
        for size in sizes:
            fallen = [(one, (max(0.0, one[0] - size * one[1]), one[1])) for one in before[:tests]]
            kept = [(one, one) for one in before[tests:]]
            (effect,) = paired_effects([[*fallen, *kept]], level=level)
            assert effect is not None, "there is a judged test"
            if effect.verdict == "worse" and (beyond <= 0 or effect.interval[1] < -beyond):
                return effect
        return None

    # The more tests fall, the stronger the evidence, so halving finds the fewest.
    possible = range(1, sum(rate > 0 for rate in rates) + 1)
    place = bisect_left(possible, True, key=lambda tests: find_evidence(tests) is not None)  # noqa: FBT003 - what is searched for
    found = find_evidence(possible[place]) if place < len(possible) else None
    if found is None:
        return None
    return SmallestLoss(
        unit="tests" if several else "cases",
        lost=possible[place],
        passing=len(possible),
        difference=found.difference,
        divisible=divisible,
    )


def exceeds_margin(loss: float, margin: float) -> bool:
    """Return whether ``loss`` is more than ``margin``; a rounding error is no loss."""
    return loss > margin + _ROUNDING


_ROUNDING = 1e-9
_IN_PART = 0.999
"""A loss of next to everything, which is no matter of all or nothing."""


def _find_certain_loss(judged: Sequence[Sequence[Trials]], beyond: float) -> SmallestLoss | None:
    """Return the loss of the fewest cases that make up more than ``beyond``."""
    # A case of a test of several is worth so much less.
    weights = sorted(
        (passed / total / len(ways) / len(judged) for ways in judged for passed, total in ways),
        reverse=True,
    )
    for lost, loss in enumerate(accumulate(weights), start=1):
        if exceeds_margin(loss, beyond):
            return SmallestLoss(
                unit="cases",
                lost=lost,
                passing=sum(weight > 0 for weight in weights),
                difference=-loss,
                divisible=len({*weights} - {0.0}) > 1 or _has_several_trials(judged),
            )
    return None


def _has_several_trials(judged: Sequence[Sequence[Trials]]) -> bool:
    return any(total > 1 for ways in judged for _, total in ways)


def not_worse(pairs: Sequence[Pair], margin: float = MARGIN, alpha: float = LEVEL) -> bool | None:
    """Return whether the pairs show that the change loses less than ``margin`` (non-inferiority).

    ``alpha`` is one-sided: the lower bound of the 1 − 2·``alpha`` interval is above −``margin``.
    ``None`` without a judged pair. ``False`` does not mean worse: a handful of cases shows nothing.
    """
    found = difference_interval(pairs, 2 * alpha)
    return None if found is None else found[0][0] > -margin


def _build_effect(
    pairs: Sequence[Pair],
    test: PairedTest,
    p_adjusted: float,
    margin: float,
    level: float,
    alpha: float,
) -> PairedEffect:
    before, after = (fmean(rates) for rates in _list_rates(pairs))
    found = difference_interval(pairs)
    assert found is not None, "an effect without pairs has no test"
    interval, method = found
    verdict = _decide_evidence(after - before, interval, p_adjusted, margin, level)
    moves, trials = _list_moves(pairs), _count_trials(pairs)
    to_decide = cases_needed(margin, between=estimate_spread(moves, *trials), alpha=alpha)
    return PairedEffect(
        pairs=len(pairs),
        before=before,
        after=after,
        interval=interval,
        interval_method=method,
        test=test,
        p_adjusted=p_adjusted,
        smallest=smallest_difference(moves, trials=trials[0], other_trials=trials[1], alpha=alpha),
        verdict=verdict,
        # What these cases leave undecided takes at least one more.
        cases_to_decide=max(len(pairs) + 1, to_decide) if verdict == "undecided" else None,
    )


def _decide_evidence(
    difference: float, interval: Interval, p_adjusted: float, margin: float, level: float
) -> Evidence:
    if p_adjusted < level:
        return "better" if difference > 0 else "worse"
    return "equivalent" if -margin < interval[0] and interval[1] < margin else "undecided"


def _has_repeats(pairs: Sequence[Pair]) -> bool:
    # A case that is asked in several ways may have passed a fraction of one trial.
    return any(total > 1 or 0 < passed < total for pair in pairs for passed, total in pair)


def _list_rates(pairs: Sequence[Pair]) -> tuple[list[float], list[float]]:
    before, after = ([side[0] / side[1] for side in sides] for sides in zip(*pairs, strict=True))
    return before, after


def _list_moves(pairs: Sequence[Pair]) -> list[float]:
    return [after[0] / after[1] - before[0] / before[1] for before, after in pairs]


def _count_trials(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return the number of trials of a case on each side; the mean where it varies."""
    before, after = (harmonic_mean([n for _, n in sides]) for sides in zip(*pairs, strict=True))
    return before, after


def _compute_unpaired_interval(pairs: Sequence[Pair], z: float) -> Interval | None:
    """Return Newcombe's interval with the effective number of independent trials on each side."""
    sizes = []
    for rates, sides in zip(_list_rates(pairs), zip(*pairs, strict=True), strict=True):
        size = effective_trials(rates, sum(side[1] for side in sides)) or 0.0
        sizes.append((fmean(rates) * size, size))
    (passed, total), (other_passed, other_total) = sizes
    return newcombe_interval(other_passed, other_total, passed, total, z)
