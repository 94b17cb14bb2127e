"""The text of a failed case for pytest: that of harness's summary, without a traceback."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from textwrap import indent

from harness.base import limit_text
from harness.reports import (
    case_mark,
    case_name,
    failed_checks,
    format_effort,
    list_servers,
    list_status_counts,
    model_words,
    pass_rate_lines,
    remark_lines,
    repeat_lines,
    select_marked,
    trials_passed,
)
from harness.types import CaseResult, CheckResult, Report

_MARKED = 20
"""Most marked cases that are named at the end of a session."""
_LONGEST = 8_000
"""Most characters of one text; the rest is in the log."""


def format_failure(case: CaseResult) -> str:
    """Return why a judged case did not pass.

    The first line is the most important: pytest's list of failures shows it.
    """
    run = case.deciding_trial
    lines = [line for check in failed_checks(run) for line in _format_check(check, "✗")]
    for check in run.checks:
        if check.verdict != "passed" and check.severity == "warn":
            lines += _format_check(check, "!")
    return "\n".join((*lines, *_format_context(case)))


def no_verdict(case: CaseResult) -> str:
    """Return why there is no verdict."""
    run = case.deciding_trial
    lines: list[str] = [case.status]
    if run.error:
        lines = [limit_text(f"{run.error.kind} error: {run.error.message}", _LONGEST)]
    if run.error and run.error.detail:
        lines.append(_indent(run.error.detail))
    return "\n".join((*lines, *_format_context(case)))


def format_skip_reason(case: CaseResult) -> str:
    """Return why a case was not started."""
    words = case.deciding_trial.skip_reason or "not started"
    return "not run: the budget is used up" if words == "budget" else f"not run: {words}"


def failed_later(report: Report, told: Collection[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the cases that fail only by the whole run, for example by a leak.

    ``told`` has suite, case and model of each test that pytest already knows as failed.
    """
    for case in report.cases:
        if case.status == "failed" and (case.suite, case.case, case.entrant) not in told:
            at = f"{case.deciding_trial.case.at}: " if case.deciding_trial.case.at else ""
            name = f"FAILED {at}{case_name(case, report)}"
            yield f"{name}: the other cases show it\n{format_failure(case)}"


def format_totals(report: Report) -> Iterator[str]:
    """Yield the lines of the summary."""
    for name, words in list_servers(report):
        yield f"server {name}  {words}".rstrip()
    for name in report.entrants:
        yield f"model {name}  {model_words(report, name)}"
    ended = ", ".join(f"{amount} {status}" for status, amount in list_status_counts(report))
    yield f"{report.counts.planned} planned: {ended or 'none'}"
    yield from remark_lines(report)
    # Cases that passed and have a mark: pytest itself shows them as dots.
    marked = select_marked(report)
    for case in marked[:_MARKED]:
        yield limit_text(f"{case_name(case, report)}: {case_mark(case)}", _LONGEST)
    if len(marked) > _MARKED:
        yield f"… and {len(marked) - _MARKED} more"
    yield from pass_rate_lines(report)
    yield from repeat_lines(report)
    yield from format_effort(report)


def _format_check(check: CheckResult, mark: str) -> Iterator[str]:
    where = f"  ({check.at})" if check.at else ""
    yield limit_text(f"{mark} {check.label}{where}", _LONGEST)
    if check.explanation:
        yield _indent(check.explanation)
    if check.hint:
        yield _indent(f"→ {check.hint}")


def _format_context(case: CaseResult) -> Iterator[str]:
    run = case.deciding_trial
    if run.case.description:
        yield limit_text(run.case.description, _LONGEST)
    trials = f" · {trials_passed(case)}, {case.needed_passes} needed" if case.planned > 1 else ""
    context = run.case.user_context
    who = f" · as {json.dumps(dict(context), ensure_ascii=False)}" if context else ""
    yield limit_text(f"model {case.entrant}{who}{trials}", _LONGEST)


def _indent(text: str) -> str:
    return indent(limit_text(text, _LONGEST), "    ")
