"""JUnit XML for readers that enforce the schema ``junit-10``: without the places of test cases."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.reports.formats import junit_report

WRITER = replace(
    junit_report.WRITER,
    write=partial(junit_report.write_junit, places=False),
    file_name="junit10.xml",
    suffix=None,
)
"""``--report junit10``."""
