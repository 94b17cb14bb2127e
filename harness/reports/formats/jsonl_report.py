"""JSONL: one line a trial, with field names that stay for good; new facts go under ``metadata``."""

from __future__ import annotations

import json
from typing import Any, TextIO

from harness.base import escaped_json
from harness.reports.result_fields import axis_fields, result_fields
from harness.reports.sections.sentences import find_stand_in
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report, TrialResult, Usage


def write_jsonl(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write one JSON object a line for every trial of the report."""
    stream.writelines(
        escaped_json(json.dumps(_encode_line(result, log), ensure_ascii=False)) + "\n"
        for result in report.results
    )


WRITER = Writer(
    write=write_jsonl, file_name="report.jsonl", suffix=".jsonl", media_type="application/jsonl"
)
"""``--report jsonl``."""


def _encode_line(result: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        "suite": result.suite,
        "case_id": result.case.name,
        "model": result.model,
        "pass": result.status == "passed",
        "latency_ms": round(result.latency_s * 1000),
        "tokens_in": result.usage.input_tokens,
        "tokens_out": result.usage.output_tokens,
        "cost_usd": result.usage.cost_usd,
        "events_digest": result.events_digest,
        "error": result.error.message if result.error else None,
        "timestamp": result.finished_at,
        "metadata": {**result.case.metadata, "harness": _encode_extras(result, log)},
    }


def _encode_usage(usage: Usage) -> dict[str, Any]:
    return {
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }


def _encode_extras(result: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        **axis_fields(result.axes),
        "status": result.status,
        "trial": result.index,
        "stop": result.stop,
        "replies": result.replies,
        "tool_calls": result.tool_calls,
        "outcomes": None if result.outcomes is None else dict(result.outcomes),
        **result_fields(result, log),
        "waited_ms": round(result.waited_s * 1000),
        "error_kind": result.error.kind if result.error else None,
        "skip_reason": result.skip_reason,
        "judge": _encode_usage(result.judge_usage),
        **({"user": _encode_usage(result.user_usage)} if result.user_usage != Usage() else {}),
        "scores": {check.label: check.score for check in result.checks if check.score is not None},
        **({"faithfulness_by": label} if (label := find_stand_in(result)) else {}),
        "failed_checks": [check.label for check in result.checks if check.verdict == "failed"],
        **(
            {"error_type": codes[0]}
            if (codes := [check.code for check in result.checks if check.code])
            else {}
        ),
        "tags": list(result.case.tags),
    }
