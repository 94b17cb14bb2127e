"""Past runs at a glance, from the index of a large log: it is read once, and not for each list."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path

from harness.base import InvalidInput
from harness.reports.querying.index import (
    IndexNotWritten,
    format_read_uri,
    is_worth_indexing,
    open_log_index,
    read_index_facts,
)
from harness.reports.sections.run_list import PastRun, UnreadableLog, past_runs
from harness.types import Counts, Usage


def past_runs_by_index(
    logs: Iterable[Path], by_index: Callable[[Path], bool] = is_worth_indexing
) -> Iterator[PastRun | UnreadableLog]:
    """Yield what `past_runs` yields; logs that are worth it are read once."""
    for log in logs:
        try:
            yield _read_run(log, by_index(log))
        except IndexNotWritten:
            # Without room for an index, the log itself is read, each time anew.
            yield from past_runs([log])
        except (InvalidInput, OSError) as error:
            yield UnreadableLog(run_id=log.parent.name, log=str(log), error=str(error))


def _read_run(log: Path, by_index: bool) -> PastRun | UnreadableLog:  # noqa: FBT001 - it stands alone
    if not by_index:
        return next(past_runs([log]))
    with open_log_index(log) as index:
        return read_indexed_run(index, log)


def read_indexed_run(index: Path, log: Path) -> PastRun:
    """Return the facts of the run in ``index``, which is that of ``log``."""
    run_id, damaged = read_index_facts(index, log)
    with closing(sqlite3.connect(format_read_uri(index), uri=True)) as db:
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
