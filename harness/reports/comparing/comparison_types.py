"""The nouns of a comparison: made by `comparing.contrasts`, written by its reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.base import Evidence, Pair
from harness.types import Counts, HasEntrant, Usage

Change: TypeAlias = Literal["better", "worse", "same", "not judged"]
"""How a case's pass rate moved; ``not judged`` when one side has no trial of it with a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side(HasEntrant):
    """One side: an entrant of a run. Its figures cover the cases that both sides share."""

    name: str
    """Its name in reports: ``A``, ``B``, …"""
    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    model: str
    """Name of the model."""
    started_at: str
    """UTC, ISO 8601."""
    counts: Counts
    """How its trials ended."""
    rate: float | None
    """Mean over the cases of the share of judged trials that passed; ``None`` when none was
    judged."""
    interval: tuple[float, float] | None
    """Its 95 % interval."""
    usage: Usage
    """Tokens and cost of its trials; unknown stays ``None``."""
    latency_s: float | None
    """Mean wall time of a trial that was started; ``None`` when none was."""
    exit_code: int = 0
    """The exit code of its whole run, by the results."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Its value on each axis: `Trial.axes`."""
    ended: str = ""
    """How its whole run ended, in words: ``11 passed, 2 failed (interrupted)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The trials of one case on one side."""

    passed: int
    """Trials that passed."""
    judged: int
    """Trials with a verdict: the denominator."""
    unjudged: tuple[str, ...] = ()
    """What became of the others, each once: ``error (server)``, ``skipped (budget)``, ``no record``
    …"""

    @property
    def trial_counts(self) -> tuple[int, int]:
        """Trials that passed, and that were judged."""
        return self.passed, self.judged

    @property
    def rate(self) -> float | None:
        """Share of the judged trials that passed, or ``None`` when none was judged."""
        return self.passed / self.judged if self.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair:
    """One case on both sides."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    test: str | None = None
    """The test that it is, asked as one of several identities; ``None`` for any other case."""
    before: Tally
    """On the first side."""
    after: Tally
    """On the second side."""

    @property
    def trial_counts(self) -> Pair:
        """Those of both sides."""
        return self.before.trial_counts, self.after.trial_counts

    @property
    def difference(self) -> float | None:
        """Pass rate after minus before, or ``None`` when one is unknown."""
        before, after = self.before.rate, self.after.rate
        return None if before is None or after is None else after - before

    @property
    def change(self) -> Change:
        """How it moved."""
        moved = self.difference
        if moved is None:
            return "not judged"
        return "better" if moved > 0 else "worse" if moved < 0 else "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect on a set of cases: all that are shared, or those of one suite."""

    suite: str | None
    """``None`` means all shared cases."""
    better: int
    """Cases whose pass rate rose."""
    worse: int
    """Cases whose pass rate fell."""
    same: int
    """Cases whose pass rate did not change."""
    not_judged: int
    """Cases that one side has no verdict of; they are in none of the figures below."""
    tests: int = 0
    """Judged pairs, where the identities that one test is asked as count once: what the figures
    below are over."""
    before: float | None = None
    """Mean pass rate of the first side over the judged pairs; ``None`` when there is none."""
    after: float | None = None
    """The same of the second side."""
    interval: tuple[float, float] | None = None
    """95 % interval of the difference, after minus before."""
    interval_method: str | None = None
    """Name of the interval's method."""
    test: str | None = None
    """The paired test, by name; ``None`` when there is no pair."""
    p_value: float | None = None
    """Two-sided, of this test alone."""
    p_adjusted: float | None = None
    """The same after Holm's correction for all tests of the comparison: what the verdict goes
    by."""
    smallest: float | None = None
    """The smallest true difference that so many cases would show four times in five; ``None`` when
    not even a move of every case would be evidence."""
    evidence: Evidence = "undecided"
    """The verdict."""
    cases_to_decide: int | None = None
    """Cases that would likely show a difference of the margin, or that there is none; ``None``
    where it is decided, or where the data say nothing of it."""

    @property
    def pairs(self) -> int:
        """Judged pairs: the number of cases behind the figures."""
        return self.better + self.worse + self.same

    @property
    def difference(self) -> float | None:
        """Mean pass rate after minus before."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two sides on the cases that they share."""

    before: Side
    """The side that is compared with."""
    after: Side
    """The side that is compared."""
    differences: tuple[str, ...]
    """Different settings, in words: model, prompts, checks, servers, tools, judge."""
    cases: tuple[CasePair, ...]
    """Every shared case, in the order of the first side."""
    effects: tuple[Effect, ...]
    """All shared cases first; then suite by suite, where there are several."""
    only_before: tuple[str, ...]
    """Cases (``suite::case``) that only the first side has."""
    only_after: tuple[str, ...]
    """Cases that only the second side has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All contrasts that were asked for, with one correction over all their tests."""

    contrasts: tuple[Contrast, ...]
    """At least one."""
    level: float
    """The chance of any false alarm that the verdicts allow."""
    tests: int
    """How many tests Holm's correction covers."""
    margin: float
    """Difference that makes no difference: within it two sides are equivalent, as a rate."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's, where there is one."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """Every side once, by name."""
        each = [side for pair in self.contrasts for side in (pair.before, pair.after)]
        sides = {side.name: side for side in each}
        return tuple(sides[name] for name in sorted(sides, key=lambda name: (len(name), name)))

    @property
    def is_judged(self) -> bool:
        """Whether any case was judged on both sides of a contrast."""
        return any(contrast.effects[0].pairs for contrast in self.contrasts)

    def iterate_effects(self) -> Iterator[tuple[Contrast, Effect]]:
        """Yield every effect with the contrast that it belongs to."""
        for contrast in self.contrasts:
            for effect in contrast.effects:
                yield contrast, effect
