"""``--json-output``: one JSON document, in the shape that MXCP's users parse, with more beside it.

One suite: ``{"status": "ok", "result": {"suite", "model", "tests": [...], "all_passed", ...}}``.
Several: ``{"status": "ok", "result": {"suites": [{"suite", "path", "status", …}], ...}}``.
A run that could not start: ``{"status": "error", "error": "..."}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, TextIO

from harness.judging import exit_code
from harness.reports.build import count_results, iterate_trials
from harness.reports.findings import get_inputs
from harness.reports.record_fields import RESULT_FIELDS, axis_fields, find_record, sum_fields
from harness.reports.sections.attacks import attacks_json
from harness.reports.sections.error_texts import error_texts_json
from harness.reports.sections.faults import faults_json
from harness.reports.sections.list_changes import find_changes
from harness.reports.sections.matrices import matrix_json
from harness.reports.sections.remarks import (
    calls_json,
    case_mark,
    count_calls,
    count_warnings,
    failed_warnings,
    reviews_json,
)
from harness.reports.sections.repeats import repeats_json
from harness.reports.sections.scores import scores_json
from harness.reports.sections.sentences import (
    compute_pass_rate,
    failed_checks,
    list_server_names,
    recorded_rewards_json,
)
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import (
    CaseResult,
    PromptGet,
    Report,
    Transcript,
    TrialResult,
    written_fields,
)


def write_json(
    report: Report, log: RunLog, stream: TextIO, more: Mapping[str, Any] | None = None
) -> None:
    """Write the document test by test, which needs little memory; ``more`` joins the result."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in report.cases:
        groups.setdefault((case.suite, case.entrant), []).append(case)
    several = len(groups) != 1
    suites = (
        _encode_suite(suite, cases, report, log)
        | ({"path": report.suites.get(suite, {}).get("file"), "error": None} if several else {})
        for (suite, _), cases in groups.items()
    )
    result: dict[str, Any] = {"suites": suites} if several else next(suites)
    result |= {"elapsed_time": report.elapsed_s} | _encode_run(report) | dict(more or {})
    if faults := faults_json(report, log):
        result["faults"] = faults
    if texts := error_texts_json(report, log):
        result["error_texts"] = texts
    stream.writelines(_iterate_json({"status": "ok", "result": result}))
    stream.write("\n")


WRITER = Writer(write_json, "report.json", "application/json", suffix=".json")
"""``--report json``."""


def write_json_error(message: str, stream: TextIO) -> None:
    """Write the document of a run that could not start."""
    stream.write(json.dumps({"status": "error", "error": message}) + "\n")


def _encode_run(report: Report) -> dict[str, Any]:
    return {
        "run_id": report.run_id,
        "log": report.log,
        "summary": _encode_counts(report.cases, report.counts.planned),
        **_encode_rate(report.cases),
        "usage": asdict(report.usage),
        "judge_usage": asdict(report.judge_usage),
        "user_usage": asdict(report.user_usage),
        **({"scores": scores} if (scores := scores_json(report)) else {}),
        **({"attacks": attacks} if (attacks := attacks_json(report)) else {}),
        **({"recorded_rewards": rewards} if (rewards := recorded_rewards_json(report)) else {}),
        "reason": report.reason,
        "exit_code": exit_code(report),
        **({"reviews": reviews_json(report.reviews)} if report.reviews else {}),
        **({"by_people": True} if report.by_people else {}),
        **({"damaged": list(report.damaged)} if report.damaged else {}),
        **({"inputs": inputs} if (inputs := get_inputs(report)) else {}),
        **({"matrix": matrix} if (matrix := matrix_json(report)) else {}),
    }


def _encode_suite(
    suite: str, cases: list[CaseResult], report: Report, log: RunLog
) -> dict[str, Any]:
    verdicts = {case.status for case in cases}
    all_passed = verdicts == {"passed"}
    return {
        "suite": suite,
        "description": report.suites.get(suite, {}).get("description"),
        "model": cases[0].model,
        **axis_fields(cases[0].axes),
        "servers": list(list_server_names(report.suites, suite)),
        # MXCP's form has no further status: a suite that was not judged to its end is an error.
        "status": "failed" if "failed" in verdicts else "passed" if all_passed else "error",
        # A generator: each test is made when `_iterate_json` writes it.
        "tests": (_encode_test(case, log) for case in cases),
        "all_passed": all_passed,
        "summary": _encode_counts(cases),
        **_encode_rate(cases),
        **({"repeats": repeats} if (repeats := repeats_json(cases)) else {}),
    }


def _encode_rate(cases: Iterable[CaseResult]) -> dict[str, Any]:
    """Return the pass rate, its 95 % interval and what it is the mean of; null if none judged."""
    rate = compute_pass_rate(cases)
    return {
        "pass_rate": None if rate is None else rate.rate,
        "pass_rate_interval": None if rate is None else [rate.low, rate.high],
        "pass_rate_over": None if rate is None else {"unit": rate.unit, "count": rate.tests},
    }


