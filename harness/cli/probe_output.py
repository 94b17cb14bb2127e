"""The result of a probe, as lines for the console and as a JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.base import make_one_line
from harness.probing import (
    LEAST_PERCENT,
    Account,
    Coverage,
    DecisionChange,
    Direction,
    ProbeReport,
    SkippedTool,
    TokenFate,
    collect_failures,
    format_cells,
    get_request,
)
from harness.reports import ProbeFinding, Problem, matrix_lines, sort_rows_by_urgency
from harness.types import FLAWS, Report

_MOST_NAMES = 6


def format_altered_values(report: ProbeReport) -> Iterator[str]:
    """Yield the lines on all altered values, or the one that says that none was altered."""
    if not report.altered:
        yield "No withheld value was altered, so answers that depend on one were not looked for"
    for account in report.altered:
        if account.fault is None:
            yield from _format_account(account)


def find_altered_faults(report: ProbeReport) -> Iterator[str]:
    """Yield why altering a value showed nothing."""
    return (f"? altered values: {words}" for words in collect_failures(report.altered).values())


def _format_account(account: Account) -> Iterator[str]:
    differing = f"{account.dependent} differ" if account.dependent else "all are equal"
    shut = _format_names(account.must_not_see)
    yield f"{account.name} altered: {account.answers} answers to {shut} compared, {differing}"
    yield f"  {_format_names(account.may_see)} saw it change; {account.calls} calls"
    if account.varying_places:
        yield (
            f"  not compared, because they vary with equal data: {account.varying_places} places "
            f"of {account.varying_answers} answers"
        )
    if account.may_depend:
        yield f"  differ, which the suite allows: {_format_names(account.may_depend)}"
    if account.not_confirmed:
        yield f"  differed at first, but not each time: {account.not_confirmed} answers"
    if account.left_out:
        yield f"  {account.left_out} more calls were left out"


def _format_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    told = ", ".join(names[:_MOST_NAMES]) or "nobody"
    return f"{told} and {more} more" if more > 0 else told


_MOST_TOLD = 3
"""Most findings of one kind about one identity that are shown; JSON has all of them."""
_MOST_LOST = 20
"""Most lines about identities without an answer; JSON has all of them."""
_FATES: Mapping[TokenFate, str] = {
    "accepted": "accepted",
    "refused": "refused",
    "as_nobody": "treated as anonymous",
    "unclear": "with an unclear result",
}
_FORGED: Mapping[str, tuple[Problem, str]] = {
    "identity": ("smuggled_identity", "with another's identity in their arguments or _meta"),
    "arguments": (
        "opened_by_arguments",
        "with others' ids, wildcards, other types, limits, flags, under other names or repeated",
    ),
    "request": (
        "opened_by_request",
        "for resources, prompts and completions that nobody showed the caller",
    ),
    "cursor": ("foreign_cursor", "with a cursor that another caller was given"),
}
"""What is forged → the finding that it may lead to, and the calls in words."""
_NEEDED = f"that needs {LEAST_PERCENT} % coverage (--min-coverage makes a smaller share a failure)"
_NOTE, _WRONG, _UNCLEAR, _RIGHT = "dim", "red", "yellow", "green"
_DIRECTIONS: Mapping[Direction, str] = {"more": _WRONG, "less": _UNCLEAR, "other": _UNCLEAR}


def build_document(
    report: ProbeReport,
    skipped: Sequence[SkippedTool],
    changed: Sequence[DecisionChange],
    exit_code: int,
) -> dict[str, Any]:
    """Return everything as JSON; ``exit_code`` is that of the command."""
    return {
        "run_id": report.report.run_id,
        "log": report.report.log,
        "identities": list(report.callers),
        "decisions": {
            call: {caller: asdict(decided) for caller, decided in callers.items()}
            for call, callers in report.decisions.items()
        },
        "findings": [
            {**asdict(finding), "request": get_request(finding, report.report)}
            for finding in report.findings
        ],
        "changed": [change.description for change in changed],
        "changes": [asdict(change) for change in changed],
        "not_called": [asdict(each) for each in skipped],
        "says_nothing": dict(report.silent),
        "coverage": {
            "asked": report.coverage.covered_cells,
            "cells": report.coverage.cells,
            "percent": round(report.coverage.percent, 2),
            "never_asked": [asdict(cell) for cell in report.coverage.never_asked],
        },
        "notes": list(report.notes),
        "lost": list(report.lost),
        "not_read": list(report.not_read),
        "gates": {tool: list(answers) for tool, answers in report.gates.items()},
        "gates_not_tried": list(report.gates_not_tried),
        "unasked": dict(report.unasked),
        "budget": list(report.budget),
        "narrowed": list(report.narrowed),
        # Tokens with a flaw are damaged identities, too, and have a count of their own.
        "damaged_identities": report.damaged - report.flawed_tokens,
        "flawed_tokens": report.flawed_tokens,
        "swapped_tokens": report.swapped,
        "tokens": dict(report.tokens),
        "leeway": None if report.leeway is None else asdict(report.leeway),
        "leeways": {server: asdict(leeway) for server, leeway in report.leeways.items()},
        "not_tried": list(report.not_tried),
        "not_told": list(report.untold),
        "not_asked": report.not_asked,
        "forged_calls": dict(report.forged),
        "not_forged": report.not_forged,
        "altered": [asdict(one) for one in report.altered],
        "inputs": report.report.settings.get("inputs"),
        "exit_code": exit_code,
    }


def format_lines(
    report: ProbeReport,
    skipped: Sequence[SkippedTool],
    changed: Sequence[DecisionChange],
    width: int,
) -> Iterator[tuple[str, str | None]]:
    """Yield the lines of the console output, each with its style."""
    yield from _format_table(report.report, width)
    yield from ((line, _NOTE) for line in _format_notes(report, skipped))
    yield from ((line, None) for line in _format_damaged(report))
    yield from ((line, None) for line in format_altered_values(report))
    yield from ((line, _UNCLEAR) for line in _format_lost(report))
    yield from ((line, _UNCLEAR) for line in _format_unasked(report))
    yield from ((line, _UNCLEAR) for line in find_altered_faults(report))
    yield from ((f"! {note}", _UNCLEAR) for note in report.notes)
    yield from ((f"✗ {change.summary}", _DIRECTIONS[change.direction]) for change in changed)
    for found in _group_by_caller(report.findings):
        yield from _format_findings(found, report.report)
    yield from _format_coverage(report.coverage)
    unread = report.not_read or report.gates_not_tried
    unclear = report.is_incomplete or unread or report.coverage.failure
    if not (report.findings or changed or unclear):
        if report.narrowed:
            left = f"Nothing was found in the part that {' '.join(report.narrowed)} leaves"
            yield f"{left}; the rest of the server was not asked.", _UNCLEAR
        elif report.coverage.is_sufficient:
            yield "No problem was found in these decisions.", _RIGHT
        else:
            yield f"Too little was asked to find the server in order: {_NEEDED}", _UNCLEAR
    yield f"Every call and result: harness view {report.report.run_id}", None


def summarize_probe(report: ProbeReport, skipped: Sequence[SkippedTool]) -> Iterator[str]:
    """Yield what the probe tried and what it left out, for the log's last line."""
    parts = (
        _format_notes(report, skipped),
        _format_damaged(report),
        format_altered_values(report),
        find_altered_faults(report),
        _format_lost(report),
        _format_unasked(report),
        report.notes,
        (line for line, _ in _format_coverage(report.coverage)),
    )
    yield from (line.strip() for part in parts for line in part)


