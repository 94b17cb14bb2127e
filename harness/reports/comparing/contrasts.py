"""Two or more runs, or the models of one, side by side on the cases that they share.

Cases are compared in pairs, each with itself: by an exact test, never by whether two intervals
overlap. A trial without a verdict is in no pass rate; a case without one on either side is in no
test, and both are counted and shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from itertools import islice
from string import ascii_uppercase
from typing import Any, TypeAlias

from harness.base import (
    LEVEL,
    MARGIN,
    Evidence,
    Pair,
    PairedEffect,
    UsageError,
    compute_mean,
    group_by_test,
    merge_pair,
    merge_trials,
    paired_effects,
    rate_interval,
)
from harness.judging import exit_code
from harness.reports.build import build_report
from harness.reports.comparing.certainty import is_certain, list_subjects
from harness.reports.comparing.compared_entrants import list_comparable, pair_models
from harness.reports.comparing.comparison_types import (
    NO_RECORD,
    CaseEndings,
    CaseName,
    CasePair,
    CaseUsage,
    Comparison,
    Contrast,
    CountedTrials,
    Effect,
    Side,
    TrialEnding,
    sum_usage,
)
from harness.reports.sections.sentences import result_words
from harness.runlog import Header, RunLog, find_differences, tool_differences, value_words
from harness.types import Counts, JsonObject, ToolList, TrialResult, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run as far as a comparison looks at it."""

    header: Header
    """The log's header."""
    log: str
    """Path of the log."""
    trials: CountedTrials
    """The trials that the log has, counted."""
    tools: Mapping[str, ToolList]
    """Digest → tool list."""
    exit_code: int
    """The exit code of the run."""
    ended: str
    """How it ended, in words."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's."""

    @classmethod
    def from_log(cls, log: RunLog) -> ComparedRun:
        """Judge ``log``."""
        report = build_report(log)
        found: dict[str, dict[CaseName, Sequence[TrialResult]]] = {}
        for case in report.cases:
            if case.trials[0].key in log:  # others have no trial
                found.setdefault(case.entrant, {})[case.suite, case.case] = case.trials
        return cls(
            header=log.header,
            log=str(log.path),
            trials=_JudgedTrials(log, found),
            tools=log.tools,
            exit_code=exit_code(report),
            ended=result_words(report),
            by_people=log.by_people,
        )


