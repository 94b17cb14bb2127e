"""Brings a view up to date after people have reviewed the run: their verdicts change no row."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.reports import hash_log_prefix
from harness.runlog import Footer, ReviewLine, dump_line, parse_line, read_lines
from harness.types import Review
from harness.web.view.tables import RunView, finish_draft, open_draft, read_log_facts


def write_with_reviews(place: Path, draft: Path, log: Path, facts: os.stat_result) -> bool:
    """Write the view at ``place`` with the reviews that ``log`` has got since into ``draft``.

    Return whether that is all that there is to do: the log is as it was but for reviews.

    Raises:
        OSError: it cannot be read or written.
    """
    before = read_log_facts(place)
    if before is None or before.size >= facts.st_size:
        return False
    lines = [line for _, _, line in read_lines(log, before.size)]
    reviews = [line for line in lines if isinstance(line, ReviewLine)]
    ends = {dump_line(line) for line in lines if isinstance(line, Footer)}
    if len(lines) > len(reviews) and ends != {RunView(place).read_part("footer")}:
        return False
    if not reviews or hash_log_prefix(log, before.size) != before.digest:
        return False
    shutil.copyfile(place, draft)
    db = open_draft(draft)
    try:
        db.execute("BEGIN")
        db.executemany(
            "INSERT OR REPLACE INTO reviews VALUES (?, ?)",
            [(line.review.key, dump_line(line)) for line in reviews],
        )
        finish_draft(db, draft, facts, hash_log_prefix(log, facts.st_size))
    finally:
        db.close()
    return True


def read_reviews(view: RunView) -> Mapping[str, Review]:
    """Return what people said of the verdicts, by the key of the trial."""
    with view.open_database() as db:
        lines = [parse_line(line.encode()) for (line,) in db.execute("SELECT line FROM reviews")]
    return {line.review.key: line.review for line in lines if isinstance(line, ReviewLine)}
