"""How often one of several equal options is chosen, beside what chance alone would make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.stats.clusters import Trials
from harness.stats.intervals import Interval
from harness.stats.repeats import effective_trials, rate_interval
from harness.stats.student import incomplete_beta


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How often an option was chosen, over cases."""

    cases: int
    """Cases in which any option was chosen."""
    share: float
    """Mean over the cases of the share of trials that chose it."""
    interval: Interval
    """Its 95 % interval, over cases."""
    even: float
    """1/k: the share of each of k options that do not differ."""
    p_value: float
    """How often chance alone makes a share at least this far from even, either way."""

    @property
    def advantage(self) -> float:
        """The share beyond the even one."""
        return self.share - self.even


def share_of_choices(cases: Sequence[Trials], options: int) -> Share | None:
    """Return the share of one of ``options`` equal ones.

    ``cases`` has for each case the trials that chose it, and the trials that chose any of the
    options. The place of the options in the list must be drawn anew for each trial, or a liking for
    the first place passes for one for the text. ``None`` where no option was ever chosen.

    The test is the exact binomial one. Trials of a case are not independent, so with repeats it
    counts as many as `effective_trials` says.

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
    times = share * size
    more = 1.0 if times <= 0 else incomplete_beta(times, size - times + 1, even)
    fewer = 1.0 if times >= size else 1 - incomplete_beta(times + 1, size - times, even)
    return Share(
        cases=len(chosen),
        share=share,
        interval=interval,
        even=even,
        p_value=min(1.0, 2 * min(more, fewer)),
    )
