"""``--json-output``: one JSON document, in the shape that MXCP's users parse, with more beside it.

One suite: ``{"status": "ok", "result": {"suite", "model", "tests": [...], "all_passed", ...}}``.
Several: ``{"status": "ok", "result": {"suites": [{"suite", "path", "status", "tests", "error"}], ...}}``.
A run that could not start: ``{"status": "error", "error": "..."}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any, TextIO

from harness.reports.build import count, exit_code
from harness.runlog import RunLog
from harness.types import CheckResult, Report, Run


def write_json(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write the document, one test at a time, so that a large run needs little memory."""
    groups = [(key, list(runs)) for key, runs in groupby(report.runs, key=lambda run: (run.suite, run.model))]
    if len(groups) == 1:
        (suite, model), runs = groups[0]
        result = _suite(suite, model, runs, report, log) | {"elapsed_time": report.elapsed_s} | _common(report)
    else:
        suites = (
            _suite(suite, model, runs, report, log) | {"path": report.suites.get(suite, {}).get("file"), "error": None}
            for (suite, model), runs in groups
        )
        result = {"suites": suites, "elapsed_time": report.elapsed_s} | _common(report)
    stream.writelines(_encode({"status": "ok", "result": result}))
    stream.write("\n")


def write_json_error(message: str, stream: TextIO) -> None:
    """Write the document of a run that could not start."""
    stream.write(json.dumps({"status": "error", "error": message}) + "\n")


def _common(report: Report) -> dict[str, Any]:
    return {
        "run_id": report.run_id,
        "log": report.log,
        "summary": _counts(report.runs, report.counts.planned),
        "usage": asdict(report.usage),
        "reason": report.reason,
        "exit_code": exit_code(report),
    }


def _suite(suite: str, model: str, runs: list[Run], report: Report, log: RunLog) -> dict[str, Any]:
    summary = _counts(runs)
    return {
        "suite": suite,
        "description": report.suites.get(suite, {}).get("description"),
        "model": model,
        "status": _suite_status(summary),
        "tests": (_test(list(trials), log) for _, trials in groupby(runs, key=lambda run: run.case)),
        "all_passed": summary["passed"] == summary["planned"],
        "summary": summary,
    }


def _suite_status(summary: Mapping[str, int]) -> str:
    if summary["failed"]:
        return "failed"
    return "passed" if summary["passed"] == summary["planned"] else "error"


def _counts(runs: Iterable[Run], planned: int | None = None) -> dict[str, int]:
    counts = count(list(runs), planned)
    return asdict(counts) | {"judged": counts.judged}


def _test(trials: list[Run], log: RunLog) -> dict[str, Any]:
    """Return one test; of several trials the first that did not pass speaks for it."""
    shown = next((run for run in trials if run.status != "passed"), trials[0])
    test = {
        "name": shown.case,
        "description": shown.description,
        "passed": all(run.status == "passed" for run in trials),
        "failures": [_failure(check) for check in shown.checks if _decides(check)],
        "time": round(sum(run.latency_s for run in trials), 6),
        "details": _details(shown, log),
        "status": shown.status,
        "checks": [asdict(check) for check in shown.checks],
        "usage": asdict(shown.usage),
        "stop": shown.stop,
        "line": shown.at.line if shown.at else None,
    }
    if shown.error is not None:
        test |= {"error": shown.error.message, "error_kind": shown.error.kind, "error_detail": shown.error.detail}
    if shown.skip_reason is not None:
        test["skip_reason"] = shown.skip_reason
    if len(trials) > 1:
        test["trials"] = [{"trial": run.index, "status": run.status, "time": run.latency_s} for run in trials]
    return test


def _decides(check: CheckResult) -> bool:
    return check.verdict == "failed" and check.severity == "fail"


def _failure(check: CheckResult) -> str:
    return f"{check.explanation}\n{check.hint}" if check.hint else check.explanation


def _details(run: Run, log: RunLog) -> dict[str, Any]:
    transcript = log.transcript(run.key)
    if transcript is None:
        return {"response": None, "tool_calls": []}
    calls = [
        {"tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "time": call.duration_s}
        for call in transcript.tool_calls
    ]
    return {"response": transcript.answer, "tool_calls": calls}


def _encode(value: Any) -> Iterator[str]:
    """Yield JSON text piece by piece; an iterator becomes an array whose items are made one at a time."""
    if isinstance(value, Mapping):
        lead = "{"
        for key, item in value.items():
            yield f"{lead}{json.dumps(key)}:"
            yield from _encode(item)
            lead = ","
        yield "{}" if lead == "{" else "}"
    elif isinstance(value, Iterator):
        lead = "["
        for item in value:
            yield lead
            yield from _encode(item)
            lead = ","
        yield "[]" if lead == "[" else "]"
    else:
        yield json.dumps(value)