@dataclass(frozen=True, slots=True)
class _JudgedTrials:
    """The trials of a log that was judged: `CountedTrials`."""

    log: RunLog
    cases: Mapping[str, Mapping[CaseName, Sequence[TrialResult]]]
    """Entrant → case → its trials, in the order of a report."""

    def get_endings(self, entrant: str) -> Mapping[CaseName, CaseEndings]:
        return {
            name: CaseEndings.from_trials(map(TrialEnding.from_result, each), each[0].case.test)
            for name, each in self.cases.get(entrant, {}).items()
        }

    def iterate_usage(self, entrant: str, names: Iterable[CaseName]) -> Iterator[CaseUsage]:
        for trials in self._iterate_cases(entrant, names):
            yield CaseUsage.from_trials(
                (trial.usage, None if trial.stop is None else trial.latency_s) for trial in trials
            )

    def find_offered_tools(self, entrant: str, names: Iterable[CaseName]) -> AbstractSet[str]:
        return {
            said.tools_digest
            for trials in self._iterate_cases(entrant, names)
            for trial in trials
            if (said := self.log.read_transcript(trial.key)) is not None
        }

    def _iterate_cases(
        self, entrant: str, names: Iterable[CaseName]
    ) -> Iterator[Sequence[TrialResult]]:
        cases = self.cases.get(entrant, {})
        return (cases[name] for name in names if name in cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An entrant of a run, with its cases."""

    name: str
    """The name of its `Side`."""
    run: ComparedRun
    """The run that has its trials."""
    entrant: str
    """Its name in the run."""
    cases: Mapping[CaseName, CaseEndings]
    """Case → how its trials ended, in the order of the suites."""

    @classmethod
    def from_run(cls, name: str, run: ComparedRun, entrant: str) -> Entrant:
        """Find the cases of ``entrant`` in ``run``."""
        found = run.trials.get_endings(entrant)
        # The header does not say which entrant was to be asked which suite: any result of it tells
        # that.
        asked = {suite for suite, _ in found}
        suites = run.header.suites.items()
        planned = [(suite, case) for suite, facts in suites for case in facts.get("cases", ())]
        names = dict.fromkeys([*(one for one in planned if one[0] in asked), *found])
        cases = {name: found.get(name, NO_RECORD) for name in names}
        return cls(name=name, run=run, entrant=entrant, cases=cases)

    @property
    def axis_values(self) -> JsonObject:
        """Its model, and its value on each axis."""
        values: JsonObject = self.run.header.entrants[self.entrant]
        return values

    @property
    def subjects(self) -> list[JsonObject]:
        """Everything that answers: see `list_subjects`."""
        return list_subjects(self.run.header, self.entrant)

    def axis_words(self, axis: str) -> str:
        """Return its value on ``axis`` in a few words."""
        value = self.axis_values.get(axis)
        return value_words(value, self.run.header.axes.get(axis, {}).get(value, {}))

    def select_tools(self, names: Iterable[CaseName]) -> dict[str, ToolList]:
        """Return the tool lists shown to the users of those cases: other users may see others."""
        shown = self.run.trials.find_offered_tools(self.entrant, names)
        return {digest: tools for digest, tools in self.run.tools.items() if digest in shown}

    def build_side(self, names: Sequence[CaseName]) -> Side:
        """Return its figures over those cases."""
        endings = {name: self.cases[name] for name in names}
        # Cases of a large run end in few ways, so that few sums are made.
        alike = Counter(ending.counts for ending in endings.values()).items()
        each = [field.name for field in fields(Counts)]
        counts = {it: sum(getattr(one, it) * cases for one, cases in alike) for it in each}
        counted = ((name[0], one.test, one.tally.trial_counts) for name, one in endings.items())
        tests = group_by_test(counted)
        judged = [one for one in map(merge_trials, tests) if one[1]]
        rates = [passed / trials for passed, trials in judged]
        usage, latency_s = sum_usage(self.run.trials.iterate_usage(self.entrant, names))
        return Side(
            name=self.name,
            run_id=self.run.header.run_id,
            log=self.run.log,
            model=self.axis_values["model"],
            axes={axis: value for axis, value in self.axis_values.items() if axis != "model"},
            started_at=self.run.header.started_at,
            counts=Counts(**counts),
            rate=compute_mean(rates),
            interval=rate_interval(rates, sum(trials for _, trials in judged)),
            usage=usage,
            latency_s=latency_s,
            exit_code=self.run.exit_code,
            ended=self.run.ended,
        )


def pair_entrants(runs: Sequence[ComparedRun]) -> Iterator[tuple[Entrant, Entrant]]:
    """Yield the pairs to compare: every further log with the first, or entrants of a single one.

    Raises:
        UsageError: there is nothing to compare.
    """
    entrants: dict[tuple[int, str], Entrant] = {}

    def get_entrant(number: int, name: str) -> Entrant:
        if (number, name) not in entrants:
            letters = _format_letters(len(entrants))
            entrants[number, name] = Entrant.from_run(letters, runs[number], name)
        return entrants[number, name]

    if len(runs) == 1:
        first, *others = list_comparable(runs[0].header) or [""]
        if not others:
            raise UsageError(
                f"run {runs[0].header.run_id} holds one model, so there is nothing to compare it "
                "with",
                meant="Name a second run: harness compare A B.",
            )
        for other in others:
            yield get_entrant(0, first), get_entrant(0, other)
        return
    for number in range(1, len(runs)):
        for one, other in pair_models(runs[0].header, runs[number].header):
            yield get_entrant(0, one), get_entrant(number, other)


def _format_letters(number: int) -> str:
    before, letter = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[before - 1] if before else "") + ascii_uppercase[letter]


def setting_differences(
    before: Entrant, after: Entrant, shared: Sequence[CaseName]
) -> Iterator[str]:
    """Yield the differences between the settings of two sides, over their shared cases."""
    was, now = before.axis_values["model"], after.axis_values["model"]
    if was != now:
        yield f"model was {was}, is {now}"
    for axis in dict.fromkeys([*before.run.header.axes, *after.run.header.axes]):
        if (old_words := before.axis_words(axis)) != (new_words := after.axis_words(axis)):
            yield f"{axis} was {old_words}, is {new_words}"
    old, new = (_reduce_header(entrant, shared, now) for entrant in (before, after))
    yield from find_differences(old, new)
    if old.harness_version != new.harness_version:
        yield f"harness was {old.harness_version}, is {new.harness_version}"
    # Equal digests are equal lists, and no conversation needs to be read for them.
    if set(before.run.tools) != set(after.run.tools):
        shown = {side.name: side.select_tools(shared) for side in (before, after)}
        blind = [f"no tool list was seen in {name}" for name, tools in shown.items() if not tools]
        yield from blind or tool_differences(*shown.values())


def _reduce_header(entrant: Entrant, shared: Sequence[CaseName], model: str) -> Header:
    """Return the header reduced to the shared cases and its model, which it calls ``model``."""
    header = entrant.run.header
    wanted = set(shared)
    suites: dict[str, Any] = {}
    for suite, facts in header.suites.items():
        digests = facts.get("cases", {}).items()
        cases = {case: digest for case, digest in digests if (suite, case) in wanted}
        if any(suite == one for one, _ in wanted):
            suites[suite] = {**facts, "cases": cases}
    models = {model: header.models[entrant.axis_values["model"]]}
    return replace(header, suites=suites, models=models, axes={})


Scope: TypeAlias = tuple[str | None, Sequence[CasePair]]
"""A suite, or ``None`` of all of them, and its pairs."""


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
    drafts = [(*sides, list_scopes(_pair_cases(*sides))) for sides in pair_entrants(runs)]
    every = [scope for *_, scopes in drafts for scope in scopes]
    found = paired_effects(list(map(collect_trials, every)), margin=margin)
    certain: list[bool] = []
    for before, after, scopes in drafts:
        certain += [is_certain(before.subjects, after.subjects, scopes[0][1])] * len(scopes)
    # Each contrast takes as many as it has scopes, in the order in which they were tested.
    effects = map(_build_effect, every, found, certain)
    return Comparison(
        contrasts=tuple(
            _build_contrast(before, after, scopes[0][1], list(islice(effects, len(scopes))))
            for before, after, scopes in drafts
        ),
        level=LEVEL,
        tests=sum(effect is not None for effect in found),
        margin=margin,
        by_people=any(run.by_people for run in runs),
    )


def list_scopes(pairs: Sequence[CasePair]) -> list[Scope]:
    """Return the pairs of shared cases: all of them, then suite by suite."""
    by_suite: dict[str | None, list[CasePair]] = {}
    for pair in pairs:
        by_suite.setdefault(pair.suite, []).append(pair)
    # A single suite would be the same test once more, and make the correction stricter for nothing.
    return [(None, pairs), *(by_suite.items() if len(by_suite) > 1 else ())]


def _pair_cases(before: Entrant, after: Entrant) -> list[CasePair]:
    return [
        CasePair.from_endings(name, tried, after.cases[name])
        for name, tried in before.cases.items()
        if name in after.cases
    ]


def collect_trials(scope: Scope) -> list[Pair]:
    """Return each test's trials before and after."""
    counted = ((pair.suite, pair.test, pair.trial_counts) for pair in scope[1])
    return [*map(merge_pair, group_by_test(counted))]


def _build_effect(scope: Scope, found: PairedEffect | None, certain: bool) -> Effect:  # noqa: FBT001 - one of three in a row
    """Return what the pairs show; ``found`` is ``None`` where none was judged."""
    suite, pairs = scope
    change = [pair.change for pair in pairs]
    moved = Effect(
        suite=suite,
        better=change.count("better"),
        worse=change.count("worse"),
        same=change.count("same"),
        not_judged=change.count("not judged"),
        certain=certain,
    )
    if found is None:
        return moved
    # A subject that never varies has changed where a case has, however few there are.
    changed = certain and found.difference != 0
    verdict: Evidence = "better" if found.difference > 0 else "worse"
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
        evidence=verdict if changed else found.verdict,
        cases_to_decide=None if changed else found.cases_to_decide,
    )


def _build_contrast(
    before: Entrant, after: Entrant, pairs: Sequence[CasePair], effects: Iterable[Effect]
) -> Contrast:
    shared = [(pair.suite, pair.case) for pair in pairs]
    return Contrast(
        before=before.build_side(shared),
        after=after.build_side(shared),
        differences=tuple(setting_differences(before, after, shared)),
        cases=tuple(pairs),
        effects=tuple(effects),
        only_before=_find_missing(before, after),
        only_after=_find_missing(after, before),
    )


def _find_missing(of: Entrant, elsewhere: Entrant) -> tuple[str, ...]:
    return tuple("::".join(name) for name in of.cases if name not in elsewhere.cases)
