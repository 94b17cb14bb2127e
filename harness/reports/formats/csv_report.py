"""CSV: one row a trial, for a spreadsheet, which must never take a model's words for a formula."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from typing import Any, TextIO

from harness.base import make_one_line, shorten_text
from harness.reports.record_fields import RESULT_FIELDS, find_record
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report

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
    rows.writerow(RESULT_FIELDS)
    for result in report.results:
        rows.writerow(map(_format_cell, find_record(result, log).values()))


WRITER = Writer(write_csv, "report.csv", "text/csv", suffix=".csv")
"""``--report csv``."""


def _format_cell(value: Any) -> Any:
    """Return a value that stays a value in a spreadsheet."""
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    elif isinstance(value, Mapping):
        value = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return value
    return no_formula(shorten_text(make_one_line(value), _LONGEST))


def no_formula(text: str) -> str:
    """Return ``text`` as a cell that a spreadsheet takes for text."""
    return f"'{text}" if text.startswith(_FORMULA) else text
