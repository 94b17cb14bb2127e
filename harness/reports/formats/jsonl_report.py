"""JSONL: one line a trial, with field names that stay for good; new facts go under ``metadata``."""

from __future__ import annotations

import json
from typing import Any, TextIO

from harness.base import escaped_json
from harness.reports.record_fields import RESULT_FIELDS, find_record
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report, TrialResult


def write_jsonl(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write one JSON object a line for every trial of the report."""
    stream.writelines(
        escaped_json(json.dumps(_encode_line(result, log), ensure_ascii=False)) + "\n"
        for result in report.results
    )


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
