# harness/reports/formats/plain_report.py
"""Plain text: one line a case."""

from __future__ import annotations

from typing import TextIO

from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report


def write_plain(report: Report, _log: RunLog, stream: TextIO) -> None:
    """Write ``passed greeting`` and the like."""
    stream.writelines(f"{case.status} {case.case}\n" for case in report.cases)


WRITER = Writer(write=write_plain, file_name="report.txt", media_type="text/plain", suffix=".txt")
"""``--report plain``."""
