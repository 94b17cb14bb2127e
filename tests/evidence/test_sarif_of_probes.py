"""SARIF of a probe: one that found nothing, one that was cut off, one whose server was lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from harness.judging.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PASSED, EXIT_UNJUDGED
from harness.runlog.folders import log_path
from tests.descriptions.linting.test_sarif import SCHEMA
from tests.evidence.made_logs import (
    SUITES,
    Desk,
    cut_off,
    made_by,
    make_project,
    write_reports,
    write_suite,
)
from tests.probing.loopback import on_loopback


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with on_loopback(Desk) as url:
        make_project(tmp_path, url)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


def sarif_of(run: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the results and the invocation of a run."""
    write_reports(run)
    document = json.loads((log_path(run).parent / "report.sarif").read_text("utf-8"))
    assert list(Draft4Validator(SCHEMA).iter_errors(document)) == []
    found = document["runs"][0]
    (invocation,) = found["invocations"]
    return found["results"], invocation


def test_a_probe_that_found_nothing_has_no_result_and_succeeded(project: Path) -> None:
    _, run = made_by("probe", "sound", "--named-only")
    assert sarif_of(run) == ([], {"executionSuccessful": True, "exitCode": EXIT_PASSED})


def test_a_probe_that_did_not_run_to_its_end_is_no_clean_scan(project: Path) -> None:
    _, run = made_by("probe", "sound", "--named-only")
    results, invocation = sarif_of(cut_off(run))
    assert invocation == {"executionSuccessful": False, "exitCode": EXIT_INTERRUPTED}
    assert {one["ruleId"] for one in results} == {"no-verdict"}
    assert any("the run ended without a result" in one["message"]["text"] for one in results)


@pytest.mark.slow
def test_a_probe_whose_server_was_lost_has_a_result_for_each_unanswered_call(
    project: Path,
) -> None:
    write_suite(project, "sound", SUITES["sound"], more="ghost")
    code, run = made_by("probe", "sound", "--named-only")
    results, invocation = sarif_of(run)
    assert code == invocation["exitCode"] == EXIT_UNJUDGED
    assert results
    assert all(one["ruleId"] == "no-verdict" and "[ghost]" in str(one) for one in results)


def test_every_finding_of_a_probe_is_a_result_under_its_own_rule(project: Path) -> None:
    code, run = made_by("probe", "leaky", "--named-only")
    results, invocation = sarif_of(run)
    assert code == invocation["exitCode"] == EXIT_FAILED
    # The list is a road to what others must not get: the leak tells it, once for each of them.
    assert {one["ruleId"] for one in results} == {"no_leak"}
    assert len(results) == 2
