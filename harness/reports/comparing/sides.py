"""The sides of a comparison: models of one run, or several runs, and how their settings differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from string import ascii_uppercase
from typing import Any, TypeAlias

from harness.errors import UsageError
from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report, count, total_usage
from harness.reports.comparing.nouns import Side, Tally
from harness.reports.sections.sentences import result_words
from harness.runlog import Header, RunLog
from harness.runlog_diff import differences, tool_differences
from harness.stats import mean, rate_interval
from harness.types import DECIDED, JsonObject, ToolList, TrialResult

CaseName: TypeAlias = tuple[str, str]
"""Suite and case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run as far as a comparison looks at it; results may be those of an index."""

    header: Header
    """The log's header."""
    log: str
    """Path of the log."""
    results: Sequence[TrialResult]
    """The judged result of each trial that the log has, in the order of a report."""
    tools: Mapping[str, ToolList]
    """Digest → tool list."""
    offered: Callable[[TrialResult], str | None]
    """Returns the digest of the tool list that a trial's user was shown."""
    exit_code: int
    """The exit code of the run."""
    ended: str
    """How it ended, in words."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's."""

    @classmethod
    def of(cls, log: RunLog) -> ComparedRun:
        """Judge ``log``."""
        report = build_report(log)
        recorded = {result.key for result in log.results}

        def offered(result: TrialResult) -> str | None:
            transcript = log.transcript(result.key)
            return None if transcript is None else transcript.tools_digest

        return cls(
            header=log.header,
            log=str(log.path),
            results=[result for result in report.results if result.key in recorded],
            tools=log.tools,
            offered=offered,
            exit_code=exit_code(report),
            ended=result_words(report),
            by_people=log.by_people,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A model in a run, with its trials by case."""

    name: str
    """The name of its `Side`."""
    run: ComparedRun
    """The run that has its trials."""
    model: str
    """Name of the model."""
    trials: Mapping[CaseName, Sequence[TrialResult]]
    """Case → its trials, none where the log has no record, in the order of the suites."""

    @classmethod
    def of(cls, name: str, run: ComparedRun, model: str) -> Entrant:
        """Find the trials of ``model`` in ``run``."""
        found: dict[CaseName, list[TrialResult]] = defaultdict(list)
        for result in run.results:
            if result.model == model:
                found[result.suite, result.case.name].append(result)
        asked = {suite for suite, _ in found}
        planned = [name for name in _planned(run.header) if name[0] in asked]
        names = dict.fromkeys([*planned, *found])
        return cls(
            name=name,
            run=run,
            model=model,
            trials={name: found.get(name, []) for name in names},
        )

    def tools(self, names: Iterable[CaseName]) -> dict[str, ToolList]:
        """Return the tool lists shown to the users of those cases: other users may see others."""
        shown = {self.run.offered(one) for name in names for one in self.trials[name]}
        return {digest: tools for digest, tools in self.run.tools.items() if digest in shown}

    def side(self, names: Iterable[CaseName]) -> Side:
        """Return its figures over those cases."""
        cases = [self.trials[name] for name in names]
        runs = [result for trials in cases for result in trials]
        counts = count(runs)
        rates = [rate for trials in cases if (rate := tally(trials).rate) is not None]
        latencies = [result.latency_s for result in runs if result.stop is not None]
        return Side(
            name=self.name,
            run_id=self.run.header.run_id,
            log=self.run.log,
            model=self.model,
            started_at=self.run.header.started_at,
            counts=counts,
            rate=mean(rates),
            interval=rate_interval(rates, counts.judged),
            usage=total_usage(runs),
            latency_s=fmean(latencies) if latencies else None,
            exit_code=self.run.exit_code,
            ended=self.run.ended,
        )


def _planned(header: Header) -> list[CaseName]:
    return [(suite, case) for suite, facts in header.suites.items() for case, _ in _cases(facts)]


def duels(runs: Sequence[ComparedRun]) -> Iterator[tuple[Entrant, Entrant]]:
    """Yield the pairs to compare: every further log with the first, or the models of a single one.

    Raises:
        UsageError: there is nothing to compare.
    """
    entrants: dict[tuple[int, str], Entrant] = {}

    def entrant(number: int, model: str) -> Entrant:
        if (number, model) not in entrants:
            entrants[number, model] = Entrant.of(_letters(len(entrants)), runs[number], model)
        return entrants[number, model]

    models = [list(run.header.models) for run in runs]
    if len(runs) == 1:
        if len(models[0]) < 2:  # noqa: PLR2004 - it takes two to compare
            raise UsageError(
                f"run {runs[0].header.run_id} holds one model, so there is nothing to compare it "
                "with",
                meant="Name a second run: harness compare A B.",
            )
        for other in models[0][1:]:
            yield entrant(0, models[0][0]), entrant(0, other)
        return
    for number in range(1, len(runs)):
        for one, other in _opponents(
            models[0], models[number], runs[0].header, runs[number].header
        ):
            yield entrant(0, one), entrant(number, other)


def _opponents(
    one: Sequence[str], other: Sequence[str], first: Header, second: Header
) -> list[tuple[str, str]]:
    shared = [(model, model) for model in one if model in other]
    if shared:
        return shared
    if len(one) == len(other) == 1:
        return [(one[0], other[0])]
    raise UsageError(
        f"runs {first.run_id} ({', '.join(one)}) and {second.run_id} ({', '.join(other)}) share no "
        "model, and it is not clear which is to be compared with which",
        meant="Compare runs of one model each, or of the same models.",
    )


def _letters(number: int) -> str:
    size = len(ascii_uppercase)
    return (
        ascii_uppercase[number]
        if number < size
        else f"{ascii_uppercase[number // size - 1]}{_letters(number % size)}"
    )


def tally(runs: Sequence[TrialResult]) -> Tally:
    """Count the trials of one case."""
    counts = count(runs)
    unjudged = dict.fromkeys(_ending(result) for result in runs if _is_unjudged(result))
    return Tally(
        passed=counts.passed,
        judged=counts.judged,
        unjudged=tuple(unjudged) if runs else ("no record",),
    )


def _is_unjudged(result: TrialResult) -> bool:
    return result.status not in {"passed", "failed"} and result.skip_reason != DECIDED


def _ending(result: TrialResult) -> str:
    detail = result.error.kind if result.error else result.skip_reason
    return f"{result.status} ({detail})" if detail else result.status


def setting_differences(
    before: Entrant, after: Entrant, shared: Sequence[CaseName]
) -> Iterator[str]:
    """Yield the differences between the settings of two sides, over their shared cases."""
    if before.model != after.model:
        yield f"model was {before.model}, is {after.model}"
    old, new = (_reduced(entrant, shared, after.model) for entrant in (before, after))
    yield from differences(old, new)
    if old.harness_version != new.harness_version:
        yield f"harness was {old.harness_version}, is {new.harness_version}"
    if set(before.run.tools) != set(after.run.tools):
        shown = [(entrant, entrant.tools(shared)) for entrant in (before, after)]
        blind = [
            f"no tool list was seen in {entrant.name}" for entrant, tools in shown if not tools
        ]
        yield from blind or tool_differences(shown[0][1], shown[1][1])


def _reduced(entrant: Entrant, shared: Sequence[CaseName], model: str) -> Header:
    """Return the header reduced to the shared cases and the model, which it calls ``model``."""
    header = entrant.run.header
    wanted = set(shared)
    suites = {
        suite: {
            **facts,
            "cases": {case: digest for case, digest in _cases(facts) if (suite, case) in wanted},
        }
        for suite, facts in header.suites.items()
        if any(suite == name[0] for name in shared)
    }
    return replace(header, suites=suites, models={model: header.models[entrant.model]})


def _cases(facts: JsonObject) -> Iterable[tuple[str, Any]]:
    cases: Mapping[str, Any] = facts.get("cases", {})
    return cases.items()
