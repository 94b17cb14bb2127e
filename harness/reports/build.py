"""From a run log to a `Report`: the one place where results are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness.judging.access import access_report, judged_runs
from harness.judging.access_checks import is_leaking
from harness.reports.formats.notebook import linked
from harness.reports.sections.call_outcomes import count_calls, with_outcomes
from harness.runlog import RunLog
from harness.types import CaseResult, Counts, Report, Status, TrialResult, Usage

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_NOTHING = 2
EXIT_INVALID = 3
EXIT_UNJUDGED = 4
EXIT_INTERRUPTED = 130


def build_report(log: RunLog) -> Report:
    """Return the results of ``log`` in the order of its suites, with their aggregates."""
    judged, facts = judged_runs(log, _in_order(log))
    runs = with_outcomes(judged, log)
    cases = case_results(runs)
    footer = log.footer
    report = Report(
        run_id=log.header.run_id,
        log=str(log.path),
        started_at=log.header.started_at,
        finished_at=footer.finished_at if footer else None,
        elapsed_s=footer.elapsed_s if footer else None,
        reason=footer.reason if footer else "interrupted",
        suites=log.header.suites,
        models=log.header.models,
        runs=tuple(runs),
        cases=cases,
        counts=count(runs, planned=log.header.planned),
        usage=total_usage(runs),
        judge_usage=sum((run.judge_usage for run in runs), Usage()),
        user_usage=sum((run.user_usage for run in runs), Usage()),
        calls=count_calls(runs),
        settings=log.header.settings,
        access=access_report(facts, cases),
        damaged=log.complaints,
    )
    return linked(report, log)


def count(runs: Sequence[TrialResult], planned: int | None = None) -> Counts:
    """Count endings; a planned trial of which there is no record was cut off, and counts as cancelled."""
    endings = Counter(run.status for run in runs)
    planned = len(runs) if planned is None else max(planned, len(runs))
    return Counts(
        planned=planned,
        passed=endings["passed"],
        failed=endings["failed"],
        error=endings["error"],
        skipped=endings["skipped"],
        cancelled=endings["cancelled"] + planned - len(runs),
    )


def case_results(runs: Sequence[TrialResult]) -> tuple[CaseResult, ...]:
    """Return what ``runs`` come to, case by case and model by model."""
    groups: dict[tuple[str, str, str], list[TrialResult]] = {}
    for run in runs:
        groups.setdefault((run.suite, run.case.name, run.model), []).append(run)
    return tuple(_case_result(trials) for trials in groups.values())


def _case_result(trials: Sequence[TrialResult]) -> CaseResult:
    first = trials[0]
    result = CaseResult(
        suite=first.suite,
        case=first.case.name,
        model=first.model,
        status="passed",
        trials=tuple(trials),
        planned=max(len(trials), *(run.repeats for run in trials)),
        pass_threshold=first.case.pass_threshold,
    )
    return replace(result, status=_verdict(result))


def _verdict(case: CaseResult) -> Status:
    """Decide as soon as the trials without a verdict could not change it: none of them is ever taken for a pass."""
    endings = Counter(run.status for run in case.trials)
    if any(is_leaking(run) for run in case.trials):
        return "failed"
    if endings["passed"] >= case.needed:
        return "passed"
    if case.planned - endings["failed"] < case.needed:
        return "failed"
    hindrances: tuple[Status, ...] = ("error", "cancelled", "skipped")
    return next((status for status in hindrances if endings[status]), "cancelled")


def total_usage(runs: Sequence[TrialResult]) -> Usage:
    """Return the sum over ``runs``; a trial of unknown cost makes the sum unknown."""
    return sum((run.usage for run in runs), Usage())


def exit_code(report: Report) -> int:
    """Return what the process is to exit with, by the verdicts on its cases alone."""
    verdicts = {case.status for case in report.cases}
    if report.reason == "interrupted":
        return EXIT_INTERRUPTED
    if report.counts.planned == 0:
        return EXIT_NOTHING
    if "failed" in verdicts:
        return EXIT_FAILED
    complete = report.counts.planned == len(report.runs)
    return EXIT_PASSED if complete and verdicts == {"passed"} else EXIT_UNJUDGED


def _in_order(log: RunLog) -> tuple[TrialResult, ...]:
    """Sort by suite, case, model and repeat as the header has them; results arrive in any order."""
    suites = {name: place for place, name in enumerate(log.header.suites)}
    cases = {
        (suite, name): place
        for suite, facts in log.header.suites.items()
        for place, name in enumerate(facts.get("cases", ()))
    }
    models = {name: place for place, name in enumerate(log.header.models)}
    last = len(log.runs)
    return tuple(
        sorted(
            log.runs,
            key=lambda run: (
                suites.get(run.suite, last),
                cases.get((run.suite, run.case.name), last),
                models.get(run.model, last),
                run.index,
            ),
        )
    )
