"""A run whose trials are judged by one another while it goes on, against a real server."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.judging.checks import VOCABULARY
from harness.judging.log_judging import judge_log
from harness.runlog import RunLog
from harness.runner.launcher import launch_run
from harness.runner.observer import Observer
from harness.runner.planning.prepare import prepare_plan
from harness.runner.planning.request import RunBudget, RunOptions, RunRequest
from harness.suites.discovery import find_suites
from harness.types import TrialResult
from tests.end_to_end.harness_process import Project

SERVER = Path(__file__).parents[1] / "end_to_end" / "policies" / "policed_server.py"
RECORD = {"name": "record", "prompt": "Show the record of person P-1007."}
TEAM = {"name": "team", "prompt": "List all members of the team blue."}


@dataclass(slots=True)
class Heard(Observer):
    """Remembers what a run tells."""

    waited: list[str] = field(default_factory=list)
    settled: list[tuple[str, str]] = field(default_factory=list)

    def on_waiting(self, result: TrialResult) -> None:
        self.waited.append(result.case.name)

    def on_finished(self, result: TrialResult) -> None:
        self.settled.append((result.case.name, result.status))


def carried_out(
    folder: Path, fault: str, heard: Heard, budget: RunBudget, resume: RunLog | None = None
) -> RunLog:
    server = {"command": sys.executable, "args": [str(SERVER), fault], "protocol": "legacy"}
    Project(folder).suite(
        "people",
        [RECORD, TEAM],
        server=server,
        identities={"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
        defaults={"as": ["admin", "clerk", "anonymous"]},
    )
    suites = find_suites(["people"], [folder / "evals"], VOCABULARY)
    plan = prepare_plan(RunRequest(models=("lexical",)), folder, os.environ, suites).plan
    options = RunOptions(concurrency=1, budget=budget, catch_signals=False)
    return launch_run(plan, options, heard, runs=folder / "runs", resume=resume)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_fail_fast_starts_no_third_case_once_the_second_identity_shows_a_leak(
    tmp_path: Path,
) -> None:
    heard = Heard()
    log = carried_out(tmp_path, "structured", heard, RunBudget(fail_fast=True))
    assert heard.waited == ["record [admin]", "record [clerk]"]
    assert log.footer is not None
    assert log.footer.reason == "fail-fast"
    assert [(one.case.name, one.status) for one in judge_log(log).results] == [
        ("record [admin]", "passed"),
        ("record [clerk]", "failed"),
        ("record [anonymous]", "skipped"),
        ("team [admin]", "skipped"),
        ("team [clerk]", "skipped"),
        ("team [anonymous]", "skipped"),
    ]


@pytest.mark.parametrize("fault", ["none", "structured", "forgetful"])
def test_each_result_is_told_once_with_the_status_that_every_report_has(
    tmp_path: Path, fault: str
) -> None:
    heard = Heard()
    log = carried_out(tmp_path, fault, heard, RunBudget())
    judged = [(one.case.name, one.status) for one in judge_log(log).results]
    assert heard.settled == judged
    assert len(heard.waited) == len(judged) - 1  # the last one settles all
    assert sum(status == "failed" for _, status in judged) == {
        "none": 0, "structured": 2, "forgetful": 1,
    }[fault]  # fmt: skip


def test_a_resumed_run_compares_with_what_the_earlier_part_saw(tmp_path: Path) -> None:
    first = carried_out(tmp_path, "structured", Heard(), RunBudget(max_cost_usd=0.0))
    assert [one.status for one in first.results] == ["passed", *["skipped"] * 5]
    heard = Heard()
    log = carried_out(tmp_path, "structured", heard, RunBudget(fail_fast=True), first)
    assert log.footer is not None
    assert log.footer.reason == "fail-fast"
    assert [name for name, _ in heard.settled][-1] == "record [clerk]"
    assert "record [admin]" not in dict(heard.settled)  # it was told by the earlier part
    assert dict(heard.settled)["record [clerk]"] == "failed"
