"""The smallest difference that a suite can show, by cases and trials, before money is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.stats.effects import LEVEL
from harness.stats.paired_power import (
    cases_for_difference,
    detectable_difference,
    pairs_needed_for_non_inferiority,
)
from harness.workbench.earlier_runs import Variability

TRIALS = (1, 3, 5, 10)
"""Trials of each case that the table shows, for as many cases as there are."""
MULTIPLES = (2, 4, 8)
"""How many times as many cases the table shows, with one trial each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One way to compare two versions: so many cases, each run so often on both sides."""

    cases: int
    """Cases."""
    trials: int
    """Trials of each case on each side."""
    shows: float | None
    """The smallest true difference of pass rates that it finds in four of five studies; ``None``
    when it finds not even a difference of 1."""

    @property
    def runs(self) -> int:
        """Trials of both sides together."""
        return 2 * self.cases * self.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a wished difference takes."""

    difference: float
    """The difference, as a rate."""
    cases: int
    """Cases that show it with one trial each."""
    cases_with_repeats: int
    """Cases that show it with as many trials as `trials` says."""
    trials: int
    """Trials of `cases_with_repeats`."""
    enough_trials: int | None
    """Trials with which the cases that there are would show it; ``None`` where no number would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsOfList:
    """What an ablation of a known tool list takes, one trial of each case."""

    parts: int
    """Parts of the list: names, sentences, texts of parameters, enums …"""
    run: str
    """The run whose list it is."""
    runs: int
    """Trials: the list itself, and the list without each part."""
    shows: float | None
    """The smallest worth of one part (a rate) that it finds in four of five studies, with 5 % over
    all parts; ``None`` when not even a difference of 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerTable:
    """What a suite can show, and what it takes to show more."""

    suite: str
    """Name of the suite."""
    cases: int
    """Cases that it has."""
    variability: Variability
    """What the figures rest on."""
    designs: tuple[Design, ...]
    """Rows of the table: this suite's cases with more and more trials, then more cases."""
    wish: Wish
    """What the wished difference takes."""
    margin: float
    """Loss that is accepted where "not worse" is to be shown, as a rate."""
    cases_for_margin: int
    """Cases that show "not worse by more than the margin", one trial each."""
    ablation: PartsOfList | None = None
    """What the workbench's ablation takes; ``None`` while no run has shown the tool list."""


def power_table(
    suite: str,
    cases: int,
    variability: Variability,
    *,
    trials: Sequence[int] = TRIALS,
    difference: float = 0.1,
    margin: float = 0.05,
    listed: tuple[str, int] | None = None,
) -> PowerTable:
    """Return what ``cases`` can show; ``difference`` and ``margin`` are rates (0.1: 10 points).

    ``listed`` is the name of a run, and the number of parts of the tool list that it was shown.
    """
    psi, icc = variability.discordance, variability.icc
    sizes = [(cases, count) for count in trials] + [(cases * times, 1) for times in MULTIPLES]
    repeats = max(3, min(trials, default=1))
    return PowerTable(
        suite=suite,
        cases=cases,
        variability=variability,
        designs=tuple(
            Design(
                cases=size,
                trials=count,
                shows=detectable_difference(size, psi, trials=count, icc=icc),
            )
            for size, count in dict.fromkeys(sizes)
        ),
        wish=Wish(
            difference=difference,
            cases=cases_for_difference(difference, psi),
            cases_with_repeats=cases_for_difference(difference, psi, trials=repeats, icc=icc),
            trials=repeats,
            enough_trials=_enough_trials(cases, difference, psi, icc),
        ),
        margin=margin,
        cases_for_margin=pairs_needed_for_non_inferiority(margin, max(psi, margin)),
        ablation=None if listed is None else _ablation(cases, psi, *listed),
    )


def _ablation(cases: int, psi: float, run: str, parts: int) -> PartsOfList:
    """Return what an ablation takes; of so many tests at once the hardest is passed at 5 %/parts.

    That is Holm's first step, so the figure is what is found even if only one part matters.
    """
    return PartsOfList(
        parts=parts,
        run=run,
        runs=cases * (parts + 1),
        shows=detectable_difference(cases, psi, alpha=LEVEL / parts),
    )


_MOST_TRIALS = 1_000
"""An upper limit of trials of a case, more than anybody runs."""


def _enough_trials(cases: int, difference: float, psi: float, icc: float) -> int | None:
    """Return the number of trials that show ``difference`` with ``cases``; ``None`` if none do."""

    def shows(trials: int) -> bool:
        found = detectable_difference(cases, psi, trials=trials, icc=icc)
        return found is not None and found <= difference

    if shows(1):
        return 1
    low, high = 1, _MOST_TRIALS
    if not shows(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
