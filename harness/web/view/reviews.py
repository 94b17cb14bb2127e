"""Brings a view up to date after people have reviewed the run: their verdicts change no row."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.reports import digest_of
from harness.runlog import Footer, ReviewLine, dumped, parsed, read_lines
from harness.types import Review
from harness.web.view.tables import View, drafted, finish, known


def with_reviews(place: Path, draft: Path, log: Path, facts: os.stat_result) -> bool:
    """Write the view at ``place`` with the reviews that ``log`` has got since into ``draft``.

    Return whether that is all that there is to do: the log is as it was but for reviews.

    Raises:
        OSError: it cannot be read or written.
    """
    before = known(place)
    if before is None or before.size >= facts.st_size:
        return False
    lines = [line for _, _, line in read_lines(log, before.size)]
    reviews = [line for line in lines if isinstance(line, ReviewLine)]
    ends = {dumped(line) for line in lines if isinstance(line, Footer)}
    if len(lines) > len(reviews) and ends != {View(place).part("footer")}:
        return False
    if not reviews or digest_of(log, before.size) != before.digest:
        return False
    shutil.copyfile(place, draft)
    db = drafted(draft)
    try:
        db.execute("BEGIN")
        db.executemany(
            "INSERT OR REPLACE INTO reviews VALUES (?, ?)",
            [(line.review.key, dumped(line)) for line in reviews],
        )
        finish(db, draft, facts, digest_of(log, facts.st_size))
    finally:
        db.close()
    return True


def reviews_in(view: View) -> Mapping[str, Review]:
    """Return what people said of the verdicts, by the key of the trial."""
    with view.opened() as db:
        lines = [parsed(line.encode()) for (line,) in db.execute("SELECT line FROM reviews")]
    return {line.review.key: line.review for line in lines if isinstance(line, ReviewLine)}
