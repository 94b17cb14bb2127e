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
    cases_of_tests,
    discordance_between,
    excess_discordance,
    holm,
    homogeneity_p,
    means_of_tests,
    own_discordance,
    pair_as_one,
    paired_effects,
    paired_test,
    wilson,
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

    def passes(self, phrasing: Phrasing) -> bool:
        """Return whether the case passes with that wording."""
        return phrasing.rate >= self.threshold - 1e-9

    @property
    def failing(self) -> tuple[Phrasing, ...]:
        """The wordings with which it fails."""
        return tuple(one for one in self.phrasings if not self.passes(one))

    @property
    def counts(self) -> list[Trials]:
        """Its trials with each wording."""
        return [one.trials for one in self.phrasings]

    @property
    def hangs(self) -> bool:
        """Whether its verdict differs between wordings."""
        return 0 < len(self.failing) < len(self.phrasings)

    @property
    def spread(self) -> float:
        """The best rate minus the worst."""
        rates = [one.rate for one in self.phrasings]
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


def consistency(cases: Sequence[PhrasedCase], *, margin: float = MARGIN) -> Consistency | None:
    """Return the effect of the wordings of ``cases``; ``None`` without a case of two wordings."""
    tested = _tested([case for case in cases if len(case.phrasings) > 1])
    if not tested:
        return None
    tests = _by_test(tested)
    consistent = fmean(means_of_tests(tests, lambda case: not case.hangs))
    interval = wilson(consistent * len(tests), len(tests))
    (others,) = paired_effects(
        [[pair_as_one([_against_others(case) for case in test]) for test in tests]], margin=margin
    )
    assert interval is not None, "there is a case"
    assert others is not None, "every phrasing was judged"
    within = means_of_tests(tests, lambda case: own_discordance(case.counts))
    excess = means_of_tests(tests, lambda case: next(iter(excess_discordance([case.counts])), None))
    return Consistency(
        cases=tuple(sorted(tested, key=lambda case: (not case.hangs, -case.spread, case.name))),
        tests=len(tests),
        rates=tuple(_rates(tests)),
        consistent=consistent,
        interval=interval,
        worst=fmean(means_of_tests(tests, lambda case: min(one.rate for one in case.phrasings))),
        every=fmean(means_of_tests(tests, lambda case: not case.failing)),
        others=others,
        between=fmean(means_of_tests(tests, lambda case: discordance_between(case.counts))),
        within=fmean(within) if within else None,
        test=paired_test(excess, repeated=True),
    )


def _tested(cases: Sequence[PhrasedCase]) -> list[PhrasedCase]:
    """Return ``cases`` with their p-values, by Holm's correction over all that can be tested."""
    found = [homogeneity_p([one.trials for one in case.phrasings]) for case in cases]
    adjusted = iter(holm([p for p in found if p is not None]))
    return [
        replace(case, p_value=None if p is None else next(adjusted))
        for case, p in zip(cases, found, strict=True)
    ]


def _by_test(cases: Sequence[PhrasedCase]) -> list[list[PhrasedCase]]:
    named = {case.name: case for case in cases}
    tests = {case.name: case.test for case in cases if case.test is not None}
    return [[named[name] for name in test] for test in cases_of_tests(named, tests)]


def _against_others(case: PhrasedCase) -> Pair:
    first, *rest = case.counts
    return first, (sum(passed for passed, _ in rest), sum(judged for _, judged in rest))


def _rates(tests: Sequence[Sequence[PhrasedCase]]) -> Iterator[tuple[int, float]]:
    for place in range(max(len(case.phrasings) for test in tests for case in test)):

        def rate(case: PhrasedCase, place: int = place) -> float | None:
            return case.phrasings[place].rate if place < len(case.phrasings) else None

        rates = means_of_tests(tests, rate)
        yield len(rates), fmean(rates)
