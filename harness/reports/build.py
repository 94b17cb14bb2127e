"""From a run log to a `Report`: the one place where results are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness.judging.access_report import access_report
from harness.judging.cases import case_results
from harness.judging.from_log import judge_log, order_of
from harness.judging.missing_results import NO_TRIAL, missing_results
from harness.reports.formats.notebook import linked
from harness.reports.sections.call_outcomes import count_calls
from harness.runlog import RunLog
from harness.types import Counts, Report, Status, TrialResult, Usage


def build_report(log: RunLog) -> Report:
    """Return the results of ``log`` in the order of its suites, with their aggregates."""
    judged = judge_log(log)
    found = (*judged.results, *missing_results(log, judged.results))
    results = tuple(sorted(found, key=order_of(log.header)))
    cases = case_results(results)
    report = replace(
        report_on(log, count(results, planned=log.header.planned), total_usage(results)),
        results=results,
        cases=cases,
        judge_usage=sum((result.judge_usage for result in results), Usage()),
        user_usage=sum((result.user_usage for result in results), Usage()),
        calls=count_calls(results),
        access=access_report(judged.facts, cases),
    )
    return linked(report, log)


def report_on(log: RunLog, counts: Counts, usage: Usage) -> Report:
    """Return what ``log`` says of its run as a whole, without any result."""
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
        results=(),
        cases=(),
        counts=counts,
        usage=usage,
        settings=log.header.settings,
        damaged=log.complaints,
        reviews=log.reviews,
        by_people=log.by_people,
    )


def count(results: Sequence[TrialResult], planned: int | None = None) -> Counts:
    """Count results by status; planned trials without a record were cut off: cancelled."""
    return counts_of(
        Counter(result.status for result in results if result.index != NO_TRIAL), planned
    )


def counts_of(endings: Counter[Status], planned: int | None = None) -> Counts:
    """Return the counts of trials that ended like ``endings``; see `count`."""
    counted = endings.total()
    planned = counted if planned is None else max(planned, counted)
    return Counts(
        planned=planned,
        passed=endings["passed"],
        failed=endings["failed"],
        error=endings["error"],
        skipped=endings["skipped"],
        cancelled=endings["cancelled"] + planned - counted,
    )


def total_usage(results: Sequence[TrialResult]) -> Usage:
    """Return the sum over ``results``; a trial of unknown cost makes the sum unknown."""
    return sum((result.usage for result in results), Usage())