def _format_coverage(coverage: Coverage) -> Iterator[tuple[str, str | None]]:
    if coverage.failure is not None:
        yield f"✗ {coverage.failure}", _WRONG
    if not coverage.cells:
        return  # nobody was shown a tool
    share = f"{coverage.covered_cells} of {coverage.cells} asked ({coverage.percent:.0f} %)"
    yield f"Coverage: {share}, each parameter of each tool as each identity", None
    never = list(format_cells(coverage.never_asked))
    yield from ((f"  never asked: {line}", _NOTE) for line in never[:_MOST_LOST])
    if (more := len(never) - _MOST_LOST) > 0:
        yield f"  … and {more} more lines of what was never asked; JSON has all", _NOTE


def _format_table(report: Report, width: int) -> Iterator[tuple[str, str | None]]:
    """Yield the matrix, with a short name for each call, and the calls in full below it."""
    rows = sort_rows_by_urgency(report.access)
    named = [
        replace(row, group=f"{number:02} {row.group.partition('(')[0]}")
        for number, row in enumerate(rows, start=1)
    ]
    numbered = replace(report, access=replace(report.access, rows=tuple(named)))
    yield from ((line, None) for line in matrix_lines(numbered, width))
    yield "", None
    yield from ((f"{number:02} {row.group}", _NOTE) for number, row in enumerate(rows, start=1))
    yield "", None


