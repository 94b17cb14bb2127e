"""SARIF: one result for every failed check of a case, and one for a case without a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TextIO

from harness.base import escaped_json, make_printable, shorten_text
from harness.judging import EXIT_PASSED, exit_code
from harness.reports.case_names import case_name
from harness.reports.record_fields import choose_fields
from harness.reports.sarif import build_fingerprints, physical_location, sarif_log
from harness.reports.sections.sentences import (
    format_account,
    format_names,
    get_repeat_command,
    list_servers,
)
from harness.reports.trial_record import AXIS_FIELDS, TrialRecord
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import CaseResult, JsonObject, Location, Report

_LONGEST = 4_000
"""Characters of a message."""
_NO_FILE = "harness.yml"
"""Where results are shown that no line of a suite states; code scanning needs some file."""
_NO_VERDICT = "no-verdict"
"""Rule of a case that could not be judged."""
_PROPERTIES = ("model", *AXIS_FIELDS, "identity", "trial", "status", "latency_s", "cost_usd", "key")
"""Fields of the record of the trial that a result is about."""


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
        properties={"servers": [format_names([server]) for server in list_servers(report)]},
    )
    stream.write(escaped_json(json.dumps(document, ensure_ascii=False)) + "\n")


WRITER = Writer(write_sarif, "report.sarif", "application/sarif+json", suffix=".sarif")
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
    run, name = case.deciding_trial, case_name(case, report)
    failed = [check for check in run.checks if check.verdict == "failed"]
    # Failed warnings alone do not explain why a case did not pass.
    if not any(check.severity == "fail" for check in failed):
        level = "note" if case.status == "skipped" else "error"
        found = [(_NO_VERDICT, level, format_account(run), run.case.at, str(case.status))]
    else:
        command = get_repeat_command(run)
        again = command and f"Again: {command}"
        found = [
            (
                check.code or check.kind,
                "error" if check.severity == "fail" else "warning",
                "\n".join(filter(None, (check.explanation, check.hint, again))) or check.label,
                check.at or run.case.at,
                check.label,
            )
            for check in failed
        ]
    for rule, level, said, at, label in found:
        message = shorten_text(make_printable(f"{name}: {said}"), _LONGEST)
        place = {
            "physicalLocation": _build_location(at),
            "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}],
        }
        known = (case.suite, case.case, case.entrant, rule, label)
        yield {
            "ruleId": rule,
            "level": level,
            "message": {"text": message},
            "locations": [place],
            "partialFingerprints": build_fingerprints("harness/v1", known),
            "properties": choose_fields(TrialRecord(run), _PROPERTIES),
        }


def _build_location(at: Location | None) -> JsonObject:
    # An absolute path lies outside of the repository, where code scanning shows nothing.
    if at is None or PurePath(at.file).is_absolute():
        return physical_location(_NO_FILE, 1)
    return physical_location(PurePath(at.file).as_posix(), at.line or 1, at.column or None)
