"""Two or more runs, or the models of one, side by side on the cases that they share.

Cases are compared in pairs, each with itself: by an exact test, never by whether two intervals
overlap. A trial without a verdict is in no pass rate; a case without one on either side is in no
test, and both are counted and shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.base import LEVEL, MARGIN, Pair, PairedEffect, merge_pair, paired_effects
from harness.reports.comparing.comparison_types import (
    CaseName,
    CasePair,
    Comparison,
    Contrast,
    Effect,
    group_by_test,
)
from harness.reports.comparing.entrants import (
    ComparedRun,
    Entrant,
    pair_entrants,
    setting_differences,
)
from harness.runlog import RunLog


def compare_logs(logs: Sequence[RunLog], margin: float = MARGIN) -> Comparison:
    """Compare ``logs``; see `compare_runs`."""
    return compare_runs([ComparedRun.from_log(log) for log in logs], margin)


def compare_runs(runs: Sequence[ComparedRun], margin: float = MARGIN) -> Comparison:
    """Compare every further run with the first, model by model; or the models of a single run.

    Two sides are equivalent if they differ by less than ``margin``, a rate.

    Raises:
        UsageError: there is nothing to compare: one run with one model, or runs that share no
            model.
    """
    drafts = [_Draft.from_entrants(before, after) for before, after in pair_entrants(runs)]
    scopes = [scope for draft in drafts for scope in draft.scopes]
    found = paired_effects([scope.collect_trials for scope in scopes], margin=margin)
    # Each draft takes as many as it has scopes, in the order in which they were tested.
    effects = iter(found)
    return Comparison(
        contrasts=tuple(draft.build_contrast(effects) for draft in drafts),
        level=LEVEL,
        tests=sum(effect is not None for effect in found),
        margin=margin,
        by_people=any(run.by_people for run in runs),
    )


def find_regressions(comparison: Comparison, margin: float = 0.0) -> list[tuple[Contrast, Effect]]:
    """Return the effects that show a loss above ``margin`` (a rate: 0.05 is 5 points)."""
    return [
        (contrast, effect)
        for contrast, effect in comparison.iterate_effects()
        # The whole interval must lie beyond the margin: a loss may be certain, and still be a small
        # one.
        if effect.evidence == "worse"
        and (margin <= 0 or (effect.interval is not None and effect.interval[1] < -margin))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """A set of pairs, before the correction for all tests is known."""

    suite: str | None
    pairs: tuple[CasePair, ...]

    @property
    def collect_trials(self) -> list[Pair]:
        """Each test's trials before and after."""
        named = (((pair.suite, pair.case), pair.test, pair.trial_counts) for pair in self.pairs)
        return [*map(merge_pair, group_by_test(named))]

    def build_effect(self, found: PairedEffect | None) -> Effect:
        """Return what the pairs show; ``found`` is ``None`` where none was judged."""
        change = [pair.change for pair in self.pairs]
        moved = Effect(
            suite=self.suite,
            better=change.count("better"),
            worse=change.count("worse"),
            same=change.count("same"),
            not_judged=change.count("not judged"),
        )
        if found is None:
            return moved
        return replace(
            moved,
            tests=found.pairs,
            before=found.before,
            after=found.after,
            interval=found.interval,
            interval_method=found.interval_method,
            test=found.test.name,
            p_value=found.test.p_value,
            p_adjusted=found.p_adjusted,
            smallest=found.smallest,
            evidence=found.verdict,
            cases_to_decide=found.cases_to_decide,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A contrast before the correction for all tests is known."""

    before: Entrant
    after: Entrant
    shared: tuple[CaseName, ...]
    scopes: tuple[_Scope, ...]

    @classmethod
    def from_entrants(cls, before: Entrant, after: Entrant) -> _Draft:
        shared = tuple(name for name in before.cases if name in after.cases)
        pairs = [
            CasePair(
                suite=name[0],
                case=name[1],
                test=before.cases[name].test or after.cases[name].test,
                before=before.cases[name].tally,
                after=after.cases[name].tally,
            )
            for name in shared
        ]
        by_suite: dict[str, list[CasePair]] = {}
        for pair in pairs:
            by_suite.setdefault(pair.suite, []).append(pair)
        scopes = [_Scope(suite=None, pairs=tuple(pairs))]
        # A single suite would be the same test once more, and make the correction stricter for
        # nothing.
        if len(by_suite) > 1:
            scopes += [_Scope(suite=suite, pairs=tuple(own)) for suite, own in by_suite.items()]
        return cls(before=before, after=after, shared=shared, scopes=tuple(scopes))

    def build_contrast(self, found: Iterator[PairedEffect | None]) -> Contrast:
        effects = tuple(scope.build_effect(next(found)) for scope in self.scopes)
        return Contrast(
            before=self.before.build_side(self.shared),
            after=self.after.build_side(self.shared),
            differences=tuple(setting_differences(self.before, self.after, self.shared)),
            cases=self.scopes[0].pairs,
            effects=effects,
            only_before=_find_missing(self.before, self.after),
            only_after=_find_missing(self.after, self.before),
        )


def _find_missing(of: Entrant, elsewhere: Entrant) -> tuple[str, ...]:
    return tuple("::".join(name) for name in of.cases if name not in elsewhere.cases)
