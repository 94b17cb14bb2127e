"""Write the findings of a probe as verdicts into its log, so that every view of it shows them.

A finding fails the call that showed it. A finding without such a call, for example a changed
decision, becomes a failed entry of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.base import digest_json
from harness.judging import add_failures, not_started
from harness.probing.caller_sessions import NO_MODEL, SUITE
from harness.probing.caller_views import get_caller_name, get_label, iterate_calls
from harness.probing.effort.budget import Effort
from harness.probing.interference.outcome import collect_failures
from harness.probing.replay import find_shown_call
from harness.probing.report import UNASKED, ProbeReport
from harness.reports import ProbeFinding
from harness.runlog import RunLog, TrialLine
from harness.types import Caller, Case, CheckResult, Trial, TrialError, TrialResult

KIND = "probe"
"""Kind of the check that represents a finding."""


def build_verdict_lines(
    report: ProbeReport, log: RunLog, changed: Sequence[str] = (), fault: str | None = None
) -> Iterator[TrialLine]:
    """Yield the lines to append to ``log`` for the findings and the ``changed`` decisions.

    ``fault`` is a failure of the suite itself. Leaks and unexpected decisions are left out if the
    log already fails the call for them.
    """
    by_call: dict[tuple[str, str], TrialResult] = {}
    # In order of the rounds, so that a finding fails the first call that shows it.
    for result in sorted(iterate_calls(log.results), key=lambda result: result.trial):
        for call in (get_label(result), result.case.name):
            by_call.setdefault((get_caller_name(result), call), result)
    failing: dict[str, list[CheckResult]] = {}
    for finding in report.findings:
        words = "\n".join((finding.words, *finding.shown))
        shown = _find_showing_trial(finding, by_call, log)
        # A call without an answer is an error already, and cannot fail as well.
        if shown is None or shown.status == "error":
            yield _build_failed_line(finding.problem, words, finding.callers)
        elif not _fails_already(finding, shown):
            check = _build_failed_check(finding.problem, words)
            failing.setdefault(shown.key, []).append(check)
    of_key = {result.key: result for result in log.results}
    for key, checks in failing.items():
        run = add_failures(of_key[key], checks)
        yield TrialLine(run=run, transcript=log.read_transcript(key))
    for words in changed:
        yield _build_failed_line("decision_kept", words)
    for name, words in collect_failures(report.altered).items():
        # The comparison of an altered value was inconclusive.
        error = TrialError(kind="harness", message=words)
        trial = _build_trial("interference", name)
        yield TrialLine(run=not_started(trial, "error", error=error))
    if report.coverage.failure is not None:
        yield _build_failed_line("coverage", report.coverage.failure)
    if fault is not None:
        yield _build_failed_line("mutation_score", fault)


def build_unasked_lines(effort: Effort) -> Iterator[TrialLine]:
    """Yield a line for each step that the budget cut off: what is not asked is not in order."""
    for step, calls in effort.unasked.items():
        words = f"{step}: {calls} calls were not made" if calls else f"{step}: was not begun"
        message = f"the budget is spent ({' '.join(effort.budget.options)}): {words}"
        trial = _build_trial(UNASKED, words)
        case = replace(trial.case, metadata={UNASKED: {"step": step, "calls": calls}})
        error = TrialError(kind="harness", message=message)
        yield TrialLine(run=not_started(replace(trial, case=case), "error", error=error))


def _find_showing_trial(
    finding: ProbeFinding, by_call: dict[tuple[str, str], TrialResult], log: RunLog
) -> TrialResult | None:
    if finding.after is not None:
        return find_shown_call(finding, log.results)
    calls = (by_call.get((caller, finding.call or "")) for caller in finding.callers)
    return next((result for result in calls if result is not None), None)


def _fails_already(finding: ProbeFinding, result: TrialResult) -> bool:
    """Whether the log already fails the call for this finding."""
    if finding.is_judged:
        return True
    return finding.problem == "unexpected" and any(
        "decides_access" in check.traits and check.verdict == "failed" for check in result.checks
    )


def _build_failed_check(problem: str, words: str) -> CheckResult:
    return CheckResult(
        kind=KIND, label=f"{KIND} {problem}", verdict="failed", code=problem, explanation=words
    )


def _build_failed_line(problem: str, words: str, callers: Iterable[str] = ()) -> TrialLine:
    """Return a failed entry of its own."""
    result = not_started(_build_trial(problem, words, callers), "failed")
    return TrialLine(run=add_failures(result, [_build_failed_check(problem, words)]))


def _build_trial(problem: str, words: str, callers: Iterable[str] = ()) -> Trial:
    caller = Caller(identity=next(iter(callers), None))
    case = Case(name=f"{problem}: {words.splitlines()[0]}", prompt="", checks=(), caller=caller)
    key = digest_json([SUITE, problem, words])
    return Trial(suite=SUITE, case=case, model=NO_MODEL.name, number=1, key=key)
