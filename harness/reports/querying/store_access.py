"""What others read from the store of a large log: it is read once, and not for each list.

Past runs at a glance, and the lines that a store keeps whole: tool lists and reviews.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from pathlib import Path

from harness.base import InvalidInput
from harness.reports.build import PastRun, UnreadableLog, past_runs
from harness.reports.querying.index import (
    IndexNotWritten,
    is_worth_indexing,
    open_database,
    open_log_index,
    read_index_facts,
)
from harness.runlog import Line, ReviewLine, ToolsLine, parse_line
from harness.types import Counts, Review, ToolList, Usage


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


def past_runs_by_index(
    logs: Iterable[Path], by_index: Callable[[Path], bool] = is_worth_indexing
) -> Iterator[PastRun | UnreadableLog]:
    """Yield what `past_runs` yields; logs that are worth it are read once."""
    for log in logs:
        try:
            if by_index(log):
                with open_log_index(log) as index:
                    yield read_indexed_run(index, log)
            else:
                yield next(past_runs([log]))
        except IndexNotWritten:
            # Without room for an index, the log itself is read, each time anew.
            yield from past_runs([log])
        except (InvalidInput, OSError) as error:
            yield UnreadableLog(run_id=log.parent.name, log=str(log), error=str(error))


def read_indexed_run(index: Path, log: Path) -> PastRun:
    """Return the facts of the run in ``index``, which is that of ``log``."""
    run_id, damaged = read_index_facts(index, log)
    with open_database(index) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM runs").fetchone()
    costs = (row["cost_usd"], row["judge_cost_usd"], row["user_cost_usd"])
    return PastRun(
        run_id=run_id,
        log=str(log),
        started_at=row["started_at"],
        suites=tuple(json.loads(row["suites"])),
        models=tuple(json.loads(row["models"])),
        counts=Counts(**{field.name: row[field.name] for field in fields(Counts)}),
        reason=row["reason"],
        exit_code=row["exit_code"],
        cost_usd=sum((Usage(cost_usd=cost) for cost in costs), Usage()).cost_usd,
        elapsed_s=row["elapsed_s"],
        result=row["result"],
        damaged=tuple(damaged),
    )
