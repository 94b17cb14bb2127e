"""From a run log to a `Report`, the one place where results are counted, and a row of past runs."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from pathlib import Path

from harness.base import InvalidInput, format_money, make_one_line
from harness.judging import (
    NO_TRIAL,
    access_report,
    case_results,
    exit_code,
    judge_log,
    missing_results,
    order_by_header,
)
from harness.reports.formats.notebook import link_conversations
from harness.reports.sections.remarks import count_calls
from harness.reports.sections.sentences import result_words
from harness.runlog import RunLog, read_log, store_results
from harness.types import CaseResult, Counts, Report, Status, TrialResult, Usage, dataclass


def build_report(log: RunLog) -> Report:
    """Return the results of ``log`` in the order of its suites, with their aggregates."""
    judged = judge_log(log)
    order = order_by_header(log.header)
    missing = sorted(missing_results(log, judged.results), key=order)
    results = judged.results
    if missing:
        results = store_results(heapq.merge(results, missing, key=order), log.results)
    cases = case_results(results)
    totals = Totals()
    for result in results:
        totals.add_result(result)
    report = replace(
        build_run_report(log, totals),
        results=results,
        cases=cases,
        calls=count_calls(results),
        access=access_report(judged.facts, cases),
    )
    return link_conversations(report, log)


@dataclass(slots=True)
class Totals:
    """What is summed over all results while they go by."""

    endings: Counter[Status] = field(default_factory=Counter)
    """How many trials ended how."""
    further: int = 0
    """How many of them are beyond the plan."""
    usage: Usage = field(default_factory=Usage)
    """As in `Report`, as the next two."""
    judge_usage: Usage = field(default_factory=Usage)
    user_usage: Usage = field(default_factory=Usage)

    def add_result(self, result: TrialResult) -> None:
        """Add one result."""
        if result.trial != NO_TRIAL:
            self.endings[result.status] += 1
            self.further += result.is_further
        self.usage += result.usage
        self.judge_usage += result.judge_usage
        self.user_usage += result.user_usage


def build_run_report(log: RunLog, totals: Totals) -> Report:
    """Return what ``log`` says of its run as a whole, with ``totals`` and without any result."""
    footer = log.footer
    return Report(
        run_id=log.header.run_id,
        log=str(log.path),
        started_at=log.header.started_at,
        finished_at=footer.finished_at if footer else None,
        elapsed_s=footer.elapsed_s if footer else None,
        reason=footer.reason if footer else "interrupted",
        suites=log.header.suites,
        models=log.header.models,
        servers=log.header.servers,
        entrants=log.header.entrants,
        results=(),
        cases=(),
        counts=count_statuses(totals.endings, log.header.planned + totals.further),
        usage=totals.usage,
        judge_usage=totals.judge_usage,
        user_usage=totals.user_usage,
        settings=log.header.settings,
        damaged=log.complaints,
        reviews=log.reviews,
        by_people=log.by_people,
    )


def count_results(results: Iterable[TrialResult], planned: int | None = None) -> Counts:
    """Count results by status; planned trials without a record were cut off: cancelled."""
    endings = Counter(result.status for result in results if result.trial != NO_TRIAL)
    return count_statuses(endings, planned)


def count_statuses(endings: Counter[Status], planned: int | None = None) -> Counts:
    """Return the counts of trials that ended like ``endings``; see `count_results`."""
    counted = endings.total()
    # Never below what was counted: the rest is the number of trials that were cut off.
    planned = counted if planned is None else max(planned, counted)
    return Counts(
        planned=planned,
        passed=endings["passed"],
        failed=endings["failed"],
        error=endings["error"],
        skipped=endings["skipped"],
        cancelled=endings["cancelled"] + planned - counted,
    )


def iterate_trials(cases: Iterable[CaseResult]) -> Iterator[TrialResult]:
    """Yield the trials of ``cases``: those of a large run are read as they are asked for."""
    return (result for case in cases for result in case.trials)


COLUMNS = ("started (UTC)", "suite", "model", "result", "cost", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """The facts of a run as a whole, from its log."""

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    started_at: str
    """UTC, ISO 8601."""
    suites: tuple[str, ...]
    """Names of its suites."""
    models: tuple[str, ...]
    """Names of its models."""
    counts: Counts
    """How its trials ended."""
    reason: str
    """Why it ended."""
    exit_code: int
    """The exit code of its process, by the results."""
    cost_usd: float | None
    """Models under test, judges and simulated users together; ``None`` when unknown."""
    elapsed_s: float | None
    """Wall time; ``None`` when it was interrupted."""
    result: str
    """The result in words."""
    damaged: tuple[str, ...] = ()
    """Lines of the log that cannot be read, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableLog:
    """A log that cannot be read."""

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    error: str
    """Why not."""


def past_runs(logs: Iterable[Path]) -> Iterator[PastRun | UnreadableLog]:
    """Yield the facts of each log's run; a damaged log hides no other."""
    for path in logs:
        try:
            yield past_run(build_report(read_log(path)))
        except (InvalidInput, OSError) as error:
            yield UnreadableLog(run_id=path.parent.name, log=str(path), error=str(error))


def format_run_cells(run: PastRun | UnreadableLog) -> tuple[str, ...]:
    """Return a run's cells under `COLUMNS`."""
    if isinstance(run, UnreadableLog):
        return ("", "", "", "unreadable", "", make_one_line(run.run_id))
    started = run.started_at[:16].replace("T", " ")
    names = (_join_few(run.suites), _join_few(run.models), run.result)
    cost, name = format_money(run.cost_usd), make_one_line(run.run_id)
    return (started, *map(make_one_line, names), cost, name)


def past_run(report: Report) -> PastRun:
    """Return the facts of a run as a whole."""
    return PastRun(
        run_id=report.run_id,
        log=report.log,
        started_at=report.started_at,
        suites=tuple(report.suites),
        models=tuple(report.entrants),
        counts=report.counts,
        reason=report.reason,
        exit_code=exit_code(report),
        cost_usd=(report.usage + report.judge_usage + report.user_usage).cost_usd,
        elapsed_s=report.elapsed_s,
        result=result_words(report),
        damaged=report.damaged,
    )


def _join_few(names: tuple[str, ...]) -> str:
    return names[0] + (f" +{len(names) - 1}" if len(names) > 1 else "") if names else ""
