"""The index of a log where it has one that is worth it, and the tool lists in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from harness.reports.querying.index import IndexNotWritten, is_worth_indexing, open_log_index
from harness.runlog import ToolsLine, parse_line
from harness.types import ToolList


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
    (content,) = db.execute("SELECT content FROM _state").fetchone()
    lines = [parse_line(raw.encode()) for raw in json.loads(content)["lines"]]
    lists = [line for line in lines if isinstance(line, ToolsLine)]
    return (
        {line.tools.digest: line.tools for line in lists if line.variant is None},
        {line.tools.digest: line for line in lists if line.variant is not None},
    )
