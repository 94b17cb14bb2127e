"""SARIF of a run: nothing that failed is missing, and it says how the command ended."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.reports.formats.sarif_report import write_sarif
from harness.types import Status
from tests.descriptions.linting.test_sarif import SCHEMA
from tests.reports.logs import a_log, a_run


def run_of(folder: Path, *endings: Status) -> tuple[dict[str, Any], int]:
    log = a_log(
        folder / "log.jsonl", *(a_run(f"case {n}", ending) for n, ending in enumerate(endings))
    )
    report, stream = build_report(log), io.StringIO()
    write_sarif(report, log, stream)
    written = json.loads(stream.getvalue())
    assert list(Draft4Validator(SCHEMA).iter_errors(written)) == []
    (run,) = written["runs"]
    return run, exit_code(report)


@pytest.mark.parametrize("ending", ["failed", "error"])
def test_every_case_that_did_not_pass_is_a_result(tmp_path: Path, ending: Status) -> None:
    run, code = run_of(tmp_path, "passed", ending)
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (code, False)
    (result,) = run["results"]
    assert result["level"] == "error"
    assert "case 1" in result["message"]["text"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_run_that_passed_has_no_result(tmp_path: Path) -> None:
    run, code = run_of(tmp_path, "passed", "passed")
    assert (run["results"], code) == ([], 0)
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]


def test_results_are_told_apart_by_case_and_check(tmp_path: Path) -> None:
    run, _ = run_of(tmp_path, "failed", "failed")
    prints = {one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]}
    assert len(prints) == len(run["results"]) == 2
