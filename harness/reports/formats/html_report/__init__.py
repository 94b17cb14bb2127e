"""HTML: the whole run on one page, in one file that needs nothing else and fetches nothing.

The page's markup, style and script are the files beside this one, put together when a report is
written; see `harness.reports.single_page`.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import TextIOBase
from typing import TextIO, cast

from harness.reports import viewer
from harness.reports.formats.html_report.detail import case_detail
from harness.reports.formats.html_report.overview import build_overview, further_cells
from harness.reports.single_page import Block, SinglePage
from harness.reports.viewer.grid import shorten_line
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report

STYLES = (viewer.STYLE, (__name__, "style.css"))
"""The styles that other pages share."""
BLOCKS = (__name__, "blocks.js")
"""The script that reads the data of a page."""
SCRIPTS = (viewer.ELEMENTS, *viewer.TRIAL, BLOCKS)
"""Scripts that other pages share: elements of a page, the view of a trial, and the page's data."""
REPORT_PAGE = SinglePage(
    markup=(__name__, "page.html"),
    styles=STYLES,
    scripts=(*viewer.SCRIPTS, *((__name__, f"{name}.js") for name in ("blocks", "script"))),
)
"""The page of a run."""


MOST_BYTES = 400_000_000
"""Characters of a page after which it gets no further details: browsers open no larger files."""


def write_html(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write the page, one case at a time, so that a large run needs little memory."""
    counted = _CountingStream(stream)
    # Blocks are made while they are written, so that their size is known before the next one.
    REPORT_PAGE.write(_build_blocks(report, log, counted), cast("TextIO", counted))


WRITER = Writer(write=write_html, file_name="report.html", suffix=".html", media_type="text/html")
"""``--report html``."""


def _build_blocks(report: Report, log: RunLog, written: _CountingStream) -> Iterator[Block]:
    """Yield what is shown at once, then the other cells, then the details of each case."""
    yield "overview", build_overview(report, log)
    yield from further_cells(report, log)
    for number, case in enumerate(report.cases):
        if written.size > MOST_BYTES:
            yield "left-out", {"from": number, "run": shorten_line(report.run_id)}
            return
        yield f"case-data-{number}", case_detail(case, log)


class _CountingStream(TextIOBase):
    """Passes on what is written, and counts it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.size = 0

    def write(self, text: str) -> int:
        self.size += len(text)
        return self._stream.write(text)
