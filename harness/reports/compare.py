"""Two or more runs, or the models of one, side by side on the cases that they share.

Cases are compared in pairs, each with itself: by an exact test, never by whether two intervals
overlap. A trial without a verdict is in no pass rate; a case without one on either side is in no
test, and both are counted and shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, harmonic_mean
from string import ascii_uppercase
from typing import Any, TypeAlias

from harness.errors import UsageError
from harness.reports.build import count, total_usage
from harness.reports.comparison import CasePair, Comparison, Contrast, Effect, Side, Tally
from harness.runlog import Header, RunLog
from harness.runlog_diff import differences, tool_differences
from harness.stats import (
    holm,
    mean,
    newcombe,
    newcombe_paired,
    paired_interval,
    rate_interval,
    smallest_difference,
)
from harness.stats.intervals import Interval
from harness.stats.pairs import PairedTest, paired_test
from harness.stats.repeats import effective_trials
from harness.types import DECIDED, JsonObject, Run, ToolList

LEVEL = 0.05
"""The chance of any false alarm, over all tests of a comparison."""

_Name: TypeAlias = tuple[str, str]
"""Suite and case."""


def compare(logs: Sequence[RunLog]) -> Comparison:
    """Compare every further log with the first, model by model; or the models of a single log.

    Raises:
        UsageError: there is nothing to compare: one log with one model, or logs that share no model.
    """
    duels = list(_duels(logs))
    drafts = [_Draft.of(before, after) for before, after in duels]
    tests = [test for draft in drafts for scope in draft.scopes if (test := scope.test) is not None]
    adjusted = iter(holm([test.p_value for test in tests]))
    level = LEVEL / max(1, len(tests))
    contrasts = tuple(draft.contrast(adjusted, level) for draft in drafts)
    return Comparison(contrasts=contrasts, level=LEVEL, tests=len(tests))


def regressions(comparison: Comparison, margin: float = 0.0) -> list[tuple[Contrast, Effect]]:
    """Return the effects that are evidence of a loss of more than ``margin`` (a rate: 0.05 is 5 points)."""
    return [
        (contrast, effect)
        for contrast, effect in comparison.effects()
        if effect.evidence == "worse"
        and (margin <= 0 or (effect.interval is not None and effect.interval[1] < -margin))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entrant:
    """A model in a log, with its trials by case."""

    name: str
    log: RunLog
    model: str
    trials: Mapping[_Name, Sequence[Run]]

    @classmethod
    def of(cls, name: str, log: RunLog, model: str) -> _Entrant:
        found: dict[_Name, list[Run]] = defaultdict(list)
        for run in log.runs:
            if run.model == model:
                found[run.suite, run.case].append(run)
        asked = {suite for suite, _ in found}
        planned = [name for name in _planned(log.header) if name[0] in asked]
        names = dict.fromkeys([*planned, *found])
        return cls(name=name, log=log, model=model, trials={name: found.get(name, []) for name in names})

    def tools(self, names: Iterable[_Name]) -> dict[str, ToolList]:
        """Return the lists that the users of those cases were shown: other users may see other tools."""
        transcripts = [self.log.transcript(run.key) for name in names for run in self.trials[name]]
        shown = {transcript.tools_digest for transcript in transcripts if transcript is not None}
        return {digest: tools for digest, tools in self.log.tools.items() if digest in shown}

    def side(self, names: Iterable[_Name]) -> Side:
        cases = [self.trials[name] for name in names]
        runs = [run for trials in cases for run in trials]
        counts = count(runs)
        rates = [rate for trials in cases if (rate := _tally(trials).rate) is not None]
        latencies = [run.latency_s for run in runs if run.stop is not None]
        return Side(
            name=self.name,
            run_id=self.log.header.run_id,
            log=str(self.log.path),
            model=self.model,
            started_at=self.log.header.started_at,
            counts=counts,
            rate=mean(rates),
            interval=rate_interval(rates, counts.judged),
            usage=total_usage(runs),
            latency_s=fmean(latencies) if latencies else None,
        )


def _planned(header: Header) -> list[_Name]:
    return [(suite, case) for suite, facts in header.suites.items() for case, _ in _cases(facts)]


def _duels(logs: Sequence[RunLog]) -> Iterator[tuple[_Entrant, _Entrant]]:
    entrants: dict[tuple[int, str], _Entrant] = {}

    def entrant(number: int, model: str) -> _Entrant:
        if (number, model) not in entrants:
            entrants[number, model] = _Entrant.of(_letters(len(entrants)), logs[number], model)
        return entrants[number, model]

    models = [list(log.header.models) for log in logs]
    if len(logs) == 1:
        if len(models[0]) < 2:  # noqa: PLR2004 - it takes two to compare
            raise UsageError(
                f"run {logs[0].header.run_id} holds one model, so there is nothing to compare it with",
                meant="Name a second run: harness compare A B.",
            )
        for other in models[0][1:]:
            yield entrant(0, models[0][0]), entrant(0, other)
        return
    for number in range(1, len(logs)):
        for one, other in _opponents(models[0], models[number], logs[0].header, logs[number].header):
            yield entrant(0, one), entrant(number, other)


def _opponents(one: Sequence[str], other: Sequence[str], first: Header, second: Header) -> list[tuple[str, str]]:
    shared = [(model, model) for model in one if model in other]
    if shared:
        return shared
    if len(one) == len(other) == 1:
        return [(one[0], other[0])]
    raise UsageError(
        f"runs {first.run_id} ({', '.join(one)}) and {second.run_id} ({', '.join(other)}) share no model, and it is "
        "not clear which is to be compared with which",
        meant="Compare runs of one model each, or of the same models.",
    )


def _letters(number: int) -> str:
    size = len(ascii_uppercase)
    return (
        ascii_uppercase[number] if number < size else f"{ascii_uppercase[number // size - 1]}{_letters(number % size)}"
    )


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

    def effect(self, adjusted: Iterator[float], level: float) -> Effect:
        p_adjusted = None if self.test is None else next(adjusted)
        before, after = ([_known(tally.rate) for tally in tallies] for tallies in self._tallies())
        interval, method = _interval(self.judged, before, after)
        change = [pair.change for pair in self.pairs]
        found = p_adjusted is not None and p_adjusted < LEVEL
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
            evidence=("better" if fmean(after) > fmean(before) else "worse") if found else "no evidence either way",
        )

    def _tallies(self) -> tuple[list[Tally], list[Tally]]:
        return [pair.before for pair in self.judged], [pair.after for pair in self.judged]

    def _smallest(self, level: float) -> float | None:
        if not self.judged:
            return None
        trials, other_trials = (harmonic_mean([tally.judged for tally in side]) for side in self._tallies())
        return smallest_difference(_moves(self.judged), trials=trials, other_trials=other_trials, alpha=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A contrast before the correction for all tests is known."""

    before: _Entrant
    after: _Entrant
    shared: tuple[_Name, ...]
    scopes: tuple[_Scope, ...]

    @classmethod
    def of(cls, before: _Entrant, after: _Entrant) -> _Draft:
        shared = tuple(name for name in before.trials if name in after.trials)
        pairs = [
            CasePair(suite=name[0], case=name[1], before=_tally(before.trials[name]), after=_tally(after.trials[name]))
            for name in shared
        ]
        suites = list(dict.fromkeys(pair.suite for pair in pairs))
        parts = suites if len(suites) > 1 else []
        scopes = [_Scope.of(None, pairs), *(_Scope.of(s, [pair for pair in pairs if pair.suite == s]) for s in parts)]
        return cls(before=before, after=after, shared=shared, scopes=tuple(scopes))

    def contrast(self, adjusted: Iterator[float], level: float) -> Contrast:
        effects = tuple(scope.effect(adjusted, level) for scope in self.scopes)
        return Contrast(
            before=self.before.side(self.shared),
            after=self.after.side(self.shared),
            differences=tuple(_setting(self.before, self.after, self.shared)),
            cases=self.scopes[0].pairs,
            effects=effects,
            only_before=_missing(self.before, self.after),
            only_after=_missing(self.after, self.before),
        )


