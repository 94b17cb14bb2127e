"""Shares: how often one of equal options is chosen, and how often a judge is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from harness.base.stats.intervals import (
    Interval,
    compute_mean,
    effective_trials,
    incomplete_beta,
    rate_interval,
)
from harness.base.stats.units import Trials
from harness.types import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceShare:
    """How often an option was chosen, over cases."""

    cases: int
    """Cases in which any option was chosen."""
    share: float
    """Share of the trials that chose it, averaged over cases."""
    interval: Interval
    """95 % interval of the share, over cases."""
    even: float
    """1/k: the expected share of each of k equal options."""
    p_value: float
    """Two-sided p-value of the share against `even`."""

    @property
    def advantage(self) -> float:
        """The share minus the even share."""
        return self.share - self.even


def measure_choice_share(cases: Sequence[Trials], options: int) -> ChoiceShare | None:
    """Return the share of choices of one of ``options`` equal options.

    ``cases`` has, for each case, the trials that chose this option and the trials that chose any.
    The position of each option in the list must be drawn anew for each trial; otherwise a
    preference for the first position looks like one for the text. ``None`` if no option was ever
    chosen.

    The test is the exact binomial test. Trials of a case are not independent, so with repeats it
    uses their effective number (`effective_trials`).

    Source: Clopper and Pearson 1934, the tails of a binomial as incomplete beta functions.
    """
    chosen = [(passed, total) for passed, total in cases if total]
    if not chosen:
        return None
    rates, rows = [passed / total for passed, total in chosen], sum(t for _, t in chosen)
    size = float(rows) if rows == len(rates) else effective_trials(rates, rows) or 0.0
    share, even = fmean(rates), 1 / options
    interval = rate_interval(rates, rows)
    assert interval is not None, "there is a case"
    # At the ends a parameter of the beta function would be 0, for which it is not defined.
    times = share * size
    more = 1.0 if times <= 0 else incomplete_beta(times, size - times + 1, even)
    fewer = 1.0 if times >= size else 1 - incomplete_beta(times + 1, size - times, even)
    return ChoiceShare(
        cases=len(chosen),
        share=share,
        interval=interval,
        even=even,
        p_value=min(1.0, 2 * min(more, fewer)),
    )


Cell: TypeAlias = tuple[str, str]
"""(expected class, predicted class)."""


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """How often each expected class got each prediction."""

    counts: Mapping[Cell, int]
    """Cell → count; cells that never happened are left out."""

    @classmethod
    def from_cells(cls, cells: Iterable[Cell]) -> ConfusionMatrix:
        """Count ``cells``."""
        return cls(Counter(cells))

    @property
    def expected_classes(self) -> tuple[str, ...]:
        """Every expected class, in the order of its first occurrence."""
        return tuple(dict.fromkeys(wanted for wanted, _ in self.counts))

    @property
    def predicted_classes(self) -> tuple[str, ...]:
        """Every predicted class; the expected ones come first."""
        return tuple(dict.fromkeys([*self.expected_classes, *(found for _, found in self.counts)]))

    def compute_rate(self, wanted: str, found: str) -> float | None:
        """Return P(predicted = ``found`` | expected = ``wanted``); ``None`` if never expected."""
        total = sum(count for (row, _), count in self.counts.items() if row == wanted)
        return self.counts.get((wanted, found), 0) / total if total else None

    def compute_f1(self, name: str) -> float | None:
        """Return 2·TP/(2·TP + FP + FN) of a class; ``None`` if it never occurs.

        Source: van Rijsbergen 1979.
        """
        hits = self.counts.get((name, name), 0)
        row = sum(count for (wanted, _), count in self.counts.items() if wanted == name)
        column = sum(count for (_, found), count in self.counts.items() if found == name)
        return 2 * hits / (row + column) if row + column else None

    @property
    def macro_f1(self) -> float | None:
        """The mean of F1 over the expected classes; ``None`` if there is none.

        Each class has the same weight, however often it was expected. A class that was predicted
        but never expected has no F1 of its own: it lowers those of the classes it was predicted
        for.
        """
        scores = map(self.compute_f1, self.expected_classes)
        return compute_mean([score for score in scores if score is not None])
