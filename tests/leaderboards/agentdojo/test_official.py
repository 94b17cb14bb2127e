"""The official verdicts: on recorded runs, on ground truth, and over real MCP sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.leaderboards.agentdojo.process import OfficialProcess
from harness.leaderboards.agentdojo.recordings import assign_versions, read_runs
from harness.leaderboards.agentdojo.source import read_contents
from harness.reports.build import build_report
from harness.reports.sections.attacks import list_attack_figures
from harness.types import JsonObject
from tests.leaderboards.agentdojo.support import (
    call,
    installed,
    judge_logged,
    log,
    recorded_runs,
    say,
)
from tests.leaderboards.replay import replayed

EXCEPTIONS = {
    # Recorded as failed. Releases 0.1.14, 0.1.17, 0.1.18 and 0.1.35 pass it: why is not known.
    "gemini-1.5-pro-002 slack-user_task_18-injection_task_2+",
}
"""Recorded runs with another official verdict; ``+`` is the usual attack. Releases 0.1.11
and 0.1.14 judge twelve others as recorded, and this one does not: it checks banking user_task_13
and workspace injection_task_4 less strictly, and its calendar keeps the duration of an event that
is moved."""

UNSOLVED = {"v1": ["workspace-user_task_7"], "v1.2.2": []}
"""Version → user tasks that the package's own ground truth does not solve."""

SUITES = "agentdojo:banking:all,slack:all,travel:all,workspace:all"


@pytest.fixture(scope="module")
def official() -> Iterator[OfficialProcess]:
    with OfficialProcess(installed()) as process:
        yield process


def disagreements(part: int) -> set[str]:
    """Return those of the recorded runs, one of ``part``, that have another verdict now."""
    runs = list(read_runs(recorded_runs()))
    versioned = assign_versions(runs, read_contents()["versions"], {"dos", "swearwords_dos"})
    return {
        f"{run.pipeline} {run.case}".replace("-important_instructions", "+")
        for run in versioned[::part]
        if judge_logged(run) != (run.utility, run.security)
    }


def test_recorded_verdicts_are_the_official_ones() -> None:
    installed()
    assert disagreements(56) <= EXCEPTIONS


@pytest.mark.slow
def test_more_recorded_verdicts_are_the_official_ones() -> None:
    installed()
    part = int(os.environ.get("HARNESS_DOJO_PART", "8"))
    found = disagreements(part)
    assert found == EXCEPTIONS if part == 1 else found <= EXCEPTIONS


def ground_truth_logs(official: OfficialProcess, version: str) -> Iterator[JsonObject]:
    """Yield runs in which an agent does exactly what solves each user task, or each attack."""
    for suite, tasks in read_contents()["versions"][version].items():
        for task in tasks["user_tasks"] | tasks["injection_tasks"]:
            asked = {"suite": suite, "version": version}
            truth = official.ask("ground_truth", asked | {"task": task})
            made = [call(one["function"], one["args"]) for one in truth["calls"]]
            said = [say("Do it."), *(message for pair in made for message in pair)]
            named = {"suite_name": suite, "benchmark_version": version}
            if task in tasks["user_tasks"]:
                yield log(said, truth["output"], **named, user_task_id=task)
            else:
                # Under an attack that writes nothing, so that only its goal is judged.
                attack = {"injection_task_id": task, "attack_type": "direct"}
                yield log(said, truth["output"], **named, **attack)


@pytest.mark.parametrize("version", ["v1", "v1.2.2"])
@pytest.mark.slow
def test_ground_truth_solves_every_user_task_and_hijacks_for_every_injection_task(
    official: OfficialProcess, version: str, tmp_path: Path
) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ground_truth_logs(official, version)))
    judged = [(run.case, *judge_logged(run), run) for run in read_runs(path)]
    assert len(judged) == {"v1": 97 + 27, "v1.2.2": 97 + 35}[version]
    unsolved = [case for case, utility, _, run in judged if not (run.attack or utility)]
    assert unsolved == UNSOLVED[version]
    # The package has no ground truth of the injection tasks that it has added to workspace.
    harmless = [
        case for case, _, security, run in judged if not security and run.transcript.replies > 1
    ]
    assert harmless == []
    assert sum(not security for _, _, security, _ in judged) == {"v1": 0, "v1.2.2": 8}[version]


@pytest.mark.slow
def test_runs_are_replayed_over_real_sessions_with_the_same_verdicts(
    official: OfficialProcess, tmp_path: Path
) -> None:
    solved = (row for row in ground_truth_logs(official, "v1.2.2") if len(row["messages"]) > 2)
    rows = [*solved][::30]  # each has a server process of its own
    # One that does nothing, and one that ends before its payment is carried out.
    pay = {"recipient": "UK12345678901234567890", "amount": 98.7, "subject": "x", "date": "y"}
    rows.append(log([say("Pay.")], "No.", utility=False, pipeline_name="idle"))
    asked = call("send_money", pay)[0]
    rows.append(log([say("Pay."), asked], None, utility=False, pipeline_name="late"))
    # One that the model's API ended, which the benchmark counts as failed and as hijacked.
    pair = {"user_task_id": "user_task_0", "injection_task_id": "injection_task_0"}
    ended = {**pair, "attack_type": "direct", "error": "internal server error"}
    rows.append(log([say("Pay.")], None, utility=False, pipeline_name="ended", **ended))
    # And one whose recorded verdict is not the official one.
    rows.append(log([say("Pay.")], "No.", pipeline_name="wrong"))
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run_log = replayed(SUITES, path, tmp_path)
    found = {
        (result.model.partition("#")[2], result.case.name): {
            check.code: check.verdict for check in result.checks if check.kind == "agentdojo"
        }
        for result in run_log.results
        if result.status != "skipped"
    }
    assert len(found) == len(rows)
    for (pipeline, case), codes in found.items():
        if pipeline == "scripted":
            goal = "security:true" if "direct" in case else "utility:true"
            assert goal in codes, case
    verdicts = {pipeline: codes for (pipeline, _), codes in found.items() if pipeline != "scripted"}
    assert [next(iter(codes)) for codes in verdicts.values()] == ["utility:false"] * 4
    agreed = {pipeline: list(codes.values())[-1] for pipeline, codes in verdicts.items()}
    assert agreed == {"idle": "passed", "late": "passed", "ended": "passed", "wrong": "failed"}
    # Utility and the success of attacks stand together, each from its own verdict.
    figures = list_attack_figures(build_report(run_log))
    assert {one.success.rate for one in figures if one.success is not None} == {1.0}
    assert {one.under_attack.rate for one in figures if one.under_attack is not None} == {0.0}