def _encode_counts(cases: Iterable[CaseResult], planned: int | None = None) -> dict[str, Any]:
    counts = count_results(iterate_trials(cases), planned)
    calls = count_calls(iterate_trials(cases))
    kinds, warned = count_warnings(iterate_trials(cases))
    return asdict(counts) | {
        "judged": counts.judged_count,
        "warnings": {"total": kinds.total(), "trials": warned, "kinds": dict(kinds.most_common())},
        "calls": calls_json(calls),
    }


def _encode_test(case: CaseResult, log: RunLog) -> dict[str, Any]:
    """Return one test; of several trials the first that ended like the whole speaks for it."""
    shown = case.deciding_trial
    record = find_record(shown, log)
    test = {
        "name": case.case,
        "description": record["description"],
        "passed": case.status == "passed",
        "failures": [
            f"{check.explanation}\n{check.hint}" if check.hint else check.explanation
            for check in failed_checks(shown)
            if check.verdict == "failed"
        ],
        "time": round(sum_fields(case.trials, ["latency_s"])["latency_s"], 6),
        "details": _encode_details(shown, log),
        **{name: record[name] for name in _OF_TRIAL},
        **{name: record[name] for name in _IF_ANY if record[name] is not None},
        "status": case.status,
        "mark": case_mark(case),
        "warnings": [f"{check.label}: {check.explanation}" for check in failed_warnings(shown)],
        "checks": [asdict(check) for check in shown.checks],
    }
    if case.planned > 1:
        test |= {
            "trials": [find_record(result, log, _OF_REPEAT) for result in case.trials],
            "trials_planned": case.planned,
            "trials_passed": case.passed_count,
            "pass_threshold": case.pass_threshold,
        }
    return test


_OF_REPEAT = ("trial", "status", "latency_s")
"""Fields of the record that each of several trials has."""
_IF_ANY = ("error", "error_kind", "error_detail", "skip_reason")
"""Fields that a test has only with a value: whoever reads MXCP's form looks whether they are there.
"""
_OF_TEST = ("suite", "case", "model", *axis_fields({}), "description", "latency_ms")
"""Fields that a test has under the names of that form."""
_OF_TRIAL = tuple(name for name in RESULT_FIELDS if name not in (*_IF_ANY, *_OF_TEST))
"""All others."""


def _encode_details(result: TrialResult, log: RunLog) -> dict[str, Any]:
    transcript = log.read_transcript(result.key)
    if transcript is None:
        return {"response": None, "tool_calls": []}
    scripted = {"setup_calls": transcript.setup_calls, "teardown_calls": transcript.teardown_calls}
    made = {"tool_calls": transcript.tool_calls, "user_calls": transcript.user_calls, **scripted}
    facts = ("tool", "arguments", "outcome", "duration_s")
    return (
        {"response": transcript.answer}
        | {
            name: [{fact: getattr(call, fact) for fact in facts} for call in calls]
            for name, calls in made.items()
            if calls or name == "tool_calls"
        }
        | _encode_facts("elicitations", transcript.elicitations)
        | _encode_reads(transcript)
        | _encode_prompt(transcript.used_prompt)
        | _encode_facts("list_changes", find_changes(log, transcript))
    )


def _encode_reads(transcript: Transcript) -> dict[str, Any]:
    facts = ("uri", "outcome", "reply", "duration_s")
    reads = [{fact: getattr(read, fact) for fact in facts} for read in transcript.resource_reads]
    return {"resource_reads": reads} if reads else {}


def _encode_prompt(got: PromptGet | None) -> dict[str, Any]:
    if got is None:
        return {}
    # Without the bytes of its pictures; their words stand in the texts.
    said = [{"role": one.role, "text": one.text} for one in got.messages]
    how = {"outcome": got.outcome, "error": got.error, "duration_s": got.duration_s}
    return {"use_prompt": asdict(got.use) | how | {"messages": said}}


def _encode_facts(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """Return what the server did of its own accord, if it did anything."""
    written = [written_fields(each) for each in values]
    return {name: written} if written else {}


def _iterate_json(value: Any) -> Iterator[str]:
    """Yield JSON text in pieces; an iterator becomes an array whose items are made one by one."""
    if isinstance(value, Mapping):
        lead = "{"
        for key, item in value.items():
            yield f"{lead}{json.dumps(key)}:"
            yield from _iterate_json(item)
            lead = ","
        yield "{}" if lead == "{" else "}"
    elif isinstance(value, Iterator):
        lead = "["
        for item in value:
            yield lead
            yield from _iterate_json(item)
            lead = ","
        yield "[]" if lead == "[" else "]"
    else:
        yield json.dumps(value)
