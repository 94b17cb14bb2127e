"""The workbench from the command line to the log: models over the wire, servers as processes."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import read_log
from harness.types import TrialResult
from tests.end_to_end.harness_process import Project, finish, provided
from tests.fake_provider import FakeProvider, Incoming, Step, call, say

WORDED = Path(__file__).parents[1] / "servers" / "worded_server.py"
WEIGHT = "Use it for invoices."
"""The only sentence that the model of these tests goes by."""
TOOLS = [
    {
        "name": "find_invoices",
        "description": f"Finds things. {WEIGHT} The list is sorted.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
    },
    {
        "name": "find_orders",
        "description": "Finds other things.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
CASES = [
    {
        "name": f"invoice_{number}",
        "prompt": f"Find invoice {number}.",
        "assertions": {"must_call": [{"tool": "find_invoices"}]},
    }
    for number in range(3)
]


def by_words(request: Incoming) -> Step:
    """Call the tool whose words speak of invoices, whatever it is called, else the last one."""
    if request.turn:
        return say("Done.")
    fitting = [name for name, tool in request.tools.items() if WEIGHT in (tool.description or "")]
    return call((fitting or request.tool_names)[0 if fitting else -1], {})


def worded(
    project: Project, tools: list[dict[str, Any]], instructions: str | None = None
) -> dict[str, Any]:
    """Return the ``server:`` of a suite with these tools and instructions."""
    path = project.folder / "tools.json"
    shown = tools if instructions is None else {"tools": tools, "instructions": instructions}
    path.write_text(json.dumps(shown))
    return {"command": sys.executable, "args": [str(WORDED), str(path)]}


@pytest.fixture
def provider(project: Project) -> Iterator[FakeProvider]:
    project.suite("shop", CASES, server=worded(project, TOOLS))
    with provided(project, by_words) as server:
        yield server


def found(project: Project, *arguments: str) -> Mapping[str, Any]:
    """Run the workbench, and return its document."""
    finished = project.run("workbench", "shop", "--json-output", *arguments)
    assert finished.code == 0, finished.stderr
    result: Mapping[str, Any] = finished.document["result"]
    return result


def verdicts(results: Sequence[TrialResult], entrant: str) -> dict[str, Any]:
    return {
        one.key: (one.case.name, one.status, [check.verdict for check in one.checks])
        for one in results
        if one.entrant == entrant
    }


def test_ablation_names_the_sentence_that_the_model_goes_by(
    project: Project, provider: FakeProvider
) -> None:
    result = found(project, "--studies", "ablation")
    parts = result["models"][0]["studies"]["ablation"]["parts"]
    assert parts[0]["part"]["text"] == WEIGHT
    assert parts[0]["effect"] == 1.0
    assert {one["effect"] for one in parts[1:]} == {0.0}


@pytest.mark.slow
def test_the_clean_arm_is_what_evals_runs_verdict_by_verdict(
    project: Project, provider: FakeProvider
) -> None:
    result = found(project, "--studies", "ablation")
    clean = verdicts(read_log(project.folder / result["logs"][0]).results, "m")
    assert project.run("evals", "shop").code == 0
    assert verdicts(project.log().results, "m") == clean
    assert len(clean) == len(CASES)


@pytest.mark.slow
def test_a_killed_workbench_goes_on_and_repeats_no_trial(project: Project) -> None:
    project.suite("shop", CASES, server=worded(project, TOOLS))
    asked: list[str] = []
    killed: list[int] = []

    def kill_then_answer(request: Incoming) -> Step:
        if not request.turn:
            asked.append(request.prompt + str(sorted(request.tools.items(), key=str)))
            if len(asked) == 7 and not killed:
                killed.append(process.pid)
                os.kill(process.pid, signal.SIGKILL)
        return by_words(request)

    with provided(project, kill_then_answer):
        arguments = ("workbench", "shop", "--studies", "ablation", "--concurrency", "1")
        process = project.start(*arguments)
        finish(process)
        assert killed
        before = {one.key for one in project.log().results}
        assert before
        del asked[-1]  # it was under way when the process was killed
        finished = project.run("workbench", "--resume", "--json-output")
    assert finished.code == 0, finished.stderr
    assert len(asked) == len(set(asked)), "a trial that was recorded was run again"
    assert before < {one.key for one in project.log().results}
    again = project.run("workbench", "--from", "latest", "--json-output").document["result"]
    assert again == finished.document["result"]


def test_evals_does_not_resume_a_workbench_but_says_who_does(
    project: Project, provider: FakeProvider
) -> None:
    result = found(project, "--studies", "ablation")
    refused = project.run("evals", "--resume", result["run_id"])
    assert refused.code == 3
    assert f"harness workbench --resume {result['run_id']}" in refused.stderr


def test_a_dry_run_prices_each_study_and_asks_no_model(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run("workbench", "shop", "--dry-run", "--json-output")
    assert finished.code == 0, finished.stderr
    rows = {row["study"]: row for row in finished.document["result"]["studies"]}
    assert rows["clean"]["trials"] == len(CASES)
    assert rows["ablation"]["trials"] == rows["ablation"]["arms"] * len(CASES)
    assert provider.journal == []


def test_a_budget_holds_over_all_stages_and_what_is_known_is_shown(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run(
        "workbench", "shop", "--studies", "ablation", "--max-tokens", "1", "--concurrency", "1"
    )
    assert finished.code == 4
    assert "ended early: budget" in finished.stdout
    assert "--resume" in finished.stderr


@pytest.mark.slow
def test_a_workbench_that_goes_on_keeps_its_budget_until_it_is_given_a_larger_one(
    project: Project, provider: FakeProvider
) -> None:
    studies = ("--studies", "ablation", "--concurrency", "1")
    assert project.run("workbench", "shop", *studies, "--max-tokens", "1").code == 4
    asked = len(provider.journal)
    again = project.run("workbench", "--resume")
    assert again.code == 4
    assert len(provider.journal) == asked, "trials were paid for that the budget forbids"
    assert "larger" in again.stderr
    assert project.run("workbench", "--resume", "--max-tokens", "1000000").code == 0


def test_an_unknown_study_is_refused_before_anything_is_started(project: Project) -> None:
    refused = project.run("workbench", "shop", "--studies", "ablatoin")
    assert refused.code == 3
    assert "ablation" in refused.stderr
