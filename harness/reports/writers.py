"""The formats in which results can be written, and how a package adds one.

`WRITERS` knows the formats by name; a package adds one by an entry point in the group
``harness.reports`` that names a `Writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

from harness.registry import Registry
from harness.runlog import RunLog
from harness.types import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A format in which results can be written."""

    write: Callable[[Report, RunLog, TextIO], None]
    """Writes the report; its log has the conversations. Equal logs give equal text."""
    file_name: str
    """The file, below the run's folder, where nobody says otherwise."""
    media_type: str
    """What a web server calls it."""
    place_variable: str | None = None
    """An environment variable that names a file to append to, in place of `file_name`."""
    lines: Callable[[Report], Iterable[str]] | None = None
    """What is to be printed besides, for a CI system that reads it off the log."""


WRITERS = Registry[Writer](
    "harness.reports",
    "report",
    {
        "jsonl": "harness.reports.formats.jsonl_report:JSONL",
        "json": "harness.reports.formats.json_report:JSON",
        "junit": "harness.reports.formats.junit:JUNIT",
        "markdown": "harness.reports.formats.markdown:MARKDOWN",
        "csv": "harness.reports.formats.csv_report:CSV",
        "html": "harness.reports.formats.html:HTML",
        "github": "harness.reports.formats.github:GITHUB",
    },
)
"""The formats of ``--report``."""
