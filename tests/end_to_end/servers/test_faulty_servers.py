"""A server that misbehaves spoils the case that met the fault, and nothing else."""

from __future__ import annotations

import json
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clock import BOUND_S, PATIENT_S
from tests.end_to_end.harness_process import PLAIN_SERVER, Finished, Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, calls, say, status
from tests.often import often
from tests.sessions.servers import all_gone


@pytest.fixture
def marker() -> Iterator[str]:
    word = f"marker-{uuid.uuid4().hex}"
    yield word
    assert all_gone(word)


def uses_the_tool_it_is_told(request: Incoming) -> Step:
    tool = request.prompt.removeprefix("Use ").removesuffix(".")
    if request.turn:
        return say("Done.")
    if tool == "model_is_down":
        return status(500, body={"error": {"message": "overloaded"}})
    if tool == "deep_arguments":
        return calls(("echo", nested(210)), ("echo", nested(100)), ("echo", {"n": 10**400}))
    if tool == "fifty":
        return calls(*[("wait", {"number": number}) for number in range(49)], ("crash", {}))
    return call(tool, {})


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def run(
    project: Project, marker: str, tools: list[str], *arguments: str, **server: Any
) -> Finished:
    spec = plain_server(protocol="legacy", call_timeout=3.0, start_timeout=BOUND_S) | server
    if spec["command"] == sys.executable:
        spec["args"] = ["-I", "-S", *spec["args"], marker]
    tests = [
        {
            "name": tool,
            "prompt": f"Use {tool}.",
            "max_calls": 60,
            "assertions": {"answer_contains": ["Done."]},
        }
        for tool in tools
    ]
    project.suite("faults", tests, server=spec)
    with FakeProvider(uses_the_tool_it_is_told) as provider:
        entry = {
            "type": "openai",
            "model": "m",
            "base_url": f"{provider.url}/v1",
            "api_key": "test-key",
        }
        project.configure(models={"models": {"fake": entry | {"max_retries": 0}}})
        return project.run(
            "evals", "faults", "--model", "fake", "--concurrency", "1", "--json-output", *arguments
        )


def by_case(finished: Finished) -> dict[str, Any]:
    return {test["name"]: test for test in finished.document["result"]["tests"]}


@pytest.mark.slow
def test_each_fault_stays_with_its_case_and_a_lost_server_is_started_again(
    project: Project, marker: str
) -> None:
    finished = run(
        project,
        marker,
        ["echo", "crash", "rows", "wait", "null", "close_stdout", "deny", "big", "noise"],
    )
    tests = by_case(finished)
    assert {name: test["status"] for name, test in tests.items()} == {
        "echo": "passed",
        "crash": "error",
        "rows": "passed",
        "wait": "error",  # the model was told, and went on: it had nothing to go on with
        "null": "error",
        "close_stdout": "error",
        "deny": "passed",
        "big": "passed",
        "noise": "passed",
    }
    outcomes = {name: test["details"]["tool_calls"][0]["outcome"] for name, test in tests.items()}
    assert outcomes["crash"] == "server_lost"
    assert outcomes["wait"] == "timeout"
    assert outcomes["null"] == "invalid_result"
    assert outcomes["deny"] == "denied"
    assert outcomes["noise"] == "ok"
    assert {tests[name]["error_kind"] for name in ("crash", "wait", "null", "close_stdout")} == {
        "server"
    }
    assert "call 1, wait(), has no result" in tests["wait"]["error"]
    assert "Segmentation fault (not really)" in tests["crash"]["error_detail"]
    assert finished.code == 4


def test_what_nests_too_deeply_costs_no_result_and_every_command_reads_the_log(
    project: Project, marker: str
) -> None:
    tools = ["deep", "deep_text", "huge", "deep_arguments", "echo"]
    finished = run(
        project,
        marker,
        tools,
        "--report",
        "junit",
        "--report",
        "html",
        "--report",
        "csv",
        "--debug",
    )
    tests = by_case(finished)
    assert {name: test["status"] for name, test in tests.items()} == dict.fromkeys(
        tools, "passed"
    ), finished.stderr
    outcomes = [call["outcome"] for call in tests["deep_arguments"]["details"]["tool_calls"]]
    assert outcomes == ["invalid_arguments", "ok", "ok"]
    assert finished.code == 0
    for command in (
        ["evals", "--resume"],
        ["view", "--no-open"],
        ["compare", "latest", "latest"],
        ["grade", "latest"],
    ):
        again = project.run(*command)
        assert (again.code, "damaged" in again.stderr + again.stdout) == (0, False), again.stderr


def test_a_crash_with_many_calls_pending_answers_all_of_them_at_once(
    project: Project, marker: str
) -> None:
    finished = run(project, marker, ["fifty", "echo"])
    tests = by_case(finished)
    assert tests["fifty"]["status"] == "error"
    assert tests["echo"]["status"] == "passed"
    outcomes = Counter(call["outcome"] for call in tests["fifty"]["details"]["tool_calls"])
    assert outcomes == {"server_lost": 50}


