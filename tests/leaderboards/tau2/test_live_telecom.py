"""A live call of support: an agent and a customer, each with tools, over real wires."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.fetching.cache import CACHE_VARIABLE
from tests.end_to_end.harness_process import Finished, Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.leaderboards.tau2.small_company import (
    MINE,
    OF_AGENT,
    OF_CUSTOMER,
    build_task,
    write_company,
)

AGENT = (call("enable_roaming", MINE), say("Please switch roaming on."), say("Good."))
CUSTOMER = (
    say("I have no internet."),
    call("toggle_roaming", {}),
    call("check_network_status", {}),
    say("Roaming is on now."),
    say("###STOP###"),
)
IDLE = (say("I have no internet."), say("I have done that."), say("###STOP###"))
ALONE = (call("enable_roaming", MINE), call("toggle_roaming", {}), say("Solved."))


def run(project: Project, tmp_path: Path, part: str, **scripts: Any) -> tuple[Finished, Any]:
    """Return a run in which both models follow their scripts, and what they were sent."""

    def play(request: Incoming) -> Step:
        who = "customer" if "<scenario>" in str(request.body["messages"][0]) else "agent"
        step: Step = scripts[who][request.turn]
        return step

    project.env[CACHE_VARIABLE] = str(write_company(tmp_path / "cache", [build_task("roams")]))
    project.env["KEY"] = "test-key"
    with FakeProvider(play) as provider:
        model = {"type": "openai", "base_url": f"{provider.url}/v1", "api_key": "${KEY}"}
        names = ("agent", "person")
        project.configure(models={"models": {name: {**model, "model": "gpt-4o"} for name in names}})
        options = ("--model", "agent", "--user-model", "person", "--concurrency", "1")
        finished = project.run("evals", f"tau2:{part}", *options, "--json-output")
        return finished, list(provider.journal)


@pytest.mark.slow
def test_what_the_customer_does_on_the_phone_counts_and_is_recorded_apart(tmp_path: Path) -> None:
    finished, asked = run(Project(tmp_path), tmp_path, "telecom", agent=AGENT, customer=CUSTOMER)
    assert finished.code == 0, finished.stdout + finished.stderr
    (test,) = finished.document["result"]["tests"]
    details = test["details"]
    assert [one["tool"] for one in details["tool_calls"]] == ["enable_roaming"]
    assert [one["tool"] for one in details["user_calls"]] == list(reversed(OF_CUSTOMER))
    offered = {
        who: {
            tuple(request.tools) for request in asked if (who == "customer") == is_customer(request)
        }
        for who in ("agent", "customer")
    }
    assert offered == {"agent": {OF_AGENT}, "customer": {OF_CUSTOMER}}
    agents = str([request.body for request in asked if not is_customer(request)])
    assert "toggle_roaming" not in agents
    assert "The text of tech_support_manual.md." in agents
    (last,) = [request for request in asked if is_customer(request)][-1:]
    assert "Data Roaming is now ON." in str(last.body)
    assert "enable_roaming" not in str(last.body)


@pytest.mark.slow
def test_a_customer_who_only_says_so_mends_nothing(tmp_path: Path) -> None:
    finished, _ = run(Project(tmp_path), tmp_path, "telecom", agent=AGENT, customer=IDLE)
    assert finished.code == 1, finished.stdout + finished.stderr
    (test,) = finished.document["result"]["tests"]
    failed = [check["label"] for check in test["checks"] if check["verdict"] == "failed"]
    assert any("assert_mobile_data_status" in label for label in failed)
    assert "tau2 ACTION 1 of 2 gold actions called" in failed


@pytest.mark.slow
def test_an_agent_alone_has_the_ticket_and_the_tools_of_both(tmp_path: Path) -> None:
    finished, asked = run(Project(tmp_path), tmp_path, "telecom:solo", agent=ALONE)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert {tuple(request.tools) for request in asked} == {(*OF_AGENT, *OF_CUSTOMER)}
    assert "The user has no internet." in asked[0].prompt


def is_customer(request: Incoming) -> bool:
    return "<scenario>" in str(request.body["messages"][0])
