"""The page of a run that `harness view` has written before, and need not write again."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.reports.sections.remarks import review_words
from harness.runlog import RunLog, being_written
from harness.web.run_index import read_kept, write_kept

NAME = "report.kept"
"""The file, beside the log, that says of which log the page is."""
WORTH_KEEPING = 1_000_000
"""Bytes of a log from which on its page is not written again."""


def kept_page(log: Path) -> tuple[Path, str] | None:
    """Return the page of ``log`` and what people said of its verdicts; ``None``: it is to be made.

    A page that was written by another version, for another content of the log, or that somebody
    has changed since, is none.
    """
    try:
        body = read_kept(log, NAME, log.stat())
        told = json.loads(body or b"null")
        page = told and log.with_name(told["name"])
        if not page or _facts(page) != told["facts"]:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return page, str(told["words"])


def keep_page(log: RunLog, facts: os.stat_result, page: Path) -> None:
    """Note that ``page`` is that of ``log``, whose file had these ``facts`` before it was read.

    Of a log with damaged lines nothing is noted: whoever opens it is told of them each time.
    """
    whole = facts.st_size == log.size >= WORTH_KEEPING and not being_written(log.path)
    if whole and not log.damaged and not log.by_people and page.parent == log.path.parent:
        words = review_words(log.reviews.values())
        told = {"name": page.name, "facts": _facts(page), "words": words}
        write_kept(log.path, NAME, facts, json.dumps(told).encode())


def _facts(page: Path) -> list[int]:
    facts = page.stat()
    return [facts.st_size, facts.st_mtime_ns]
