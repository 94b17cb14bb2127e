"""How often one of several equal options is chosen, compared with chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.base.stats.clusters import Trials
from harness.base.stats.intervals import Interval
from harness.base.stats.repeats import effective_trials, rate_interval
from harness.base.stats.student import incomplete_beta


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
