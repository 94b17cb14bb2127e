"""Two or more runs, or the models of one, side by side on the cases that they share.

Cases are compared in pairs, each with itself: by an exact test, never by whether two intervals
overlap. A trial without a verdict is in no pass rate; a case without one on either side is in no
test, and both are counted and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean

from harness.reports.comparing.nouns import CasePair, Comparison, Contrast, Effect, Evidence, Tally
from harness.reports.comparing.sides import CaseName, Entrant, duels, setting_differences, tally
from harness.runlog import RunLog
from harness.stats import (
    cases_needed,
    holm,
    mean,
    newcombe,
    newcombe_paired,
    paired_interval,
    smallest_difference,
)
from harness.stats.intervals import Interval
from harness.stats.pairs import PairedTest, paired_test
from harness.stats.power import spread_of_differences
from harness.stats.repeats import effective_trials

LEVEL = 0.05
"""The chance of any false alarm, over all tests of a comparison."""
MARGIN = 0.05
"""The difference within which two sides are equivalent, where nobody says otherwise."""


def compare(logs: Sequence[RunLog], margin: float = MARGIN) -> Comparison:
    """Compare every further log with the first, model by model; or the models of a single log.

    Two sides are equivalent if they differ by less than ``margin``, a rate.

    Raises:
        UsageError: there is nothing to compare: one log with one model, or logs that share no
            model.
    """
    drafts = [_Draft.of(before, after) for before, after in duels(logs)]
    tests = [test for draft in drafts for scope in draft.scopes if (test := scope.test) is not None]
    adjusted = iter(holm([test.p_value for test in tests]))
    level = LEVEL / max(1, len(tests))
    contrasts = tuple(draft.contrast(adjusted, level, margin) for draft in drafts)
    return Comparison(contrasts=contrasts, level=LEVEL, tests=len(tests), margin=margin)


def regressions(comparison: Comparison, margin: float = 0.0) -> list[tuple[Contrast, Effect]]:
    """Return the effects that show a loss above ``margin`` (a rate: 0.05 is 5 points)."""
    return [
        (contrast, effect)
        for contrast, effect in comparison.effects()
        if effect.evidence == "worse"
        and (margin <= 0 or (effect.interval is not None and effect.interval[1] < -margin))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """A set of pairs and their test, before the correction for all tests is known."""

    suite: str | None
    pairs: tuple[CasePair, ...]
    judged: tuple[CasePair, ...]
    test: PairedTest | None

    @classmethod
    def of(cls, suite: str | None, pairs: Sequence[CasePair]) -> _Scope:
        judged = tuple(pair for pair in pairs if pair.difference is not None)
        test = paired_test(_moves(judged), repeated=_repeated(judged))
        return cls(suite=suite, pairs=tuple(pairs), judged=judged, test=test)

    def effect(self, adjusted: Iterator[float], level: float, margin: float) -> Effect:
        p_adjusted = None if self.test is None else next(adjusted)
        before, after = ([_known(tally.rate) for tally in tallies] for tallies in self._tallies())
        interval, method = _interval(self.judged, before, after)
        change = [pair.change for pair in self.pairs]
        found = p_adjusted is not None and p_adjusted < LEVEL
        within = interval is not None and -margin < interval[0] and interval[1] < margin
        evidence: Evidence = "equivalent" if within else "undecided"
        if found:
            evidence = "better" if fmean(after) > fmean(before) else "worse"
        return Effect(
            suite=self.suite,
            better=change.count("better"),
            worse=change.count("worse"),
            same=change.count("same"),
            not_judged=change.count("not judged"),
            before=mean(before),
            after=mean(after),
            interval=interval,
            interval_method=method,
            test=self.test.name if self.test else None,
            p_value=self.test.p_value if self.test else None,
            p_adjusted=p_adjusted,
            smallest=self._smallest(level),
            evidence=evidence,
            cases_to_decide=self._cases_to_decide(margin) if evidence == "undecided" else None,
        )

    def _cases_to_decide(self, margin: float) -> int | None:
        if not self.judged:
            return None
        trials, other_trials = self._trials()
        variance = spread_of_differences(_moves(self.judged), trials, other_trials)
        return max(len(self.judged) + 1, cases_needed(margin, between=variance))

    def _trials(self) -> tuple[float, float]:
        """Return the trials of a case on each side; a mean where they vary."""
        before, after = (harmonic_mean([t.judged for t in side]) for side in self._tallies())
        return before, after

    def _tallies(self) -> tuple[list[Tally], list[Tally]]:
        return [pair.before for pair in self.judged], [pair.after for pair in self.judged]

    def _smallest(self, level: float) -> float | None:
        if not self.judged:
            return None
        trials, other_trials = self._trials()
        return smallest_difference(
            _moves(self.judged), trials=trials, other_trials=other_trials, alpha=level
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A contrast before the correction for all tests is known."""

    before: Entrant
    after: Entrant
    shared: tuple[CaseName, ...]
    scopes: tuple[_Scope, ...]

    @classmethod
    def of(cls, before: Entrant, after: Entrant) -> _Draft:
        shared = tuple(name for name in before.trials if name in after.trials)
        pairs = [
            CasePair(
                suite=name[0],
                case=name[1],
                before=tally(before.trials[name]),
                after=tally(after.trials[name]),
            )
            for name in shared
        ]
        suites = list(dict.fromkeys(pair.suite for pair in pairs))
        parts = suites if len(suites) > 1 else []
        scopes = [
            _Scope.of(None, pairs),
            *(_Scope.of(s, [pair for pair in pairs if pair.suite == s]) for s in parts),
        ]
        return cls(before=before, after=after, shared=shared, scopes=tuple(scopes))

    def contrast(self, adjusted: Iterator[float], level: float, margin: float) -> Contrast:
        effects = tuple(scope.effect(adjusted, level, margin) for scope in self.scopes)
        return Contrast(
            before=self.before.side(self.shared),
            after=self.after.side(self.shared),
            differences=tuple(setting_differences(self.before, self.after, self.shared)),
            cases=self.scopes[0].pairs,
            effects=effects,
            only_before=_missing(self.before, self.after),
            only_after=_missing(self.after, self.before),
        )


