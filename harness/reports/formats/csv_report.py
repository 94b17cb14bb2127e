"""CSV: one row a trial, for a spreadsheet, which must never take a model's words for a formula."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from harness.base import make_one_line, shorten_text
from harness.reports.result_fields import axis_fields, result_fields
from harness.reports.sections.sentences import failed_checks, format_problem
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import CaseFacts, Report, TrialResult

_LONGEST = 2_000
"""Characters of a cell; a spreadsheet refuses more than 32,767."""
BYTE_ORDER_MARK = "\ufeff"
"""What a file begins with that Excel shall read as UTF-8, and not in the computer's code page."""
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""With these a spreadsheet begins a formula (OWASP, "CSV Injection"); tab and carriage return never
get here."""


def write_csv(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write a byte order mark, a header, and one row a trial; unknown and absent are empty."""
    stream.write(BYTE_ORDER_MARK)
    rows = csv.writer(stream)
    for number, result in enumerate(report.results):
        row = _build_row(result, log)
        if number == 0:
            rows.writerow(row)
        rows.writerow(_format_cell(value) for value in row.values())
    if not report.results:
        rows.writerow(
            _build_row(
                TrialResult(
                    key="", suite="", case=CaseFacts(name=""), model="", index=0, status="skipped"
                ),
                log,
            )
        )


WRITER = Writer(write=write_csv, file_name="report.csv", suffix=".csv", media_type="text/csv")
"""``--report csv``."""


def _build_row(result: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        "suite": result.suite,
        "case": result.case.name,
        "model": result.model,
        **axis_fields(result.axes),
        "trial": result.index + 1,
        "status": result.status,
        "problem": format_problem(result),
        "failed_checks": "; ".join(check.label for check in failed_checks(result)),
        "error_kind": result.error.kind if result.error else None,
        "stop": result.stop,
        "replies": result.replies,
        "tool_calls": result.tool_calls,
        "latency_s": round(result.latency_s, 3),
        "waited_s": round(result.waited_s, 3),
        "tokens_in": result.usage.input_tokens,
        "tokens_out": result.usage.output_tokens,
        "cost_usd": result.usage.cost_usd,
        "tags": " ".join(result.case.tags),
        "file": result.case.at.file if result.case.at else None,
        "line": result.case.at.line if result.case.at else None,
        "started_at": result.started_at,
        **result_fields(result, log),
    }


def _format_cell(value: Any) -> Any:
    """Return a value that stays a value in a spreadsheet."""
    if not isinstance(value, str):
        return value
    return no_formula(shorten_text(make_one_line(value), _LONGEST))


def no_formula(text: str) -> str:
    """Return ``text`` as a cell that a spreadsheet takes for text."""
    return f"'{text}" if text.startswith(_FORMULA) else text
