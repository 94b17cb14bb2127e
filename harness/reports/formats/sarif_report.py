"""SARIF: one result for every failed check of a case, and one for a case without a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TextIO

from harness.base import escaped_json, make_printable, shorten_text
from harness.judging import EXIT_PASSED, exit_code
from harness.reports.case_names import case_name
from harness.reports.sarif import build_fingerprints, physical_location, sarif_log
from harness.reports.sections.sentences import format_account, get_repeat_command
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import CaseResult, JsonObject, Location, Report

_LONGEST = 4_000
"""Characters of a message."""
_NO_FILE = "harness.yml"
"""Where results are shown that no line of a suite states; code scanning needs some file."""
_NO_VERDICT = "no-verdict"
"""Rule of a case that could not be judged."""


def write_sarif(report: Report, log: RunLog, stream: TextIO) -> None:  # noqa: ARG001 - a Writer
    """Write the log; its ``invocations`` have the exit code of the run."""
    found = [result for case in report.cases for result in _build_results(case, report)]
    names = sorted({one["ruleId"] for one in found})
    code = exit_code(report)
    document = sarif_log(
        "harness",
        f"harness/{'+'.join(report.suites)}/",
        [_build_rule(name) for name in names],
        [{**one, "ruleIndex": names.index(one["ruleId"])} for one in found],
        invocations=[{"executionSuccessful": code == EXIT_PASSED, "exitCode": code}],
    )
    stream.write(escaped_json(json.dumps(document, ensure_ascii=False)) + "\n")


WRITER = Writer(
    write=write_sarif,
    file_name="report.sarif",
    suffix=".sarif",
    media_type="application/sarif+json",
)
"""``--report sarif``."""


def _build_rule(name: str) -> JsonObject:
    return {
        "id": name,
        "name": "".join(map(str.capitalize, name.replace("-", "_").split("_"))),
        "shortDescription": {"text": name.replace("_", " ").replace("-", " ").capitalize()},
        "defaultConfiguration": {"level": "error"},
    }


def _build_results(case: CaseResult, report: Report) -> Iterator[JsonObject]:
    if case.status == "passed":
        return
    run = case.deciding_trial
    failed = [check for check in run.checks if check.verdict == "failed"]
    decided = [check for check in failed if check.severity == "fail"]
    # Failed warnings alone do not explain why a case did not pass.
    for check in failed if decided else ():
        command = get_repeat_command(run)
        parts = (check.explanation, check.hint, command and f"Again: {command}")
        said = "\n".join(filter(None, parts)) or check.label
        level = "error" if check.severity == "fail" else "warning"
        rule = check.code or check.kind
        yield _build_result(case, report, rule, said, level, check.at or run.case.at, check.label)
    if not decided:
        level = "note" if case.status == "skipped" else "error"
        yield _build_result(
            case, report, _NO_VERDICT, format_account(run), level, run.case.at, case.status
        )


def _build_result(
    case: CaseResult,
    report: Report,
    rule: str,
    said: str,
    level: str,
    at: Location | None,
    label: str,
) -> JsonObject:
    name = case_name(case, report)
    message = shorten_text(make_printable(f"{name}: {said}"), _LONGEST)
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": _build_location(at),
                "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}],
            }
        ],
        "partialFingerprints": build_fingerprints(
            "harness/v1", (case.suite, case.case, case.entrant, rule, label)
        ),
    }


def _build_location(at: Location | None) -> JsonObject:
    # An absolute path lies outside of the repository, where code scanning shows nothing.
    if at is None or PurePath(at.file).is_absolute():
        return physical_location(_NO_FILE, 1)
    return physical_location(PurePath(at.file).as_posix(), at.line or 1, at.column or None)
