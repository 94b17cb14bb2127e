"""Markdown for a pull request's comment or a job's summary: failures with reasons, and a table.

Everything from a suite, a model or a server is put in a code span or code block, so that nothing in
it is markup, a link, a mention of somebody or an image to fetch.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TextIO

from harness.base import bounded, money, number, one_line, seconds, shorten
from harness.reports.build import total_usage
from harness.reports.case_names import case_name
from harness.reports.sections.access_matrix import (
    LEGEND,
    access_warnings,
    cell_words,
    cells_of,
    distinct_leaks,
    leak_words,
    row_name,
)
from harness.reports.sections.access_matrix import by_urgency as matrix_rows
from harness.reports.sections.audit import inputs_of
from harness.reports.sections.call_outcomes import case_mark
from harness.reports.sections.remarks import remark_lines
from harness.reports.sections.repeats import repeat_lines, trials_needed
from harness.reports.sections.sentences import (
    account,
    beside,
    by_urgency,
    effort,
    endings,
    model_words,
    pass_rate_lines,
    problem,
    stand_ins,
)
from harness.reports.sections.tool_use import confusions
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import CaseResult, Report, Status

_MARKS: dict[Status, str] = {
    "passed": "✅",
    "failed": "❌",
    "error": "💥",
    "skipped": "⏭️",
    "cancelled": "⏹️",
}
_ROOM = 50_000
"""Characters for all of it: a comment may hold 65,536."""
_PROBLEM = 160
_ACCOUNT = 3_000
_CONFUSIONS = 5
_LEAKS = 10
_ROWS = 50


def write_markdown(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write the summary; what has no room any more is counted, and the run named that holds it."""
    head = "\n".join((*_head(report, log), ""))
    stream.write(head)
    stream.write(access := _access(report))
    stream.write(_TABLE_HEAD)
    room = _ROOM - len(head) - len(access)
    room = _fitting(_table(report), room // 2, stream) + room // 2
    stream.write("\n")
    _fitting(_details(report), room, stream)
    stream.write(f"\nSee every message and call: `harness view {report.run_id}`\n")


WRITER = Writer(
    write=write_markdown, file_name="report.md", suffix=".md", media_type="text/markdown"
)
"""``--report markdown``."""


def _fitting(parts: Iterator[str], room: int, stream: TextIO) -> int:
    """Write parts while there is room, say how many were left out, and return the room left."""
    left_out = 0
    for part in parts:
        if left_out or len(part) > room:
            left_out += 1
            continue
        room -= len(part)
        stream.write(part)
    if left_out:
        stream.write(f"\n… and {left_out} more.\n")
    return room


def _head(report: Report, log: RunLog) -> Iterator[str]:
    yield f"## {_verdict(report)} {', '.join(code(suite) for suite in report.suites) or 'no suite'}"
    yield ""
    models = ", ".join(
        f"{code(name)} {html.escape(one_line(model_words(facts, name)))}" if facts else code(name)
        for name, facts in report.models.items()
    )
    yield f"Model {models} · run {code(report.run_id)}"
    yield ""
    rates = pass_rate_lines(report)
    rate, each = (rates[0], []) if len(rates) == 1 and len(report.models) == 1 else ("", rates)
    ended = ", ".join(f"{amount} {status}" for status, amount in endings(report))
    yield f"**{report.counts.planned} planned: {ended or 'none'}**" + (f" · {rate}" if rate else "")
    yield ""
    for words in (*each, *remark_lines(report), *repeat_lines(report), *stand_ins(report)):
        yield f"{code(words)}\n"
    yield " · ".join(effort(report))
    yield ""
    for words in beside(report):
        yield f"{code(words)}\n"
    if (inputs := inputs_of(report)) is not None:
        yield f"Inputs {code(inputs['digest'])} (SHA-256), harness {code(inputs['harness'])}\n"
    for words in report.damaged:
        yield f"⚠️ {code(words)}\n"
    if report.reason != "complete":
        yield f"⚠️ The run ended early: {report.reason}."
        yield ""
    mistaken = confusions(report, log)[:_CONFUSIONS]
    if mistaken:
        yield "Expected, and called instead: " + "; ".join(
            f"{code(one.expected)} → {code(one.called)} ({one.trials}×)" for one in mistaken
        )
        yield ""


_TABLE_HEAD = (
    "| | case | problem | trials | time | tokens | cost |\n|---|---|---|---:|---:|---:|---:|\n"
)


def _access(report: Report) -> str:
    """Return the access matrix: leaks first, then tests by identity; empty without identities."""
    access = report.access
    leaks = distinct_leaks(access)
    lines = [f"🚨 {code(shorten(leak_words(leak), _ACCOUNT // 4))}\n" for leak, _ in leaks[:_LEAKS]]
    if len(leaks) > _LEAKS:
        lines.append(f"… and {len(leaks) - _LEAKS} more leaks.\n")
    lines += [f"⚠️ {code(shorten(words, _ACCOUNT // 4))}\n" for words in access_warnings(access)]
    rows, identities = matrix_rows(access), access.identities
    if rows:
        lines.append(f"| test | {' | '.join(map(code, identities))} |")
        lines.append(f"|---|{'---|' * len(identities)}")
        for row in rows[:_ROWS]:
            cells = (html.escape(cell_words(cell)) for cell in cells_of(row, identities))
            lines.append(f"| {code(row_name(row, report, _PROBLEM))} | {' | '.join(cells)} |")
        left_out = f" … and {len(rows) - _ROWS} more tests." if len(rows) > _ROWS else ""
        lines.append(f"\n{LEGEND}.{left_out}\n")
    return "\n".join([*lines, ""]) if lines else ""


def _verdict(report: Report) -> str:
    statuses = {case.status for case in report.cases}
    worst: tuple[Status, ...] = ("failed", "error", "cancelled", "skipped", "passed")
    return _MARKS[next((status for status in worst if status in statuses), "skipped")]


def _table(report: Report) -> Iterator[str]:
    for case in by_urgency(report):
        usage = total_usage(case.trials)
        cells = (
            "⚠️" if case_mark(case) else _MARKS[case.status],
            code(case_name(case, report)),
            code(shorten(case_mark(case) or problem(case.spokesman), _PROBLEM)),
            f"{case.passed}/{trials_needed(case)}",
            seconds(sum(result.latency_s for result in case.trials)),
            number(usage.tokens),
            money(usage.cost_usd),
        )
        yield f"| {' | '.join(cells)} |\n"


def _details(report: Report) -> Iterator[str]:
    for case in by_urgency(report):
        if case.status in {"failed", "error"}:
            yield _detail(case, report)


def _detail(case: CaseResult, report: Report) -> str:
    run = case.spokesman
    where = f"{code(str(run.case.at))}\n\n" if run.case.at else ""
    title = html.escape(case_name(case, report, _PROBLEM))
    return (
        f"\n<details><summary>{_MARKS[case.status]} <code>{title}</code></summary>\n\n"
        f"{where}{fenced(bounded(account(run), _ACCOUNT))}\n\n</details>\n"
    )


def code(text: str) -> str:
    """Return ``text`` as a code span on one line, safe in a table; nothing for nothing."""
    text = one_line(text).replace("|", "\\|")
    if not text:
        return ""
    ticks = "`" * (1 + _longest_run(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str) -> str:
    """Return ``text`` as a code block that nothing in it can close."""
    fence = "`" * max(3, 1 + _longest_run(text))
    return f"{fence}text\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
