"""CSV: one row a trial, for a spreadsheet, which must never take a model's words for a formula."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from harness.reports.result_fields import result_fields
from harness.reports.sections.sentences import failed_checks, problem
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.safe_text import one_line, shorten
from harness.types import CaseFacts, Report, TrialResult, written_stop

_LONGEST = 2_000
"""Characters of a cell; a spreadsheet refuses more than 32,767."""
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""With these a spreadsheet begins a formula (OWASP, "CSV Injection"); tab and carriage return never
get here."""


def write_csv(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write a header and one row a trial; unknown and absent are empty."""
    rows = csv.writer(stream)
    for number, run in enumerate(report.results):
        row = _row(run, log)
        if number == 0:
            rows.writerow(row)
        rows.writerow(_cell(value) for value in row.values())
    if not report.results:
        rows.writerow(
            _row(
                TrialResult(
                    key="", suite="", case=CaseFacts(name=""), model="", index=0, status="skipped"
                ),
                log,
            )
        )


WRITER = Writer(write=write_csv, file_name="report.csv", suffix=".csv", media_type="text/csv")
"""``--report csv``."""


def _row(run: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "case": run.case.name,
        "model": run.model,
        "trial": run.index + 1,
        "status": run.status,
        "problem": problem(run),
        "failed_checks": "; ".join(check.label for check in failed_checks(run)),
        "error_kind": run.error.kind if run.error else None,
        "stop": written_stop(run.stop),
        "turns": run.replies,
        "tool_calls": run.tool_calls,
        "latency_s": round(run.latency_s, 3),
        "waited_s": round(run.waited_s, 3),
        "tokens_in": run.usage.input_tokens,
        "tokens_out": run.usage.output_tokens,
        "cost_usd": run.usage.cost_usd,
        "tags": " ".join(run.case.tags),
        "file": run.case.at.file if run.case.at else None,
        "line": run.case.at.line if run.case.at else None,
        "started_at": run.started_at,
        **result_fields(run, log),
    }


def _cell(value: Any) -> Any:
    """Return a value that stays a value in a spreadsheet."""
    if not isinstance(value, str):
        return value
    text = shorten(one_line(value), _LONGEST)
    return f"'{text}" if text.startswith(_FORMULA) else text