def _missing(of: _Entrant, elsewhere: _Entrant) -> tuple[str, ...]:
    return tuple("::".join(name) for name in of.trials if name not in elsewhere.trials)


def _tally(runs: Sequence[Run]) -> Tally:
    counts = count(runs)
    unjudged = dict.fromkeys(_ending(run) for run in runs if _is_unjudged(run))
    return Tally(passed=counts.passed, judged=counts.judged, unjudged=tuple(unjudged) if runs else ("no record",))


def _is_unjudged(run: Run) -> bool:
    return run.status not in {"passed", "failed"} and run.skip_reason != DECIDED


def _ending(run: Run) -> str:
    detail = run.error.kind if run.error else run.skip_reason
    return f"{run.status} ({detail})" if detail else run.status


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
    return newcombe(fmean(after) * size, size, fmean(before) * other_size, other_size), "Newcombe, unpaired"


def _setting(before: _Entrant, after: _Entrant, shared: Sequence[_Name]) -> Iterator[str]:
    """Yield what differs between what two sides were asked, as far as they share it."""
    if before.model != after.model:
        yield f"model was {before.model}, is {after.model}"
    old, new = (_reduced(entrant, shared, after.model) for entrant in (before, after))
    yield from differences(old, new)
    if old.harness_version != new.harness_version:
        yield f"harness was {old.harness_version}, is {new.harness_version}"
    if set(before.log.tools) != set(after.log.tools):
        shown = [(entrant, entrant.tools(shared)) for entrant in (before, after)]
        blind = [f"no tool list was seen in {entrant.name}" for entrant, tools in shown if not tools]
        yield from blind or tool_differences(shown[0][1], shown[1][1])


def _reduced(entrant: _Entrant, shared: Sequence[_Name], model: str) -> Header:
    """Return the header with nothing but the shared cases and the model, under the name of ``model``."""
    header = entrant.log.header
    suites = {
        suite: {**facts, "cases": {case: digest for case, digest in _cases(facts) if (suite, case) in set(shared)}}
        for suite, facts in header.suites.items()
        if any(suite == name[0] for name in shared)
    }
    return replace(header, suites=suites, models={model: header.models[entrant.model]})


def _cases(facts: JsonObject) -> Iterable[tuple[str, Any]]:
    cases: Mapping[str, Any] = facts.get("cases", {})
    return cases.items()
