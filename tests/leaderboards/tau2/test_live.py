"""A live conversation.

An agent and a customer, both played by models, and the shop between them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.fetching.cache import CACHE_VARIABLE
from tests.end_to_end.harness_process import Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.leaderboards.tau2.support import CANCEL, POLICY, small_shop, task

JUDGED = {"nl_assertions": ["The agent is kind."], "reward_basis": ["DB", "NL_ASSERTION"]}


def played(request: Incoming) -> Step:
    """Play everybody.

    Whoever is told a scenario is the customer, whoever has the tool ``verdict`` judges.
    """
    if "verdict" in request.tools:
        return call("verdict", {"explanation": "It was.", "grade": "correct"})
    if "<scenario>" in str(request.body["messages"][0]):
        return say("Please cancel #P." if request.turn == 0 else "Thanks. ###STOP###")
    return say("All done: $1,050.") if request.turn else call("cancel_pending_order", CANCEL)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def shop(project: Project, tmp_path: Path) -> Project:
    tasks = [task("said"), task("judged", **JUDGED), task("untouched", actions=[])]
    project.env[CACHE_VARIABLE] = str(small_shop(tmp_path / "cache", tasks))
    project.env["KEY"] = "test-key"
    return project


def configure(project: Project, provider: FakeProvider) -> None:
    model = {
        "type": "openai",
        "base_url": f"{provider.url}/v1",
        "api_key": "${KEY}",
        "max_retries": 0,
    }
    project.configure(
        models={
            "models": {
                name: {**model, "model": "gpt-4o"} for name in ("agent", "person", "referee")
            },
        }
    )


ARGUMENTS = (
    "evals",
    "tau2:retail",
    "--model",
    "agent",
    "--user-model",
    "person",
    "--judge-model",
    "referee",
)


@pytest.mark.slow
def test_tasks_are_played_and_judged_by_the_leaderboards_rules(shop: Project) -> None:
    with FakeProvider(played) as provider:
        configure(shop, provider)
        finished = shop.run(*ARGUMENTS, "--trials", "2", "--concurrency", "1", "--json-output")
        asked = [request.body for request in provider.journal]
    assert finished.code == 1, finished.stdout + finished.stderr
    result = finished.document["result"]
    found = {test["name"]: test["status"] for test in result["tests"]}
    assert found == {
        "retail_said": "passed",
        "retail_judged": "passed",
        "retail_untouched": "failed",
    }
    assert result["repeats"]["pass_hat_k"] == {"1": pytest.approx(2 / 3), "2": pytest.approx(2 / 3)}
    agents = [body for body in asked if "<policy>" in str(body["messages"][0])]
    assert all(POLICY in str(body["messages"][0]) for body in agents)
    assert not any("How can I help you today" in str(body["messages"]) for body in agents)
    users = [body for body in asked if "<scenario>" in str(body["messages"][0])]
    assert all("Reason for call:\\n\\t\\tCancel #P." in str(body["messages"][0]) for body in users)
    assert not any("cancel_pending_order" in str(body) for body in users)


def test_a_run_says_what_it_may_cost_and_starts_nothing(shop: Project) -> None:
    with FakeProvider(played) as provider:
        configure(shop, provider)
        finished = shop.run(*ARGUMENTS, "--trials", "4", "--dry-run")
        assert not provider.journal
    assert finished.code == 0, finished.stderr
    assert (
        "model agent (gpt-4o): 12 trials, about 704,400 tokens in and 9,600 out, cost about"
        in finished.stdout
    )
    assert (
        "user person (gpt-4o): 12 trials, about 72,000 tokens in and 4,800 out, cost about"
        in finished.stdout
    )


def test_without_data_the_command_that_fetches_them_is_named(
    project: Project, tmp_path: Path
) -> None:
    project.env[CACHE_VARIABLE] = str(tmp_path / "nothing")
    finished = project.run("evals", "tau2:airline", "--model", "recorded:x")
    assert finished.code == 2
    assert "harness fetch tau2" in finished.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [("tau2:airlin", "airline"), ("tau2:banking", "Domains: airline, retail, telecom")],
)
def test_a_domain_that_is_not_there_is_told(shop: Project, name: str, words: str) -> None:
    finished = shop.run("evals", name)
    assert finished.code == 3
    assert words in finished.stderr
