"""`harness` on servers over HTTP: what goes wrong stays with its case, and no secret is written."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.harness_process import Finished, Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.sessions.http_servers import BAD_HTTP_SERVER, Running, running
from tests.sessions.servers import all_gone

HEADER, PASSWORD, QUERY = "k-header-271828", "p-password-314159", "q-query-161803"


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture
def marker() -> Iterator[str]:
    word = f"marker-{uuid.uuid4().hex}"
    yield word
    assert all_gone(word)


def uses_the_tool_it_is_told(request: Incoming) -> Step:
    return (
        say("Done.")
        if request.turn
        else call(request.prompt.removeprefix("Use ").removesuffix("."), {})
    )


def run(project: Project, server: dict[str, Any], tools: list[str]) -> Finished:
    tests = [
        {
            "name": tool,
            "prompt": f"Use {tool}.",
            "user_context": {"role": "analyst"},
            "assertions": {"answer_contains": ["Done."]},
        }
        for tool in tools
    ]
    project.suite("faults", tests, server={"call_timeout": 1.0, "start_timeout": 5.0, **server})
    with FakeProvider(uses_the_tool_it_is_told) as provider:
        entry = {
            "type": "openai",
            "model": "m",
            "base_url": f"{provider.url}/v1",
            "api_key": "test-key",
        }
        project.configure(models={"models": {"fake": entry | {"max_retries": 0}}})
        return project.run(
            "evals",
            "faults",
            "--model",
            "fake",
            "--concurrency",
            "1",
            "--json-output",
            TOKEN=HEADER,
        )


def by_case(finished: Finished) -> dict[str, Any]:
    return {test["name"]: test for test in finished.document["result"]["tests"]}


@pytest.mark.slow
def test_each_fault_stays_with_its_case_and_a_server_that_died_is_started_again(
    project: Project, marker: str
) -> None:
    server = {
        "command": sys.executable,
        "args": ["-I", "-S", str(BAD_HTTP_SERVER), "good", marker],
        "url": f"http://ada:{PASSWORD}@127.0.0.1:{{port}}/good?key={QUERY}",
        "headers": {"X-Key": "${TOKEN}"},
        "identity": {"via": "header", "headers": {"X-Role": "{role}"}},
    }
    tools = [
        "echo",
        "die",
        "reset",
        "403",
        "429",
        "stall",
        "garbage",
        "elsewhere",
        "no_event",
        "own_error",
        "in_events",
    ]
    finished = run(project, server, tools)
    tests = by_case(finished)
    assert {name: test["details"]["tool_calls"][0]["outcome"] for name, test in tests.items()} == {
        "echo": "ok",
        "die": "server_lost",
        "reset": "server_lost",
        "403": "denied",
        "429": "server_lost",
        "stall": "timeout",
        "garbage": "invalid_result",
        "elsewhere": "server_lost",
        "no_event": "server_lost",
        "own_error": "tool_error",
        "in_events": "ok",
    }
    # What is not answered cannot be judged, whatever the model makes of it.
    lost = {"die", "reset", "429", "stall", "garbage", "elsewhere", "no_event"}
    assert {name for name, test in tests.items() if test["status"] == "error"} == lost
    assert {name for name, test in tests.items() if test["status"] == "passed"} == set(tools) - lost
    assert {tests[name]["error_kind"] for name in lost} == {"server"}
    assert "out of memory (not really)" in tests["die"]["error_detail"]
    assert finished.code == 4
    written = "".join(path.read_text() for path in (project.folder / ".harness").rglob("*.jsonl"))
    for secret in (HEADER, PASSWORD, QUERY):
        assert secret not in written + finished.stdout + finished.stderr
    assert '"transport":"http"' in written


def test_a_server_that_refuses_everybody_is_an_error_of_each_case(
    project: Project, shop: Running
) -> None:
    finished = run(project, {"url": f"http://127.0.0.1:{shop.port}/401"}, ["echo", "reset"])
    tests = by_case(finished)
    assert {test["status"] for test in tests.values()} == {"error"}
    assert all("HTTP 401 Unauthorized" in test["error"] for test in tests.values()), tests
    assert finished.code == 4


def test_a_url_stands_for_a_server_wherever_a_command_does(project: Project, shop: Running) -> None:
    url = f"http://127.0.0.1:{shop.port}/good"
    assert "echo" in project.run("tools", url).stdout
    project.suite("s", [{"name": "a", "prompt": "echo", "assertions": {"must_call": ["echo"]}}])
    assert project.run("evals", "s", "--server", url).code == 0