def _format_notes(report: ProbeReport, skipped: Sequence[SkippedTool]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for each in skipped:
        reasons.setdefault(each.reason, []).append(each.tool)
    for reason, tools in reasons.items():
        yield f"Not called: {', '.join(tools)}: {reason}"
    for call, said in report.silent.items():
        yield (
            f"Says nothing about the policy: {call} fails for every identity that is not refused: "
            f"{said}"
        )


def _format_damaged(report: ProbeReport) -> Iterator[str]:
    further = {finding.callers for finding in report.findings if finding.problem == "fails_open"}
    if damaged := report.damaged - report.flawed_tokens:
        told = (
            f"{len(further)} got more than they should"
            if further
            else "none got more than those it was made from"
        )
        unknown = len(set(report.untold) - set(report.tokens))
        untold = f" ({unknown} could not be sent to the server)" if unknown else ""
        left = f"; {report.not_asked} more were not tried" if report.not_asked else ""
        yield f"{damaged} damaged identities tried as well: {told}{untold}{left}"
    yield from _format_tokens(report)
    yield from _format_forged(report)
    for tool, answers in report.gates.items():
        yield f"The consent gate of {tool} was tried: {', '.join(answers)}"


def _format_tokens(report: ProbeReport) -> Iterator[str]:
    if report.flawed_tokens:
        fates = Counter(report.tokens.values())
        counted = ", ".join(
            f"{fates[fate]} {words}" for fate, words in _FATES.items() if fates[fate]
        )
        told = "all were refused" if fates["refused"] == report.flawed_tokens else counted
        yield f"{report.flawed_tokens} tokens that a verifier must refuse were sent: {told}"
        yield from _format_left_open(report)
    elif report.unsent:
        aged = any(leeway.calls for leeway in report.leeways.values())
        told = "only expired ones were" if aged else "none was"
        yield f"Of the tokens that a verifier must refuse, {told} sent"
    if report.leeway is not None:
        yield f"  {report.leeway.description}"
    yield from (f"  {server}: {leeway.description}" for server, leeway in report.leeways.items())
    if report.token_attacks:
        yield f"  tried: {', '.join(report.token_attacks)}"
    if report.not_tried:
        yield f"  not tried: {', '.join(report.not_tried)}"


def _format_forged(report: ProbeReport) -> Iterator[str]:
    for kind, number in report.forged.items():
        problem, words = _FORGED[kind]
        found = sum(finding.problem == problem for finding in report.findings)
        told = f"{found} gave more" if found else "none gave more"
        yield f"{number} calls {words}: {told} than the same caller gets otherwise"
    if report.not_forged:
        yield f"  {report.not_forged} more forged calls were left out"


def _format_left_open(report: ProbeReport) -> Iterator[str]:
    taken = [name for name, fate in report.tokens.items() if fate == "accepted"]
    for flaw in FLAWS.values():
        if flaw.left_open and any(name.endswith(f": {flaw.words}") for name in taken):
            yield f"  accepted, which is no finding: {flaw.words} ({flaw.left_open})"


def _format_lost(report: ProbeReport) -> Iterator[str]:
    yield from (f"? not read: {make_one_line(line)}" for line in report.not_read)
    yield from (f"? not tried: {make_one_line(line)}" for line in report.gates_not_tried)
    yield from (f"? could not ask as {lost}" for lost in report.lost[:_MOST_LOST])
    if (more := len(report.lost) - _MOST_LOST) > 0:
        yield f"  … and {more} more without an answer"


def _format_unasked(report: ProbeReport) -> Iterator[str]:
    if report.unasked:
        yield f"? left unasked, since the budget was spent ({' '.join(report.budget)}):"
    for step, calls in report.unasked.items():
        yield f"    {step}: {f'{calls} calls' if calls else 'not begun'}"


def _group_by_caller(findings: Sequence[ProbeFinding]) -> Iterable[list[ProbeFinding]]:
    """Group findings by kind and identity."""
    groups: dict[tuple[str, tuple[str, ...]], list[ProbeFinding]] = {}
    for finding in findings:
        groups.setdefault((finding.problem, finding.callers), []).append(finding)
    return groups.values()


def _format_findings(
    found: Sequence[ProbeFinding], report: Report
) -> Iterator[tuple[str, str | None]]:
    for finding in found[:_MOST_TOLD]:
        yield f"✗ {finding.words}", _WRONG
        yield from ((f"  {line}", _WRONG) for line in finding.shown)
        request = get_request(finding, report)
        if request is not None and request["command"] is not None:
            yield f"  again: {request['command']}", _NOTE
    if (more := len(found) - _MOST_TOLD) > 0:
        yield f"  … and {more} more of this kind for {', '.join(found[0].callers)}", _WRONG
