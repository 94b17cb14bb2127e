"""The text of a failed case for pytest: that of harness's summary, without a traceback."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from textwrap import indent

from harness.base import bounded
from harness.reports import (
    case_mark,
    case_name,
    effort,
    endings,
    failed_checks,
    marked,
    model_words,
    pass_rate_lines,
    remark_lines,
    repeat_lines,
    trials_passed,
)
from harness.types import CaseResult, CheckResult, Report, TrialResult

_MARKED = 20
"""Most marked cases that are named at the end of a session."""
_LONGEST = 8_000
"""Most characters of one text; the rest is in the log."""


def failure(case: CaseResult) -> str:
    """Return why a judged case did not pass.

    The first line is the most important: pytest's list of failures shows it.
    """
    run = case.spokesman
    return "\n".join((*_checks(run), *_context(case)))


def no_verdict(case: CaseResult) -> str:
    """Return why there is no verdict."""
    run = case.spokesman
    lines: list[str] = [case.status]
    if run.error:
        lines = [bounded(f"{run.error.kind} error: {run.error.message}", _LONGEST)]
    if run.error and run.error.detail:
        lines.append(_indented(run.error.detail))
    return "\n".join((*lines, *_context(case)))


def reason(case: CaseResult) -> str:
    """Return why a case was not started."""
    words = case.spokesman.skip_reason or "not started"
    return "not run: the budget is used up" if words == "budget" else f"not run: {words}"


def failed_later(report: Report, told: Collection[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the cases that fail only by the whole run, for example by a leak.

    ``told`` has suite, case and model of each test that pytest already knows as failed.
    """
    for case in report.cases:
        if case.status == "failed" and (case.suite, case.case, case.model) not in told:
            at = f"{case.spokesman.case.at}: " if case.spokesman.case.at else ""
            yield f"FAILED {at}{case_name(case, report)}: the other cases show it\n{failure(case)}"


def totals(report: Report) -> Iterator[str]:
    """Yield the lines of the summary."""
    for name, facts in report.models.items():
        yield f"model {name}  {model_words(facts, name)}"
    ended = ", ".join(f"{amount} {status}" for status, amount in endings(report))
    yield f"{report.counts.planned} planned: {ended or 'none'}"
    yield from remark_lines(report)
    yield from _marked(report)
    yield from pass_rate_lines(report)
    yield from repeat_lines(report)
    yield from effort(report)


def _marked(report: Report) -> Iterator[str]:
    """Yield the first cases that passed and have a mark: pytest itself shows them as dots."""
    cases = marked(report)
    for case in cases[:_MARKED]:
        yield bounded(f"{case_name(case, report)}: {case_mark(case)}", _LONGEST)
    if len(cases) > _MARKED:
        yield f"… and {len(cases) - _MARKED} more"


def _checks(result: TrialResult) -> Iterator[str]:
    for check in failed_checks(result):
        yield from _check(check, "✗")
    for check in result.checks:
        if check.verdict != "passed" and check.severity == "warn":
            yield from _check(check, "!")


def _check(check: CheckResult, mark: str) -> Iterator[str]:
    where = f"  ({check.at})" if check.at else ""
    yield bounded(f"{mark} {check.label}{where}", _LONGEST)
    if check.explanation:
        yield _indented(check.explanation)
    if check.hint:
        yield _indented(f"→ {check.hint}")


def _context(case: CaseResult) -> Iterator[str]:
    run = case.spokesman
    if run.case.description:
        yield bounded(run.case.description, _LONGEST)
    trials = f" · {trials_passed(case)}, {case.needed} needed" if case.planned > 1 else ""
    who = (
        f" · as {json.dumps(dict(run.case.user_context), ensure_ascii=False)}"
        if run.case.user_context
        else ""
    )
    yield bounded(f"model {case.model}{who}{trials}", _LONGEST)


def _indented(text: str) -> str:
    return indent(bounded(text, _LONGEST), "    ")
