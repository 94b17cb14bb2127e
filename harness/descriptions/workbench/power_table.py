"""The smallest difference that a suite can show, by cases and trials, before money is spent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from statistics import fmean
from typing import TypeAlias, TypeVar

from harness.base import (
    LEVEL,
    SmallestLoss,
    Trials,
    average_tests,
    compute_mean,
    count_cases_needed,
    count_pairs_needed,
    detectable_difference,
    intraclass_correlation,
    make_one_line,
    measure_discordance,
    own_discordance,
    smallest_loss,
)
from harness.descriptions.workbench.measurements import count_by_case
from harness.runlog import RunLog
from harness.types import dataclass

DEFAULT_DISCORDANCE = 0.2
"""ψ if no earlier run shows otherwise: one pair of trials in five ends differently."""
DEFAULT_ICC = 0.79
"""ICC without earlier runs, measured on three models: trials of a case are highly correlated."""

T = TypeVar("T")
_Side: TypeAlias = Mapping[str, Trials]
"""Case → its trials with one model in one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variability:
    """The variability of a suite's results, and the source of the figures."""

    discordance: float
    """ψ: the share of pairs of trials of one case, one a side, that end differently."""
    discordance_source: str
    """The source of `discordance`, in words."""
    icc: float
    """The correlation of a case's trials, from 0 to 1."""
    icc_source: str
    """The source of `icc`, in words."""


def estimate_variability(
    suite: str, tests: Sequence[Sequence[str]], logs: Sequence[RunLog]
) -> Variability:
    """Return the variability of ``tests`` of ``suite``, estimated from ``logs`` (oldest first).

    Each test is the names of its cases, and counts as one however many it has.
    Two runs with the same model give the discordance; a single run with repeats gives that of two
    trials of one run. Repeats give the ICC.
    """
    wanted = set(chain(*tests))
    by_model: dict[str, list[_Side]] = {}
    for log in logs:
        for model, side in _trials_by_model(suite, wanted, log).items():
            by_model.setdefault(model, []).append(side)
    sides = [_group_trials(tests, side) for sides in by_model.values() for side in sides]
    # Neighbours only, so that each run is compared with the one before it.
    pairs = [
        _group_trials(
            tests, {case: (before[case], after[case]) for case in before if case in after}
        )
        for sides in by_model.values()
        for before, after in pairwise(sides)
    ]
    between = _drop_unknown(
        compute_mean(average_tests(each, lambda pair: measure_discordance([pair])))
        for each in pairs
    )
    within = _drop_unknown(
        compute_mean(average_tests(side, lambda case: own_discordance([case]))) for side in sides
    )
    # One case of each test, any of them: a test of many would pass for the whole suite.
    icc = _drop_unknown(intraclass_correlation([test[0] for test in side]) for side in sides)
    source = "assumed: no two earlier runs with the same model, and none with repeats"
    if between:
        source = _format_times("pair of earlier runs", len(between))
    elif within:
        source = _format_times("run with repeats", len(within))
    return Variability(
        discordance=fmean(between or within or [DEFAULT_DISCORDANCE]),
        discordance_source=source,
        icc=fmean(icc or [DEFAULT_ICC]),
        icc_source=_format_times("run with repeats", len(icc))
        if icc
        else "assumed: no earlier run repeats its cases with different results",
    )


def _group_trials(tests: Sequence[Sequence[str]], known: Mapping[str, T]) -> list[list[T]]:
    """Return what is ``known`` of each test's cases, without tests of which nothing is."""
    found = ([known[case] for case in test if case in known] for test in tests)
    return [test for test in found if test]


