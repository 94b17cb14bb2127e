"""JSONL: one line a trial, with field names that stay for good; new facts go under ``metadata``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TextIO

from harness.base import escaped_json
from harness.reports.record_fields import RESULT_FIELDS, find_record
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report, TrialResult


def write_jsonl(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write one JSON object a line for every trial of the report."""
    stream.writelines(
        escaped_json(json.dumps(line, ensure_ascii=False)) + "\n"
        for line in iterate_lines(report, log)
    )


def iterate_lines(report: Report, log: RunLog) -> Iterator[dict[str, Any]]:
    """Yield the line of each trial, suite by suite in the order of ``case_id``.

    So a file has the same order whatever the order in a suite, which other runners rely on.
    """
    suites = {name: place for place, name in enumerate(report.suites)}
    places = [(suites.get(it.suite, 0), it.case.name) for it in report.results]
    # In their own order they are read from the disk in one go.
    if all(before <= after for before, after in pairwise(places)):
        yield from (_encode_line(result, log) for result in report.results)
        return
    for place in sorted(range(len(places)), key=places.__getitem__):
        yield _encode_line(report.results[place], log)


WRITER = Writer(write_jsonl, "report.jsonl", "application/jsonl", suffix=".jsonl")
"""``--report jsonl``."""


_NAMES = {
    "suite": "suite",
    "case_id": "case",
    "model": "model",
    "pass": "pass",
    "latency_ms": "latency_ms",
    "tokens_in": "tokens_in",
    "tokens_out": "tokens_out",
    "cost_usd": "cost_usd",
    "events_digest": "events_digest",
    "error": "error",
    "timestamp": "finished_at",
    "metadata": "metadata",
}
"""Name of a field of a line → that of the record; other runners know these names."""
_UNDER_METADATA = tuple(name for name in RESULT_FIELDS if name not in _NAMES.values())
"""The fields of ``metadata.harness``."""


def _encode_line(result: TrialResult, log: RunLog) -> dict[str, Any]:
    record = find_record(result, log) | {"pass": result.status == "passed"}
    line = {name: record[field] for name, field in _NAMES.items()}
    ours = {name: record[name] for name in _UNDER_METADATA}
    return {**line, "metadata": {**line["metadata"], "harness": ours}}
