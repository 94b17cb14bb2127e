"""The index of a log where it has one that is worth it, and the lines that it keeps whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from harness.reports.querying.index import IndexNotWritten, is_worth_indexing, open_log_index
from harness.runlog import Line, ReviewLine, ToolsLine, parse_line
from harness.types import Review, ToolList


@contextmanager
def index_if_worth(log: Path) -> Iterator[Path | None]:
    """Give the index of ``log``; ``None`` if it is small, or there is no room for an index."""
    with ExitStack() as stack:
        index = None
        if is_worth_indexing(log):
            with suppress(IndexNotWritten):
                index = stack.enter_context(open_log_index(log))
        yield index


def tool_lists(db: sqlite3.Connection) -> tuple[dict[str, ToolList], dict[str, ToolsLine]]:
    """Return the tool lists of servers, and what models were shown in their place."""
    lists = [line for line in _iterate_kept_lines(db) if isinstance(line, ToolsLine)]
    return (
        {line.tools.digest: line.tools for line in lists if line.variant is None},
        {line.tools.digest: line for line in lists if line.variant is not None},
    )


def read_reviews(db: sqlite3.Connection) -> dict[str, Review]:
    """Return what people said of the verdicts on trials that there are, by the key of the trial."""
    reviews = [line.review for line in _iterate_kept_lines(db) if isinstance(line, ReviewLine)]
    found = 'SELECT 1 FROM "trials" WHERE key = ?'
    return {review.key: review for review in reviews if db.execute(found, (review.key,)).fetchone()}


def _iterate_kept_lines(db: sqlite3.Connection) -> Iterator[Line]:
    (content,) = db.execute('SELECT content FROM "_state"').fetchone()
    return (parse_line(raw.encode()) for raw in json.loads(content)["lines"])
