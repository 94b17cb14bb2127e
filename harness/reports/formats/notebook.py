"""A report in a notebook: a table of its cases, and access to each result's transcript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from harness.base import format_money, format_seconds, make_one_line, shorten_text
from harness.reports.case_names import case_name
from harness.reports.formats.jsonl_report import iterate_lines
from harness.reports.record_fields import sum_fields
from harness.reports.sections.remarks import case_remark, remark_lines
from harness.reports.sections.sentences import (
    format_counts,
    format_effort,
    format_names,
    format_problem,
    list_servers,
    pass_rate_lines,
    sort_by_urgency,
)
from harness.runlog import ResultBlocks, RunLog
from harness.types import CaseResult, JsonObject, Report, Transcript, dataclass

_ROWS = 200
"""Cases in the table; of further ones the number."""
_PROBLEM = 300
"""Characters of what went wrong."""


def link_conversations(report: Report, log: RunLog) -> Report:
    """Return ``report`` with results that can read their transcripts from ``log``."""
    # A notebook may change its folder between two cells.
    logged = _LogConversations(replace(log, path=log.path.absolute()))
    report.link_to(logged)
    # Results of a large run are made as they are read, and get their link then.
    if isinstance(report.results, ResultBlocks):
        report.results.link_to(logged)
    else:
        for result in report.results:
            result.link_to(logged)
    return report


@dataclass(frozen=True, slots=True)
class _LogConversations:
    """The `harness.types.Conversations` of a run log."""

    log: RunLog

    def read_transcript(self, key: str) -> Transcript | None:
        return self.log.read_transcript(key)

    def list_rows(self, report: Report) -> tuple[JsonObject, ...]:
        return tuple(iterate_lines(report, self.log))

    def render_html(self, report: Report) -> str:
        return "".join(_format_html(report))


def _format_html(report: Report) -> Iterator[str]:
    """Yield the table; whatever a suite, a model or a server said is text in it, and no markup."""
    planned = f"{report.counts.planned} planned: {format_counts(report) or 'none'}"
    head = " · ".join((planned, *pass_rate_lines(report), *format_effort(report)))
    told = "<br>".join(_escape_text(line) for line in (head, *remark_lines(report)))
    about = " · ".join(filter(None, (format_names(list_servers(report)), report.model)))
    yield f"<p><b>{_escape_text(report.suite_name)}</b> {_escape_text(about)}<br>{told}</p>"
    heads = ("case", "status", "trials", "problem", "time", "cost")
    yield f"<table><thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}"
    yield "</tr></thead><tbody>"
    cases = sort_by_urgency(report)
    for case in cases[:_ROWS]:
        shown = map(_escape_text, _format_cells(case, report))
        cells = "".join(f'<td style="text-align: left">{cell}</td>' for cell in shown)
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table>"
    if len(cases) > _ROWS:
        yield f"<p>… and {len(cases) - _ROWS} more</p>"
    if report.reason != "complete":
        yield f"<p>The run ended early: {_escape_text(report.reason)}.</p>"
    yield f"<p>{_escape_text(report.log)}</p>"


def _format_cells(case: CaseResult, report: Report) -> tuple[str, ...]:
    ran = [run for run in case.trials if run.stop is not None]
    sums = sum_fields(ran, ("latency_s", "cost_usd"))
    # What went wrong, or what a reader must know of a case that passed.
    remark = case_remark(case) if case.status == "passed" else format_problem(case.deciding_trial)
    return (
        case_name(case, report),
        case.status,
        f"{case.passed_count}/{case.planned}",
        shorten_text(make_one_line(remark or ""), _PROBLEM),
        format_seconds(sums["latency_s"]) if ran else "",
        format_money(sums["cost_usd"]) if ran else "",
    )


def _escape_text(text: str) -> str:
    return escape(make_one_line(text))
