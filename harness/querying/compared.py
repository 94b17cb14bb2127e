"""Runs as `harness compare` needs them, from the index of a large log."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from sys import intern
from typing import Any

from harness.judging.counted_results import counted_result
from harness.querying.index import index_of, opened
from harness.querying.past import past_of
from harness.reports.comparing.sides import ComparedRun
from harness.runlog import ToolsLine, read_header
from harness.runlog.lines import parsed
from harness.types import CaseFacts, ToolList, TrialError, TrialResult, Usage

_ROWS = """
SELECT suite, "case", model, status, repeat, key, stop, skip_reason, error_kind, latency_s,
    tokens_in, tokens_out, cache_read_tokens, cache_write_tokens, cost_usd, tools_digest
FROM "_places" JOIN "trials" USING (trial_id) WHERE trial_id >= 0
ORDER BY suite_at, case_at, model_at, repeat, first_at
"""


def compared_run(log: Path) -> tuple[ComparedRun, tuple[str, ...]]:
    """Return the run in ``log`` for a comparison, and what is unreadable, a sentence each.

    Raises:
        InvalidInput: the log cannot be read.
        IndexNotWritten: there is no room for the index.
    """
    offered: dict[str, str | None] = {}
    results = []
    with index_of(log) as index:
        past = past_of(index, log)
        with closing(sqlite3.connect(opened(index), uri=True)) as db:
            for *row, digest in db.execute(_ROWS):
                result = _result(row)
                results.append(result)
                offered[result.key] = None if digest is None else intern(digest)
            tools = _tools(db)
    run = ComparedRun(
        header=read_header(log),
        log=str(log),
        results=results,
        tools=tools,
        offered=lambda result: offered[result.key],
        exit_code=past.exit_code,
        ended=past.result,
    )
    return run, past.damaged


def _result(row: list[Any]) -> TrialResult:
    suite, case, model, status, repeat, key, stop, skip_reason, error_kind, latency, *used = row
    tokens_in, tokens_out, read, written, cost = used
    return counted_result(
        CaseFacts(name=case),
        suite=intern(suite),
        model=intern(model),
        status=status,
        leaks=False,
        key=key,
        index=repeat,
        stop=stop,
        skip_reason=skip_reason,
        error=None if error_kind is None else TrialError(kind=error_kind, message=""),
        latency_s=latency,
        usage=Usage(
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cost_usd=cost,
        ),
    )


def _tools(db: sqlite3.Connection) -> dict[str, ToolList]:
    (content,) = db.execute("SELECT content FROM _state").fetchone()
    lines = (parsed(raw.encode()) for raw in json.loads(content)["lines"])
    return {
        line.tools.digest: line.tools
        for line in lines
        if isinstance(line, ToolsLine) and line.variant is None
    }
