"""Markdown for a pull request's comment or a job's summary: failures with reasons, and a table.

Everything from a suite, a model or a server is put in a code span or code block, so that nothing in
it is markup, a link, a mention of somebody or an image to fetch.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TextIO

from harness.base import (
    format_money,
    format_number,
    format_seconds,
    limit_text,
    make_one_line,
    shorten_text,
)
from harness.reports.case_names import case_name
from harness.reports.findings import get_inputs
from harness.reports.record_fields import sum_fields
from harness.reports.sections.attacks import attack_lines
from harness.reports.sections.fault_tables import fault_tables
from harness.reports.sections.matrices import (
    LEGEND,
    access_warnings,
    align_cells,
    cell_words,
    distinct_leaks,
    leak_words,
    row_name,
    sort_rows_by_urgency,
)
from harness.reports.sections.remarks import case_remark, format_warnings, remark_lines
from harness.reports.sections.repeats import repeat_lines, trials_needed
from harness.reports.sections.scores import score_lines, score_tables
from harness.reports.sections.sentences import (
    URGENCY,
    contradictions,
    format_account,
    format_counts,
    format_effort,
    format_problem,
    format_side_usage,
    list_servers,
    model_words,
    pass_rate_lines,
    sort_by_urgency,
    stand_ins,
)
from harness.reports.sections.tool_use import find_confusions
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report, Status, known_sum

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
    head = "\n".join((*_format_head(report, log), ""))
    stream.write(head)
    stream.write(access := _format_access(report))
    stream.write(_TABLE_HEAD)
    room = _ROOM - len(head) - len(access)
    # At most half of it: without the details a table only says that something failed.
    room = _write_fitting(_format_table(report), room // 2, stream) + room // 2
    stream.write("\n")
    _write_fitting(_format_details(report), room, stream)
    stream.write(f"\nSee every message and call: `harness view {report.run_id}`\n")


WRITER = Writer(write_markdown, "report.md", "text/markdown", suffix=".md")
"""``--report markdown``."""


def _write_fitting(parts: Iterator[str], room: int, stream: TextIO) -> int:
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


def _format_head(report: Report, log: RunLog) -> Iterator[str]:
    statuses = {case.status for case in report.cases}
    worst: Status = next((status for status in URGENCY if status in statuses), "skipped")
    yield (f"## {_MARKS[worst]} {', '.join(map(format_code, report.suites)) or 'no suite'}\n")
    models = ", ".join(
        f"{format_code(name)} {html.escape(make_one_line(model_words(report, name)))}".rstrip()
        for name in report.entrants
    )
    servers = ", ".join(
        f"{format_code(name)} {format_code(words) if words else ''}".rstrip()
        for name, words in list_servers(report)
    )
    tested = f" · server {servers}" if servers else ""
    yield f"Model {models}{tested} · run {format_code(report.run_id)}\n"
    rates = pass_rate_lines(report)
    rate, each = (rates[0], []) if len(rates) == 1 and len(report.entrants) == 1 else ("", rates)
    tail = f" · {rate}" if rate else ""
    yield f"**{report.counts.planned} planned: {format_counts(report) or 'none'}**{tail}\n"
    for words in (
        *each,
        *remark_lines(report),
        *repeat_lines(report),
        *stand_ins(report),
        *contradictions(report),
    ):
        yield f"{format_code(words)}\n"
    yield f"{' · '.join(format_effort(report))}\n"
    for words in format_side_usage(report):
        yield f"{format_code(words)}\n"
    if (inputs := get_inputs(report)) is not None:
        digest, version = format_code(inputs["digest"]), format_code(inputs["harness"])
        yield f"Inputs {digest} (SHA-256), harness {version}\n"
    for words in report.damaged:
        yield f"⚠️ {format_code(words)}\n"
    if report.reason != "complete":
        yield f"⚠️ The run ended early: {report.reason}.\n"
    if mistaken := find_confusions(report, log)[:_CONFUSIONS]:
        pairs = "; ".join(
            f"{format_code(one.expected)} → {format_code(one.called)} ({one.trials}×)"
            for one in mistaken
        )
        yield f"Expected, and called instead: {pairs}\n"
    if figures := attack_lines(report):
        text = "\n".join(figures)
        yield "Attacks\n"
        yield f"{fence_code(text)}\n"
    for table in score_tables(report):
        yield f"Scores of {format_code(table.suite)} {format_code(table.entrant)}\n"
        text = "\n".join(score_lines(table))
        yield f"{fence_code(text)}\n"
    for title, lines in fault_tables(report, log):
        yield f"{format_code(title)}\n"
        text = "\n".join(lines)
        yield f"{fence_code(text)}\n"


_TABLE_HEAD = (
    "| | case | problem | trials | time | tokens | cost |\n|---|---|---|---:|---:|---:|---:|\n"
)


def _format_access(report: Report) -> str:
    """Return the access matrix: leaks first, then tests by identity; empty without identities."""
    access = report.access
    leaks = distinct_leaks(access)
    lines = [f"🚨 {_format_warning(leak_words(leak, report))}\n" for leak, _ in leaks[:_LEAKS]]
    if len(leaks) > _LEAKS:
        lines.append(f"… and {len(leaks) - _LEAKS} more leaks.\n")
    lines += [f"⚠️ {_format_warning(words)}\n" for words in access_warnings(access)]
    rows, identities = sort_rows_by_urgency(access), access.identities
    if rows:
        lines.append(f"| test | {' | '.join(map(format_code, identities))} |")
        lines.append(f"|---|{'---|' * len(identities)}")
        for row in rows[:_ROWS]:
            cells = (html.escape(cell_words(cell)) for cell in align_cells(row, identities))
            name = format_code(row_name(row, report, _PROBLEM))
            lines.append(f"| {name} | {' | '.join(cells)} |")
        left_out = f" … and {len(rows) - _ROWS} more tests." if len(rows) > _ROWS else ""
        lines.append(f"\n{LEGEND}.{left_out}\n")
    return "\n".join([*lines, ""]) if lines else ""


def _format_warning(words: str) -> str:
    return format_code(shorten_text(words, _ACCOUNT // 4))


def _format_table(report: Report) -> Iterator[str]:
    for case in sort_by_urgency(report):
        sums = sum_fields(case.trials, ("latency_s", "tokens_in", "tokens_out", "cost_usd"))
        mark = case_remark(case)
        cells = (
            "⚠️" if mark else _MARKS[case.status],
            format_code(case_name(case, report)),
            format_code(shorten_text(mark or format_problem(case.deciding_trial), _PROBLEM)),
            f"{case.passed_count}/{trials_needed(case)}",
            format_seconds(sums["latency_s"]),
            format_number(known_sum(sums["tokens_in"], sums["tokens_out"])),
            format_money(sums["cost_usd"]),
        )
        yield f"| {' | '.join(cells)} |\n"


def _format_details(report: Report) -> Iterator[str]:
    for case in sort_by_urgency(report):
        if case.status in {"failed", "error"} or format_warnings(case):
            run = case.deciding_trial
            where = f"{format_code(str(run.case.at))}\n\n" if run.case.at else ""
            mark = "⚠️" if case.status == "passed" else _MARKS[case.status]
            # GitHub reads no Markdown within <summary>, so this one is HTML.
            title = html.escape(case_name(case, report, _PROBLEM))
            yield (
                f"\n<details><summary>{mark} <code>{title}</code></summary>\n\n"
                f"{where}{fence_code(limit_text(format_account(run), _ACCOUNT))}\n\n</details>\n"
            )


def format_code(text: str) -> str:
    """Return ``text`` as a code span on one line, safe in a table; nothing for nothing."""
    # A bar ends the cell of a table even within a code span.
    text = make_one_line(text).replace("|", "\\|")
    if not text:
        return ""
    ticks = "`" * (1 + _longest_run(text))
    # A backtick at the edge would belong to the fence; a reader takes these spaces off again.
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence_code(text: str) -> str:
    """Return ``text`` as a code block that nothing in it can close."""
    fence = "`" * max(3, 1 + _longest_run(text))
    return f"{fence}text\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