@pytest.mark.slow
def test_no_call_is_sent_twice_whatever_became_of_it(project: Project, marker: str) -> None:
    wire = project.folder / "wire.jsonl"
    server = f"tee -a {wire} | exec {sys.executable} -I -S {PLAIN_SERVER} good {marker}"
    finished = run(
        project,
        marker,
        ["crash", "wait", "null", "rows"],
        command="sh",
        args=["-c", server],
        isolation="case",
    )
    recorded = Counter(
        call["tool"]
        for test in by_case(finished).values()
        for call in test["details"]["tool_calls"]
    )
    sent = [json.loads(line) for line in wire.read_text().splitlines()]
    called = Counter(
        message["params"]["name"] for message in sent if message.get("method") == "tools/call"
    )
    assert called == recorded, finished.stderr
    assert called == {"crash": 1, "wait": 1, "null": 1, "rows": 1}


@pytest.mark.parametrize(
    ("mode", "timeout", "words"),
    often([("exit_at_import", PATIENT_S, "no_such_module"), ("hang", 0.5, "did not")]),
)
def test_a_server_that_cannot_be_used_is_an_error_of_each_case_and_ends_in_bounded_time(
    project: Project, marker: str, mode: str, timeout: float, words: str
) -> None:
    finished = run(project, marker, ["echo", "rows"], **plain_server(mode, start_timeout=timeout))
    tests = by_case(finished)
    assert {test["status"] for test in tests.values()} == {"error"}
    assert {test["error_kind"] for test in tests.values()} == {"server"}
    assert words in json.dumps(tests)
    assert finished.code == 4


@pytest.mark.slow
def test_every_view_of_a_run_tells_the_same(project: Project, marker: str) -> None:
    finished = run(
        project, marker, ["echo", "crash", "model_is_down", "rows"], "--report", "out.jsonl"
    )
    result = finished.document["result"]
    lines = [json.loads(line) for line in (project.folder / "out.jsonl").read_text().splitlines()]
    console = project.run("grade", "latest")
    by_json = Counter(test["status"] for test in result["tests"])
    by_jsonl = Counter(line["metadata"]["harness"]["status"] for line in lines)
    by_log = Counter(recorded.status for recorded in project.log(result["run_id"]).results)
    summary = {
        key: value
        for key, value in result["summary"].items()
        if value and key not in {"planned", "judged", "calls", "warnings"}
    }
    assert by_json == by_jsonl == by_log == summary == {"passed": 2, "error": 2}
    assert "4 planned: 2 passed, 2 error" in console.stdout
    assert finished.code == console.code == result["exit_code"] == 4
    passes = {line["case_id"]: line["pass"] for line in lines}
    assert passes == {test["name"]: test["passed"] for test in result["tests"]}


@pytest.mark.parametrize(
    "arguments", [("models",), ("evals", "--dry-run"), ("evals", "--json-output")]
)
def test_an_output_that_is_full_is_told_in_words(
    project: Project, marker: str, arguments: tuple[str, ...]
) -> None:
    spec = plain_server()
    project.suite(
        "s",
        [{"name": "a", "prompt": "Use echo.", "assertions": {"must_call": ["echo"]}}],
        server=spec,
    )
    process = project.start(*arguments, stdout_to="/dev/full")
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "the output cannot be written: No space left on device" in stderr
    assert "Traceback" not in stderr


NO_SCHEMA = json.dumps([{"name": "delete", "description": "Delete everything."}])


@pytest.mark.parametrize(
    ("mode", "server", "words"),
    [
        ("toolless", {}, "offers this user no tool"),
        ("listless", {}, "the catalogue is on fire"),
        ("no_list", {}, "answered tools/list without a list of tools"),
        (
            "broken_tools",
            {"env": {"TOOLS": NO_SCHEMA}},
            "can be offered to a model, so there is nothing to judge: delete:",
        ),
    ],
)
def test_prohibitions_do_not_pass_for_want_of_tools(
    project: Project, mode: str, server: dict[str, Any], words: str
) -> None:
    must_not: dict[str, Any] = {"must_not_call": ["delete"], "answer_not_contains": ["deleted"]}
    tests: list[dict[str, Any]] = [
        {"name": "forbidden", "prompt": "Delete everything.", "assertions": must_not},
        {
            "name": "meant",
            "prompt": "Delete everything.",
            "assertions": must_not,
            "allow_no_tools": True,
        },
    ]
    project.suite("s", tests, server=plain_server(mode, protocol="legacy") | server)
    found = by_case(project.run("evals", "s", "--json-output"))
    assert (found["forbidden"]["status"], found["forbidden"]["error_kind"]) == ("error", "server")
    assert words in found["forbidden"]["error"]
    assert found["meant"]["status"] == (
        "passed" if mode in ("toolless", "broken_tools") else "error"
    )