def _missing(of: Entrant, elsewhere: Entrant) -> tuple[str, ...]:
    return tuple("::".join(name) for name in of.trials if name not in elsewhere.trials)


def _moves(pairs: Iterable[CasePair]) -> list[float]:
    return [_known(pair.difference) for pair in pairs]


def _known(value: float | None) -> float:
    assert value is not None, "only judged pairs are computed with"
    return value


def _repeated(pairs: Iterable[CasePair]) -> bool:
    return any(pair.before.judged > 1 or pair.after.judged > 1 for pair in pairs)


def _interval(
    pairs: Sequence[CasePair], before: Sequence[float], after: Sequence[float]
) -> tuple[Interval | None, str | None]:
    """Return the interval of the mean difference, after minus before, and its name."""
    if not pairs:
        return None, None
    if not _repeated(pairs):
        ends = [(pair.after.passed, pair.before.passed) for pair in pairs]
        table = [ends.count(end) for end in ((1, 1), (1, 0), (0, 1), (0, 0))]
        return newcombe_paired(*table), "Newcombe, paired"
    spread = paired_interval(_moves(pairs))
    if spread is not None:
        return spread, "paired t"
    # Every case moved alike: their spread is unknown, so the sides count as if they were unrelated.
    size = effective_trials(after, sum(pair.after.judged for pair in pairs)) or 0.0
    other_size = effective_trials(before, sum(pair.before.judged for pair in pairs)) or 0.0
    return newcombe(
        fmean(after) * size, size, fmean(before) * other_size, other_size
    ), "Newcombe, unpaired"
