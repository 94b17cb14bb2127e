"""Whether results of cases depend on the wording of their prompt, computed from counts alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from harness.base import (
    MARGIN,
    Interval,
    Pair,
    PairedEffect,
    PairedTest,
    Trials,
    adjust_by_holm,
    average_tests,
    discordance_between,
    excess_discordance,
    group_cases,
    homogeneity_p,
    merge_pair,
    own_discordance,
    paired_effects,
    paired_test,
    wilson_interval,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrasing:
    """One wording of a case's prompt, and its results."""

    words: str
    """The prompt, or a wording of it."""
    trials: Trials
    """(passed, judged) trials; at least one was judged."""
    called: str | None = None
    """The tool that was most often called first; ``None`` for no call."""

    @property
    def rate(self) -> float:
        """Share of the judged trials that passed."""
        return self.trials[0] / self.trials[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasedCase:
    """A case with all wordings of its prompt, the original first."""

    name: str
    """Its name."""
    test: str | None = None
    """The test that is asked as several identities, of which the case is one: all count as one."""
    phrasings: tuple[Phrasing, ...]
    """The wordings; at least two."""
    threshold: float = 1.0
    """The share of trials that must pass for the case to pass."""
    p_value: float | None = None
    """p-value of the differences between its wordings, after a correction over all tested cases;
    ``None`` with a single trial of each, which cannot be tested."""

    def passes_with(self, phrasing: Phrasing) -> bool:
        """Return whether the case passes with that wording."""
        # A rate is a quotient, and may fall short of an equal threshold by rounding.
        return phrasing.rate >= self.threshold - 1e-9

    @property
    def failing_phrasings(self) -> tuple[Phrasing, ...]:
        """The wordings with which it fails."""
        return tuple(phrasing for phrasing in self.phrasings if not self.passes_with(phrasing))

    @property
    def trial_counts(self) -> list[Trials]:
        """Its trials with each wording."""
        return [phrasing.trials for phrasing in self.phrasings]

    @property
    def is_sensitive(self) -> bool:
        """Whether its verdict differs between wordings."""
        return 0 < len(self.failing_phrasings) < len(self.phrasings)

    @property
    def spread(self) -> float:
        """The best rate minus the worst."""
        rates = [phrasing.rate for phrasing in self.phrasings]
        return max(rates) - min(rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The effect of wordings on the verdicts of cases."""

    cases: tuple[PhrasedCase, ...]
    """Every case with two judged wordings; those that depend most on the wording come first."""
    tests: int
    """The number of tests: as `cases`, but the identities that are asked the same are one."""
    rates: tuple[tuple[int, float], ...]
    """(tests, mean pass rate) of the original prompts, and of each further wording by position."""
    consistent: float
    """Share of cases with the same verdict under all wordings."""
    interval: Interval
    """Its 95 % interval (Wilson)."""
    worst: float
    """Mean over cases of the rate of the worst wording."""
    every: float
    """Share of cases that pass under every wording."""
    others: PairedEffect
    """The original prompts (before) compared with their other wordings (after)."""
    between: float
    """How often two trials of a case with different wordings end differently."""
    within: float | None
    """How often two trials with the same wording end differently, which is chance alone; ``None``
    without repeats."""
    test: PairedTest | None
    """Whether `between` exceeds `within`; ``None`` without repeats."""


def measure_consistency(
    cases: Sequence[PhrasedCase], *, margin: float = MARGIN
) -> Consistency | None:
    """Return the effect of the wordings of ``cases``; ``None`` without a case of two wordings."""
    tested = _add_p_values([case for case in cases if len(case.phrasings) > 1])
    if not tested:
        return None
    tests = _group_by_test(tested)
    consistent = fmean(average_tests(tests, lambda case: not case.is_sensitive))
    interval = wilson_interval(consistent * len(tests), len(tests))
    (others,) = paired_effects(
        [[merge_pair([_pair_with_others(case) for case in test]) for test in tests]], margin=margin
    )
    assert interval is not None, "there is a case"
    assert others is not None, "every phrasing was judged"
    within = average_tests(tests, lambda case: own_discordance(case.trial_counts))
    # A case without repeats has none, and is left out of the mean.
    excess = average_tests(
        tests, lambda case: next(iter(excess_discordance([case.trial_counts])), None)
    )
    return Consistency(
        cases=tuple(
            sorted(tested, key=lambda case: (not case.is_sensitive, -case.spread, case.name))
        ),
        tests=len(tests),
        rates=tuple(_mean_rates(tests)),
        consistent=consistent,
        interval=interval,
        worst=fmean(
            average_tests(tests, lambda case: min(phrasing.rate for phrasing in case.phrasings))
        ),
        every=fmean(average_tests(tests, lambda case: not case.failing_phrasings)),
        others=others,
        between=fmean(average_tests(tests, lambda case: discordance_between(case.trial_counts))),
        within=fmean(within) if within else None,
        test=paired_test(excess, repeated=True),
    )


def _add_p_values(cases: Sequence[PhrasedCase]) -> list[PhrasedCase]:
    """Return ``cases`` with their p-values, by Holm's correction over all that can be tested."""
    found = [homogeneity_p([phrasing.trials for phrasing in case.phrasings]) for case in cases]
    adjusted = iter(adjust_by_holm([p for p in found if p is not None]))
    return [
        replace(case, p_value=None if p is None else next(adjusted))
        for case, p in zip(cases, found, strict=True)
    ]


def _group_by_test(cases: Sequence[PhrasedCase]) -> list[list[PhrasedCase]]:
    named = {case.name: case for case in cases}
    tests = {case.name: case.test for case in cases if case.test is not None}
    return [[named[name] for name in test] for test in group_cases(named, tests)]


def _pair_with_others(case: PhrasedCase) -> Pair:
    first, *rest = case.trial_counts
    return first, (sum(passed for passed, _ in rest), sum(judged for _, judged in rest))


def _mean_rates(tests: Sequence[Sequence[PhrasedCase]]) -> Iterator[tuple[int, float]]:
    for place in range(max(len(case.phrasings) for test in tests for case in test)):

        def rate_at(case: PhrasedCase, place: int = place) -> float | None:
            return case.phrasings[place].rate if place < len(case.phrasings) else None

        rates = average_tests(tests, rate_at)
        yield len(rates), fmean(rates)
