"""Study: do results depend on the wording of prompts? Each test runs in all of its wordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean

from harness.base import (
    LEVEL,
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
from harness.descriptions.workbench.analysis.effects import format_range
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_percent, format_points
from harness.types import Case, Variant, dataclass

_HOW = (
    "Write other ways to say a prompt as 'wordings:' of its test, or have a model write them:",
    "harness workbench SUITE --writer MODEL --make-wordings wordings.yml",
)
_MOST = 20
"""Cases that a terminal shows; the JSON has all of them."""


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
    """`Case.test`: all of its cases count as one."""
    phrasings: tuple[Phrasing, ...]
    """The wordings; at least two."""
    threshold: float = 1.0
    """The share of trials that must pass for the case to pass."""
    p_value: float | None = None
    """p-value of the differences between its wordings, after a correction over all tested cases;
    ``None`` with a single trial of each, which cannot be tested."""

    @property
    def failing_phrasings(self) -> tuple[Phrasing, ...]:
        """The wordings with which it fails."""
        # A rate is a quotient, and may fall short of an equal threshold by rounding.
        least = self.threshold - 1e-9
        return tuple(phrasing for phrasing in self.phrasings if phrasing.rate < least)

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
    """The number of tests: as `cases`, but the cases of one test are one."""
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


def further_wordings(bench: StudyContext, case: Case) -> tuple[str, ...]:
    """Return the further wordings of ``case``: its own, then those of the variants to compare.

    A variant that changes only prompts is a file of wordings, as written by ``--make-wordings``.
    """
    # A simulated user chooses their own words.
    own = case.wordings if case.user is None else ()
    told = [
        variant.prompts[case.name]
        for variant in bench.versus
        if case.name in variant.prompts and not (variant.tools or variant.add or variant.order)
    ]
    return tuple(words for words in dict.fromkeys((*own, *told)) if words != case.prompt)


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    return [
        Arm(variant=variant, cases=frozenset(variant.prompts)) for variant in _build_variants(bench)
    ]


def _build_variants(bench: StudyContext) -> Iterator[Variant]:
    """Yield one variant for the first wording of all tests, one for the second, and so on."""
    known = {case.name: further_wordings(bench, case) for case in bench.suite.cases}
    for place in range(max(map(len, known.values()), default=0)):
        prompts = {name: words[place] for name, words in known.items() if place < len(words)}
        yield Variant(name=f"wording {place + 1}", prompts=prompts)


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    if not any(further_wordings(bench, case) for case in bench.suite.cases):
        return StudyResult(headline="No test of this suite has other wordings.", lines=_HOW)
    found = measure_consistency(list(_phrased_cases(bench, measured)), margin=bench.options.margin)
    if found is None:
        return StudyResult(headline="No wording has been judged yet.")
    return StudyResult(
        headline=_write_headline(found),
        lines=tuple(_format_lines(found)),
        findings=tuple(_build_findings(found)),
        facts={
            **asdict(found),
            "cases": [
                {
                    **asdict(case),
                    "hangs": case.is_sensitive,
                    "failing": [phrasing.words for phrasing in case.failing_phrasings],
                }
                for case in found.cases
            ],
        },
        notes=tuple(_build_notes(bench, found)),
    )


def _phrased_cases(bench: StudyContext, measured: ModelMeasurements) -> Iterator[PhrasedCase]:
    arms = [None, *_build_variants(bench)]
    trials = [measured.count_trials(arm) for arm in arms]
    called = [_most_called(measured, arm) for arm in arms]
    for case in bench.suite.cases:
        words = (case.prompt, *further_wordings(bench, case))
        yield PhrasedCase(
            name=case.name,
            test=case.test,
            threshold=case.repeats.pass_threshold,
            phrasings=tuple(
                Phrasing(words=said, trials=found[case.name], called=tools.get(case.name))
                # A case may have fewer wordings than there are arms.
                for said, found, tools in zip(words, trials, called, strict=False)
                if case.name in found
            ),
        )


def _most_called(measured: ModelMeasurements, arm: Variant | None) -> Mapping[str, str | None]:
    """Return case → the tool that was most often called first."""
    first: dict[str, Counter[str | None]] = {}
    for call in measured.first_calls(arm):
        first.setdefault(call.case, Counter())[call.tool] += 1
    return {case: counted.most_common(1)[0][0] for case, counted in first.items()}


def measure_consistency(
    cases: Sequence[PhrasedCase], *, margin: float = MARGIN
) -> Consistency | None:
    """Return the effect of the wordings of ``cases``; ``None`` without a case of two wordings."""
    tested = _add_p_values([case for case in cases if len(case.phrasings) > 1])
    if not tested:
        return None
    named = {case.name: case for case in tested}
    ways = {case.name: case.test for case in tested if case.test is not None}
    tests = [[named[name] for name in test] for test in group_cases(named, ways)]

    def average(measure: Callable[[PhrasedCase], float]) -> float:
        return fmean(average_tests(tests, measure))

    consistent = average(lambda case: not case.is_sensitive)
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
        worst=average(lambda case: min(phrasing.rate for phrasing in case.phrasings)),
        every=average(lambda case: not case.failing_phrasings),
        others=others,
        between=fmean(average_tests(tests, lambda case: discordance_between(case.trial_counts))),
        within=fmean(within) if within else None,
        test=paired_test(excess, repeated=True),
    )


def _add_p_values(cases: Sequence[PhrasedCase]) -> list[PhrasedCase]:
    """Return ``cases`` with their p-values, by Holm's correction over all that can be tested."""
    found = [homogeneity_p(case.trial_counts) for case in cases]
    adjusted = iter(adjust_by_holm([p for p in found if p is not None]))
    return [
        replace(case, p_value=None if p is None else next(adjusted))
        for case, p in zip(cases, found, strict=True)
    ]