def _drop_unknown(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _trials_by_model(suite: str, wanted: set[str], log: RunLog) -> dict[str, _Side]:
    """Return the trials with a verdict of each entrant of ``log``, case by case."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for result in log.results:
        if result.suite == suite and result.case.name in wanted and result.is_comparable:
            outcome = result.case.name, result.status == "passed"
            found.setdefault(result.entrant, []).append(outcome)
    return {entrant: count_by_case(outcomes) for entrant, outcomes in found.items()}


def _format_times(what: str, count: int) -> str:
    return f"measured: {count} {what.replace(' ', 's ', 1) if count > 1 else what}"


TRIALS = (1, 3, 5, 10)
"""Trials per case in the table's rows for the existing cases."""
MULTIPLES = (2, 4, 8)
"""Multiples of the number of cases in the table's rows with one trial each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonDesign:
    """A design to compare two versions: a number of cases, each with some trials on both sides."""

    cases: int
    """Cases."""
    trials: int
    """Trials of each case on each side."""
    ways: float
    """How many cases a test has, on average; 1 if none has several."""
    shows: float | None
    """The smallest true difference of pass rates that it detects with a power of 80 %; ``None``
    when it does not even detect a difference of 1."""

    @property
    def total_trials(self) -> int:
        """Trials of both sides together, of every case."""
        return round(2 * self.cases * self.trials * self.ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredDesign:
    """The cases and trials that a requested difference needs."""

    difference: float
    """The difference, as a rate."""
    cases: int
    """Cases that show it with one trial each."""
    cases_with_repeats: int
    """Cases that show it with `trials` trials each."""
    trials: int
    """Trials of `cases_with_repeats`."""
    enough_trials: int | None
    """Trials with which the existing cases would show it; ``None`` if no number would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationDesign:
    """The trials that an ablation of a known tool list needs, one per case and list."""

    parts: int
    """Parts of the list: names, sentences, texts of parameters, enums …"""
    run: str
    """The run with that tool list."""
    runs: int
    """Trials: the list itself, and the list without each part."""
    shows: float | None
    """The smallest effect of one part (a rate) that it detects with a power of 80 %, at a level of
    5 % over all parts; ``None`` when it does not even detect 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerTable:
    """What a suite can show, and what it needs to show more."""

    suite: str
    """Name of the suite."""
    cases: int
    """Cases that it has."""
    variability: Variability
    """The basis of the figures."""
    designs: tuple[ComparisonDesign, ...]
    """Rows of the table: this suite's cases with more and more trials, then more cases."""
    wish: RequiredDesign
    """What the requested difference needs."""
    margin: float
    """Loss that is accepted where "not worse" is to be shown, as a rate."""
    cases_for_margin: int
    """Cases that show "not worse by more than the margin", one trial each."""
    ablation: AblationDesign | None = None
    """What the workbench's ablation needs; ``None`` while no run has shown the tool list."""


def power_table(
    suite: str,
    cases: int,
    variability: Variability,
    *,
    trials: Sequence[int] = TRIALS,
    difference: float = 0.1,
    margin: float = 0.05,
    listed: tuple[str, int] | None = None,
    ways: float = 1.0,
) -> PowerTable:
    """Return what ``cases`` can show; ``difference`` and ``margin`` are rates (0.1: 10 points).

    ``listed`` is the name of a run, and the number of parts in its tool list. A test has ``ways``
    cases on average: they cost trials, and show no more than one.
    """
    psi, icc = variability.discordance, variability.icc
    sizes = [(cases, count) for count in trials] + [(cases * times, 1) for times in MULTIPLES]
    repeats = max(3, min(trials, default=1))
    return PowerTable(
        suite=suite,
        cases=cases,
        variability=variability,
        designs=tuple(
            ComparisonDesign(
                cases=size,
                trials=count,
                ways=ways,
                shows=detectable_difference(size, psi, trials=count, icc=icc),
            )
            for size, count in dict.fromkeys(sizes)
        ),
        wish=RequiredDesign(
            difference=difference,
            cases=count_cases_needed(difference, psi),
            cases_with_repeats=count_cases_needed(difference, psi, trials=repeats, icc=icc),
            trials=repeats,
            enough_trials=_enough_trials(cases, difference, psi, icc),
        ),
        margin=margin,
        # At least as many pairs must end differently as the margin says.
        cases_for_margin=count_pairs_needed(margin, max(psi, margin)),
        ablation=None if listed is None else _plan_ablation(cases, ways, psi, *listed),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGates:
    """What gates can see that compare with the latest run."""

    losses: Mapping[float, SmallestLoss | None]
    """Margin of a gate → the smallest loss that can fire it; ``None`` if none can."""
    source: str
    """The results that this assumes of the baseline, in words."""


def plan_gates(
    suite: str,
    tests: Sequence[Sequence[str]],
    logs: Sequence[RunLog],
    margin: float,
    *,
    certain: bool,
) -> PlannedGates:
    """Return what the gates of ``suite`` can see, without a margin and with ``margin``.

    The baseline is the latest of ``logs`` that has any of its ``tests``, else all of them pass.
    ``certain``: the models always answer the same, so that every case that changes is evidence.
    """
    before: Sequence[Sequence[Trials]] = [[(1, 1)] * len(test) for test in tests]
    source = "if all cases pass before"
    for log in logs:
        for side in _trials_by_model(suite, set(chain(*tests)), log).values():
            if known := _group_trials(tests, side):
                before = known
                source = f"after {make_one_line(log.header.run_id)}"
    margins = dict.fromkeys((0.0, margin))
    losses = {one: smallest_loss(before, beyond=one, certain=certain) for one in margins}
    return PlannedGates(losses=losses, source=source)


def _plan_ablation(cases: int, ways: float, psi: float, run: str, parts: int) -> AblationDesign:
    """Return what an ablation needs, at the level 5 %/parts of the strictest test.

    That is the first step of Holm's correction, so the figure holds even if only one part matters.
    """
    return AblationDesign(
        parts=parts,
        run=run,
        runs=round(cases * ways * (parts + 1)),
        shows=detectable_difference(cases, psi, alpha=LEVEL / parts),
    )


_MOST_TRIALS = 1_000
"""Upper limit of trials per case, more than anybody runs."""


def _enough_trials(cases: int, difference: float, psi: float, icc: float) -> int | None:
    """Return the number of trials that show ``difference`` with ``cases``; ``None`` if none do."""

    def is_enough(trials: int) -> bool:
        found = detectable_difference(cases, psi, trials=trials, icc=icc)
        return found is not None and found <= difference

    # More trials never show less, so halving finds the fewest.
    possible = range(1, _MOST_TRIALS + 1)
    place = bisect_left(possible, True, key=is_enough)  # noqa: FBT003 - what is searched for
    return possible[place] if place < len(possible) else None
