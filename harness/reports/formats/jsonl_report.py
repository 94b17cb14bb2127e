"""JSONL: one line a trial, with field names that stay for good; new facts go under ``metadata``."""

from __future__ import annotations

import json
from typing import Any, TextIO

from harness.reports.result_fields import result_fields
from harness.reports.sections.sentences import stand_in
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.safe_text import escaped_json
from harness.types import Report, TrialResult, Usage, written_stop


def write_jsonl(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write one JSON object a line for every trial of the report."""
    stream.writelines(
        escaped_json(json.dumps(_line(run, log), ensure_ascii=False)) + "\n"
        for run in report.results
    )


WRITER = Writer(
    write=write_jsonl, file_name="report.jsonl", suffix=".jsonl", media_type="application/jsonl"
)
"""``--report jsonl``."""


def _line(run: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "case_id": run.case.name,
        "model": run.model,
        "pass": run.status == "passed",
        "latency_ms": round(run.latency_s * 1000),
        "tokens_in": run.usage.input_tokens,
        "tokens_out": run.usage.output_tokens,
        "cost_usd": run.usage.cost_usd,
        "events_digest": run.events_digest,
        "error": run.error.message if run.error else None,
        "timestamp": run.finished_at,
        "metadata": {**run.case.metadata, "harness": _ours(run, log)},
    }


def _used(usage: Usage) -> dict[str, Any]:
    return {
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }


def _ours(run: TrialResult, log: RunLog) -> dict[str, Any]:
    return {
        "status": run.status,
        "trial": run.index,
        "stop": written_stop(run.stop),
        "turns": run.replies,
        "tool_calls": run.tool_calls,
        "outcomes": None if run.outcomes is None else dict(run.outcomes),
        **result_fields(run, log),
        "waited_ms": round(run.waited_s * 1000),
        "error_kind": run.error.kind if run.error else None,
        "skip_reason": run.skip_reason,
        "judge": _used(run.judge_usage),
        **({"user": _used(run.user_usage)} if run.user_usage != Usage() else {}),
        "scores": {check.label: check.score for check in run.checks if check.score is not None},
        **({"faithfulness_by": label} if (label := stand_in(run)) else {}),
        "failed_checks": [check.label for check in run.checks if check.verdict == "failed"],
        **(
            {"error_type": codes[0]}
            if (codes := [check.code for check in run.checks if check.code])
            else {}
        ),
        "tags": list(run.case.tags),
        "key": run.key,
    }
