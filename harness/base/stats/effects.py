"""Effects of a change on the same cases: the difference, its interval, its test, and a verdict.

A *pair* is one case on both sides: the trials that passed and those that were judged, before and
after. Everything is computed over cases, however many trials each has.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, harmonic_mean
from typing import Literal, TypeAlias

from harness.base.stats.intervals import (
    Interval,
    effective_trials,
    newcombe_interval,
    newcombe_paired,
    paired_interval,
)
from harness.base.stats.paired_tests import PairedTest, paired_test
from harness.base.stats.power import cases_needed, estimate_spread, smallest_difference
from harness.base.stats.sequences import adjust_by_holm
from harness.base.stats.units import Trials, merge_row

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestLoss:
    """The smallest loss that can be evidence: the fewest tests that have to fail altogether."""

    tests: int
    """Tests that passed before, in whole or in part, and would all fail."""
    passing: int
    """Tests that passed before, in whole or in part."""
    judged: int
    """All tests."""

    @property
    def difference(self) -> float:
        """The share of all tests that would fail."""
        return self.tests / self.judged


def smallest_loss(
    before: Sequence[Trials], *, beyond: float = 0.0, level: float = LEVEL, certain: bool = False
) -> SmallestLoss | None:
    """Return the smallest loss from ``before`` that would be evidence, if nothing else changed.

    ``None`` if not even the loss of everything would be.

    Args:
        before: The trials of each test.
        beyond: The loss that does not count: the whole interval has to lie beyond it.
        level: The level of the test: `LEVEL`, divided by the number of tests that are made.
        certain: Whether every change is evidence, since the same question has the same answer.
    """
    judged = sorted((one for one in before if one[1]), key=lambda one: -one[0] / one[1])
    passing = sum(passed > 0 for passed, _ in judged)

    def is_evidence(tests: int) -> bool:
        fallen = [(one, (0, one[1])) for one in judged[:tests]]
        (effect,) = paired_effects(
            [[*fallen, *((one, one) for one in judged[tests:])]], level=level
        )
        assert effect is not None, "there is a judged test"
        if certain:
            return effect.difference < -beyond
        return effect.verdict == "worse" and (beyond <= 0 or effect.interval[1] < -beyond)

    # The more tests fall, the stronger the evidence, so halving finds the fewest.
    possible = range(1, passing + 1)
    place = bisect_left(possible, True, key=is_evidence)  # noqa: FBT003 - what is searched for
    if place == len(possible):
        return None
    return SmallestLoss(tests=possible[place], passing=passing, judged=len(judged))


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
