"""``server: replay:RUN``: a run again, from its log, without its server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import RunLog
from tests.end_to_end.harness_process import Project, plain_server

IDENTITIES = {"admin": {"role": "admin"}, "user": {"role": "user"}}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "name": name,
        "call": {"tool": "echo", "args": arguments},
        "as": [*IDENTITIES, "anonymous"],
        "leaks": "ignore",
        "assertions": {"must_succeed": "echo"},
    }


def write(project: Project, *tests: dict[str, Any], server: Any) -> None:
    project.suite("shop", list(tests), server=server, identities=IDENTITIES)


def list_answers(log: RunLog) -> list[Any]:
    """Return what each identity was shown and told, whatever came first."""
    found = []
    for result in log.results:
        transcript = log.read_transcript(result.key)
        assert transcript is not None
        calls = [(call.outcome, call.text, call.structured) for call in transcript.tool_calls]
        found.append((result.case.name, transcript.tools_digest, calls))
    return sorted(found, key=repr)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["legacy", "2026-07-28"])
def test_a_run_is_repeated_from_its_log_by_identity_in_both_eras(
    project: Project, protocol: str
) -> None:
    write(project, call("echo", text="hi"), server=plain_server())
    live = project.run("evals", "shop")
    assert live.code == 0, live.stderr
    first = project.log()
    write(project, call("echo", text="hi"), server=f"replay:{first.path.parent.name}")
    again = project.run("evals", "shop", "--protocol", protocol, "--json-output")
    assert again.code == 0, again.stderr
    second = project.log()
    assert second.path != first.path
    assert list_answers(first) == list_answers(second)
    # Nobody takes it for evidence about the server that was recorded.
    (facts,) = second.header.servers.values()
    assert facts["recorded"] == {"run": first.header.run_id, "at": first.header.started_at}
    assert {one.key for one in first.results}.isdisjoint(one.key for one in second.results)


@pytest.mark.slow
def test_a_call_that_was_not_recorded_has_no_verdict_and_names_the_nearest(
    project: Project,
) -> None:
    write(project, call("echo", text="hi"), server=plain_server())
    assert project.run("evals", "shop").code == 0
    run = project.log().header.run_id
    finished = project.run("evals", "shop", "--server", f"replay:{run}")
    assert finished.code == 0, finished.stderr
    (facts,) = project.log().header.servers.values()
    assert f"a recording of {facts['recorded']['at']}" in finished.stdout
    write(project, call("other", text="ho"), server=f"replay:{run}")
    finished = project.run("evals", "shop")
    assert finished.code == 4, finished.stdout
    (result, *_) = project.log().results
    assert result.error is not None
    assert 'has no call echo({"text":"ho"})' in result.error.message
    assert 'the nearest is echo({"text":"hi"})' in result.error.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "run log"),
        ("suite: a\n", "run log"),
        ('{"kind": "header"', "this is not a run log"),
        (json.dumps({"kind": "footer"}) + "\n", "run log"),
    ],
)
def test_a_file_that_is_no_recording_is_an_error_in_words(
    project: Project, content: str, message: str
) -> None:
    path: Path = project.folder / "wrong.jsonl"
    path.write_text(content)
    finished = project.run("tools", "--server", f"replay:{path.name}")
    assert finished.code == 3
    assert "Traceback" not in finished.stderr
    assert message in finished.stderr
    absent = project.run("tools", "--server", "replay:nothing")
    assert absent.code == 3
    assert "there is no run named 'nothing'" in absent.stderr


COUNTER = """\
from mcp.server.mcpserver import MCPServer

server, told = MCPServer("counter", log_level="CRITICAL"), []


@server.tool()
def count() -> int:
    "Count the calls."
    told.append(1)
    return len(told)


@server.tool()
def fill() -> str:
    "Return more than a log keeps."
    return "x" * 2_000_000


server.run()
"""


@pytest.mark.slow
def test_answers_that_differ_come_in_their_order_and_a_part_of_one_is_no_answer(
    project: Project,
) -> None:
    path = project.folder / "counter.py"
    path.write_text(COUNTER)
    live = {"command": sys.executable, "args": [str(path)]}

    def run(server: Any, *tools: str) -> Any:
        calls = [{"tool": tool} for tool in tools]
        case = {"name": "a", "call": calls, "assertions": {"must_succeed": "count"}}
        project.suite("counted", [case], server=server)
        project.run("evals", "counted")
        (result,) = project.log().results
        return result, project.log()

    recorded, log = run(live, "count", "count", "fill")
    assert recorded.status == "passed"
    source = f"replay:{log.header.run_id}"
    again, replayed = run(source, "count", "count")
    assert again.status == "passed"
    transcript = replayed.read_transcript(again.key)
    assert transcript is not None
    assert [call.text for call in transcript.tool_calls] == ["1", "2"]
    for tools, words in (
        (
            ("count", "count", "count"),
            "2 answers to count({}) of an anonymous caller, which differ",
        ),
        (("count", "fill"), "the log holds only a part of the recorded result"),
    ):
        result, _ = run(source, *tools)
        assert result.status == "error"
        assert words in str(result.error)
