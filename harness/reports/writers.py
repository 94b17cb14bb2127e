"""The formats in which results can be written, and how a package adds one.

A format is a file ``NAME_report.py`` in `harness.reports.formats` with a `Writer` ``WRITER``; a
package adds one by an entry point in the group ``harness.reports`` that names a `Writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from harness.base import Registry, find_members
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
    """Its media type for web servers."""
    suffix: str | None = None
    """A path that ends so, and names no format, means this one."""
    place_variable: str | None = None
    """An environment variable that names a file to append to, in place of `file_name`."""
    lines: Callable[[Report], Iterable[str]] | None = None
    """Lines to print besides, for a CI system that reads them in its job log."""


WRITERS = Registry[Writer](
    "harness.reports",
    "report",
    find_members(
        Path(__file__).with_name("formats"), "harness.reports.formats", "WRITER", ending="_report"
    ),
)
"""The formats of ``--report``."""


def infer_format(path: Path) -> str | None:
    """Return the format that the suffix of ``path`` means, if it means one."""
    return map_suffixes().get(path.suffix.lower())


def map_suffixes() -> dict[str, str]:
    """Return the format that each suffix means."""
    written = [(name, WRITERS.get(name).suffix) for name in WRITERS.list_names()]
    return {suffix: name for name, suffix in written if suffix}
