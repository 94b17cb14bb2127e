"""Suites with parameters, several turns, scripted calls and repeats, run as a user runs them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from harness.types import Transcript
from tests.end_to_end.harness_process import Finished, Project, finish, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, say, stall

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _key(project: Project) -> None:
    project.env["KEY"] = "test-key"


def write(
    project: Project, provider: FakeProvider, tests: list[dict[str, Any]], **settings: Any
) -> Path:
    """Write a suite over the plain server, answered by ``provider``."""
    model = {
        "type": "openai",
        "model": "gpt-4o",
        "base_url": f"{provider.url}/v1",
        "api_key": "${KEY}",
    }
    project.configure(models={"models": {"fake": {**model, "max_retries": 0}}})
    return project.suite(
        "shop", tests, server=plain_server(protocol="legacy"), model="fake", **settings
    )


def results(finished: Finished) -> dict[str, Any]:
    return {test["name"]: test for test in finished.document["result"]["tests"]}


def transcript(project: Project, position: int = 0) -> Transcript:
    log = project.log()
    found = log.read_transcript(log.results[position].key)
    assert found is not None
    return found


@pytest.mark.slow
def test_parameters_make_tests_with_prompts_arguments_and_users_of_their_own(
    project: Project,
) -> None:
    def script(request: Incoming) -> Step:
        number = int(request.prompt.split()[-1])
        return say(f"It is {number}.") if request.turn else call("echo", {"n": number})

    test = {
        "name": "count",
        "prompt": "Count to ${{ n }}",
        "matrix": {"n": [1, 2], "who": ["clerk", "nobody"]},
        "user_context": "${{ who }}",
        "assertions": {
            "must_call": [{"tool": "echo", "args": {"n": "${{ n }}"}}],
            "answer_contains": ["is ${{ n }}"],
        },
    }
    with FakeProvider(script) as provider:
        write(project, provider, [test], contexts={"clerk": {"role": "clerk"}, "nobody": None})
        finished = project.run("evals", "shop", "--json-output")
    assert finished.code == 0, finished.stdout + finished.stderr
    assert list(results(finished)) == [
        f"count[n={n},who={who}]" for n in (1, 2) for who in ("clerk", "nobody")
    ]
    assert [
        run.case.user_context
        for run in sorted(project.log().results, key=lambda run: run.case.name)
    ] == [
        {"role": "clerk"},
        None,
    ] * 2


# ── Several turns ────────────────────────────────────────────────────────────────────────────

TALK: dict[str, Any] = {
    "name": "talk",
    "turns": [
        {"prompt": "Say one.", "assertions": {"must_call": ["echo"], "answer_contains": ["one"]}},
        {
            "prompt": "Say two.",
            "assertions": {"answer_contains": ["two"], "answer_not_contains": ["one"]},
        },
    ],
    "assertions": {"must_call": [{"tool": "echo", "times": 1}]},
}


def talkative(request: Incoming) -> Step:
    if request.turn == 0:
        return call("echo", {"n": 1})
    return say("one" if request.last_text == "Say one." else "two")


def test_every_turn_is_asked_with_the_whole_conversation_and_judged_where_it_ends(
    project: Project,
) -> None:
    with FakeProvider(talkative) as provider:
        write(project, provider, [TALK])
        finished = project.run("evals", "shop", "--json-output")
        asked = [
            [message["role"] for message in request.body["messages"]]
            for request in provider.journal
        ]
    assert finished.code == 0, finished.stdout + finished.stderr
    assert asked[-1] == ["user", "assistant", "tool", "assistant", "user"]
    assert [check["turn"] for check in results(finished)["talk"]["checks"]] == [1, 1, 2, 2, None]


@pytest.mark.slow
def test_a_failed_check_of_a_turn_says_which_turn(project: Project) -> None:
    with FakeProvider(
        lambda request: talkative(request) if request.turn < 2 else say("one, again")
    ) as provider:
        write(project, provider, [TALK])
        finished = project.run("evals", "shop")
    assert finished.code == 1
    assert "turn 2: answer_contains" in finished.stdout


@pytest.mark.slow
def test_a_conversation_is_replayed_and_graded_as_a_whole(project: Project) -> None:
    with FakeProvider(talkative) as provider:
        path = write(project, provider, [TALK])
        assert project.run("evals", "shop").code == 0
        asked = len(provider.journal)
        assert project.run("evals", "shop", "--model", "replay:latest").code == 0
        assert len(provider.journal) == asked
    text = path.read_text()
    path.write_text(text.replace("- two", "- three"))
    stricter = project.run("grade", "latest")
    assert stricter.code == 1
    assert "turn 2: answer_contains" in stricter.stdout
    path.write_text(text.replace("Say two.", "Say three."))
    assert "the case has another prompt now" in project.run("grade", "latest").stdout


# ── Setup and teardown ───────────────────────────────────────────────────────────────────────


def scripted(**calls: list[Any]) -> dict[str, Any]:
    return {
        "name": "one",
        "prompt": "Say hello.",
        "assertions": {"answer_contains": ["hello"]},
        **calls,
    }


def test_scripted_calls_go_through_the_session_and_are_no_calls_of_the_model(
    project: Project,
) -> None:
    test = scripted(setup=[{"tool": "echo", "args": {"n": 1}}], teardown=["echo"])
    test["assertions"]["must_not_call"] = ["echo"]
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [test])
        finished = project.run(
            "evals", "shop", "--json-output", "--user-context", '{"role": "clerk"}'
        )
    assert finished.code == 0, finished.stdout + finished.stderr
    details = results(finished)["one"]["details"]
    assert details["tool_calls"] == []
    assert [made["arguments"] for made in details["setup_calls"]] == [{"n": 1}]
    found = transcript(project)
    assert found.setup_calls[0].structured == {"meta": {"harness/user_context": {"role": "clerk"}}}
    assert [made.outcome for made in found.teardown_calls] == ["ok"]


def test_a_setup_that_fails_asks_no_model_and_is_an_error_of_the_server(project: Project) -> None:
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [scripted(setup=["deny", "echo"], teardown=["echo"])])
        finished = project.run("evals", "shop")
        assert provider.journal == []
    assert finished.code == 4
    assert "setup failed: deny({}) → denied: Access denied" in " ".join(finished.stdout.split())
    found = transcript(project)
    assert ([made.tool for made in found.setup_calls], found.teardown_calls[0].outcome) == (
        ["deny"],
        "ok",
    )
    assert "not_judged" not in finished.stdout


def test_a_teardown_that_fails_is_a_warning(project: Project) -> None:
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [scripted(teardown=["deny", "echo"])])
        finished = project.run("evals", "shop")
    assert finished.code == 0
    assert "! teardown deny" in finished.stdout
    assert [made.outcome for made in transcript(project).teardown_calls] == ["denied", "ok"]


def test_teardown_is_made_although_the_run_is_interrupted(project: Project) -> None:
    with FakeProvider([stall()]) as provider:
        write(project, provider, [scripted(teardown=["echo"])])
        process = project.start("evals", "shop", "--grace", "0.1")
        provider.wait_for_requests(1, timeout_s=PATIENCE_S)
        process.send_signal(signal.SIGINT)
        finished = finish(process)
    assert finished.code == 130
    found = transcript(project)
    assert found.stop == "cancelled"
    assert [made.outcome for made in found.teardown_calls] == ["ok"]


def test_teardown_of_a_lost_server_does_not_hold_up_the_run(project: Project) -> None:
    with FakeProvider([call("crash", {})]) as provider:
        write(project, provider, [scripted(teardown=["echo", "echo"])])
        finished = project.run("evals", "shop")
    assert finished.code == 4
    assert [made.outcome for made in transcript(project).teardown_calls] == [
        "server_lost",
        "server_lost",
    ]


def test_scripted_calls_are_held_by_the_guard_rails_too(project: Project) -> None:
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [scripted(setup=["rows"])])
        finished = project.run("evals", "shop", "--read-only")
        assert provider.journal == []
    assert finished.code == 4
    assert "harness error: setup failed: rows({}) → blocked" in finished.stdout


# ── Repeats ──────────────────────────────────────────────────────────────────────────────────


def test_a_test_passes_when_enough_of_its_trials_do(project: Project) -> None:
    def every_third_is_wrong(request: Incoming) -> Step:
        return say("hello" if request.sequence % 3 else "no")

    test = {**scripted(), "trials": 6, "pass_threshold": 0.6}
    with FakeProvider(every_third_is_wrong) as provider:
        write(project, provider, [test])
        first = project.run("evals", "shop", "--json-output", "--concurrency", "1")
        asked = len(provider.journal)
        project.run("evals", "shop", "--trials", "2")
        assert len(provider.journal) - asked == 2
    assert first.code == 0, first.stdout
    found = results(first)["one"]
    assert (found["passed"], found["trials_passed"], found["trials_planned"]) == (True, 4, 6)
    assert first.document["result"]["summary"]["failed"] == 2


# ── Arguments that no tool has ───────────────────────────────────────────────────────────────


def test_an_argument_that_the_tool_does_not_have_is_told_before_a_model_is_asked(
    project: Project,
) -> None:
    tests = [
        {"name": "good", "prompt": "Say hello.", "assertions": {"must_call": ["echo"]}},
        {
            "name": "typo",
            "prompt": "Echo 5.",
            "assertions": {"must_call": [{"tool": "echo", "args": {"nn": 5}}]},
        },
        {
            "name": "other_user",
            "prompt": "Echo 5.",
            "user_context": {"role": "x"},
            "assertions": {"must_not_call": [{"tool": "echo", "args": {"number": 5}}]},
        },
    ]
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, tests)
        finished = project.run("evals", "shop")
        assert provider.journal == []
    assert finished.code == 3
    assert "evals/shop.yml:19:7: the tool 'echo' has no argument 'nn'." in finished.stderr
    assert "has no argument 'number'." in finished.stderr
    assert "It takes n." in finished.stderr
    assert "Traceback" not in finished.stderr
    assert list((project.folder / ".harness" / "runs").iterdir()) == []


def test_tools_that_nobody_has_are_no_mistake_where_that_is_meant(project: Project) -> None:
    test = {
        "name": "one",
        "prompt": "Say hello.",
        "assertions": {"must_not_call": [{"tool": "drop", "args": {"a": 1}, "allow_absent": True}]},
    }
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [test])
        assert project.run("evals", "shop").code == 0


@pytest.mark.slow
def test_looking_at_tools_and_running_trials_never_wait_for_each_others_processes(
    project: Project,
) -> None:
    test = {
        "name": "many",
        "prompt": "Say hello.",
        "matrix": {"n": list(range(20))},
        "user_context": {"n": "${{ n }}"},
        "assertions": {"must_not_call": [{"tool": "echo", "args": {"n": "${{ n }}"}}]},
    }
    with FakeProvider([say("hello")]) as provider:
        write(project, provider, [test], isolation="case")
        finished = project.run("evals", "shop", "--concurrency", "20")
    assert finished.code == 0, finished.stdout + finished.stderr
