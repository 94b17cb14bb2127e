"""Conversations with a simulated user, run as a user of harness runs them."""

from __future__ import annotations

from typing import Any

from harness.types import UserMessage
from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, say

SCENARIO = "You are Ann. You want to know what the echo of 7 is, and nothing else."


def played(request: Incoming) -> Step:
    """Play both sides: the one that is told a scenario is the user."""
    if "<scenario>" in str(request.body["messages"][0]):
        return say("What is the echo of 7?" if request.turn == 0 else "Thank you. ###STOP###")
    return say("It is 7.") if request.turn else call("echo", {"n": 7})


def write(project: Project, provider: FakeProvider, **user: Any) -> None:
    project.env["KEY"] = "test-key"
    model = {
        "type": "openai",
        "base_url": f"{provider.url}/v1",
        "api_key": "${KEY}",
        "max_retries": 0,
    }
    models = {"agent": {**model, "model": "gpt-4o"}, "person": {**model, "model": "gpt-4o-mini"}}
    project.configure(models={"models": models})
    test = {
        "name": "asks_for_an_echo",
        "user": {"scenario": SCENARIO, **user},
        "assertions": {"must_call": [{"tool": "echo", "args": {"n": 7}}], "answer_contains": ["7"]},
    }
    project.suite("talk", [test], server=plain_server(protocol="legacy"), model="agent")


def test_a_simulated_user_leads_the_conversation_and_is_accounted_for_apart(
    project: Project,
) -> None:
    with FakeProvider(played) as provider:
        write(project, provider, model="person")
        finished = project.run("evals", "talk", "--json-output")
        asked = [request.body for request in provider.journal]
        [test] = finished.document["result"]["tests"]
        replayed = project.run("evals", "talk", "--model", "replay:latest", "--json-output")
        assert len(provider.journal) == len(asked), "a replay asks nobody, the user neither"
    assert finished.code == 0, finished.stdout + finished.stderr
    users = [body for body in asked if body["model"] == "gpt-4o-mini"]
    agents = [body for body in asked if body["model"] == "gpt-4o"]
    assert (len(users), len(agents)) == (2, 2)
    assert not any("tools" in body for body in users)
    assert SCENARIO not in str(agents)
    assert test["stop"] == "user_stop"
    assert test["tokens_in"] > test["user_tokens_in"] > 0
    [(_, transcript)] = list(project.log())
    assert transcript is not None
    assert [
        message.text for message in transcript.messages if isinstance(message, UserMessage)
    ] == [
        "What is the echo of 7?",
        "Thank you. ###STOP###",
    ]
    assert replayed.code == 0, replayed.stdout + replayed.stderr
    assert replayed.document["result"]["tests"][0]["user_tokens_in"] == 0


def test_a_user_that_nobody_plays_is_refused_with_the_place_before_anything_is_asked(
    project: Project,
) -> None:
    with FakeProvider(played) as provider:
        write(project, provider)
        finished = project.run("evals", "talk")
        assert not provider.journal
    assert finished.code == 3
    assert "evals/talk.yml:" in finished.stderr
    assert "--user-model" in finished.stderr


def test_a_user_without_end_fails_the_case_by_their_limit_and_the_words_say_so(
    project: Project,
) -> None:
    def endless(request: Incoming) -> Step:
        return (
            say("And then?")
            if "<scenario>" in str(request.body["messages"][0])
            else say("7, as I said.")
        )

    with FakeProvider(endless) as provider:
        write(project, provider, max_turns=3)
        finished = project.run("evals", "talk", "--user-model", "person")
    assert finished.code == 1
    assert "max_turns of the user" in finished.stdout
    assert "user person" in finished.stdout
