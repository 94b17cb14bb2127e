"""The smallest difference that a suite can show, by cases and trials, before money is spent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base import (
    LEVEL,
    count_cases_needed,
    count_pairs_needed,
    detectable_difference,
)
from harness.descriptions.workbench.earlier_runs import Variability

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
    """How many identities each case is asked as, on average; 1 for none."""
    shows: float | None
    """The smallest true difference of pass rates that it detects with a power of 80 %; ``None``
    when it does not even detect a difference of 1."""

    @property
    def total_trials(self) -> int:
        """Trials of both sides together, as every identity."""
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

    ``listed`` is the name of a run, and the number of parts in its tool list. A case is asked as
    ``ways`` identities on average: they cost trials, and show no more than one.
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