def _pair_with_others(case: PhrasedCase) -> Pair:
    first, *rest = case.trial_counts
    return first, (sum(passed for passed, _ in rest), sum(judged for _, judged in rest))


def _mean_rates(tests: Sequence[Sequence[PhrasedCase]]) -> Iterator[tuple[int, float]]:
    for place in range(max(len(case.phrasings) for test in tests for case in test)):

        def rate_at(case: PhrasedCase, place: int = place) -> float | None:
            return case.phrasings[place].rate if place < len(case.phrasings) else None

        rates = average_tests(tests, rate_at)
        yield len(rates), fmean(rates)


def _write_headline(found: Consistency) -> str:
    low, high = map(format_percent, found.interval)
    return (
        f"{format_percent(found.consistent)} of {found.tests} tests have the same verdict under "
        f"all their wordings (95 % interval {low} to {high}); {format_percent(found.every)} pass "
        "under every one."
    )


def _format_lines(found: Consistency) -> Iterator[str]:
    for place, (cases, rate) in enumerate(found.rates):
        name = f"wording {place}" if place else "the prompt"
        yield f"{format_percent(rate)} pass as {name} ({cases} tests)"
    yield f"{format_percent(found.worst)} pass in the worst wording of each test"
    others = found.others
    yield (
        f"Other wordings are {_VERDICTS[others.verdict]}: {format_points(others.difference)} "
        f"points against the prompts ({format_range(others.interval)})."
    )
    if found.within is not None:
        yield (
            f"Two trials in different wordings end differently in {format_percent(found.between)}, "
            f"two in the same wording in {format_percent(found.within)}: that is chance."
        )
    hanging = [case for case in found.cases if case.is_sensitive]
    yield from (_format_case(case) for case in hanging[:_MOST])
    if len(hanging) > _MOST:
        yield f"… and {len(hanging) - _MOST} more"


_VERDICTS = {
    "better": "easier",
    "worse": "harder",
    "equivalent": "equivalent",
    "undecided": "undecided",
}


def _format_case(case: PhrasedCase) -> str:
    failing = [
        f"{one.words!r} (calls {one.called or 'no tool'} first)" for one in case.failing_phrasings
    ]
    return (
        f"{case.name} fails in {len(failing)} of {len(case.phrasings)} wordings: "
        f"{'; '.join(failing)}"
    )


def _build_findings(found: Consistency) -> Iterator[Finding]:
    for case in found.cases:
        if case.is_sensitive:
            yield Finding(
                text=f"Test {_format_case(case)}.",
                weight=100 * case.spread / len(found.cases),
                certain=case.p_value is not None and case.p_value < LEVEL,
            )


def _build_notes(bench: StudyContext, found: Consistency) -> Iterator[str]:
    if without := len(bench.suite.cases) - len(found.cases):
        yield f"{without} tests have no further wording, or none that was judged."
    if found.within is None:
        yield (
            "With one trial each, a wording cannot be told from chance: --trials 3 shows how often "
            "the same wording ends differently."
        )


STUDY = Study(
    name="paraphrase",
    place=70,
    question="Do results depend on the wording of the prompt?",
    arms=_build_arms,
    read=_analyze_results,
)
