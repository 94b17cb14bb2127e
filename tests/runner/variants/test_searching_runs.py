"""Runs in which a model must search for its tools, from the command line to reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.types import AssistantMessage, Transcript, TrialResult
from tests.end_to_end.harness_process import Finished, Project, plain_server, provided
from tests.fake_provider import Incoming, Step, call, calls, say
from tests.reports.packs import all_of

ECHO = {
    "name": "echo",
    "prompt": "Echo 7.",
    "assertions": {
        "only_call": ["echo"],
        "must_succeed": "echo",
        "max_calls": 1,
        "no_tool_errors": True,
    },
}
SEARCH = {"tool_search": {"beyond": 2, "results": 1}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def look(query: str) -> Step:
    return call("tool_search", {"query": query})


def searching(request: Incoming) -> Step:
    """Search, call what was found, answer."""
    found = [name for name in request.tool_names if name.endswith("echo")]
    steps = [look("echo a number"), *(call(name, {"n": 7}) for name in found), say("Done: 7.")]
    return steps[request.turn]


def run(
    project: Project, *arguments: str, case: dict[str, Any] | None = None, **variants: Any
) -> Finished:
    project.suite("first", [case or ECHO], server=plain_server(), variants=variants)
    return project.run("evals", "first", *arguments)


def only(project: Project) -> tuple[TrialResult, Transcript]:
    ((result, transcript),) = list(project.log())
    assert transcript is not None
    return result, transcript


def offers(transcript: Transcript) -> list[tuple[str, ...] | None]:
    said = (one for one in transcript.messages if isinstance(one, AssistantMessage))
    return [one.reply.offered for one in said]


def test_a_model_finds_its_tools_by_a_search_that_no_check_counts(project: Project) -> None:
    with provided(project, searching) as server:
        finished = run(project, "--variant", "hidden", "--report", "html", "--debug", hidden=SEARCH)
    assert finished.code == 0, finished.stdout + finished.stderr
    names = [request.tool_names for request in server.journal]
    assert names == [("tool_search",), ("tool_search", "echo"), ("tool_search", "echo")]
    heard = json.dumps(server.journal[1].body)
    assert "These tools can be called from now on" in heard
    result, transcript = only(project)
    made = [(one.tool, one.outcome) for one in transcript.tool_calls]
    assert made == [("tool_search", "tool_search"), ("echo", "ok")]
    assert result.tool_calls == 1
    assert offers(transcript) == names
    assert "1 call: 1 ok; 1 tool search" in finished.stdout
    (report,) = project.folder.rglob("*.html")
    assert "Tools in the list of reply 2: tool_search, echo" in all_of(report.read_text("utf-8"))
    assert "offered   tool_search, echo" in finished.stdout + finished.stderr


@pytest.mark.slow
def test_a_search_goes_with_prefixes_decoys_and_cut_results(project: Project) -> None:
    client = {
        **SEARCH,
        "prefix": "mcp__plain__",
        "max_result_tokens": 1,
        "add": {"from": "builtin", "count": 40},
    }
    with provided(project, searching) as server:
        finished = run(project, "--variant", "client", client=client)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert server.journal[1].tool_names == ("tool_search", "mcp__plain__echo")
    assert "The result was cut" not in json.dumps(server.journal[1].body)
    _, transcript = only(project)
    assert offers(transcript)[1] == ("tool_search", "echo")


def test_a_short_list_needs_no_search(project: Project) -> None:
    def obeying(request: Incoming) -> Step:
        return say("Done.") if request.turn else call("echo", {"n": 7})

    with provided(project, obeying) as server:
        finished = run(project, "--variant", "v", v={"tool_search": {"beyond": 500}})
    assert finished.code == 0, finished.stdout + finished.stderr
    assert "tool_search" not in server.journal[0].tool_names
    assert offers(only(project)[1]) == [None, None]


def test_a_tool_that_is_not_loaded_is_unknown_and_not_called(project: Project) -> None:
    steps = [calls(("tool_search", {"query": "echo"}), ("echo", {"n": 7})), say("Done.")]
    with provided(project, steps) as server:
        finished = run(project, "--variant", "hidden", hidden=SEARCH)
    assert finished.code == 1
    assert "Unknown tool: echo. Tools can be called once a search" in json.dumps(
        server.journal[1].body
    )
    _, transcript = only(project)
    made = [(one.tool, one.outcome) for one in transcript.tool_calls]
    assert made == [("tool_search", "tool_search"), ("echo (not loaded)", "not_loaded")]
    assert "1 call: 0 ok, 1 not sent; 1 tool search" in finished.stdout


def test_a_forbidden_tool_that_is_not_loaded_was_tried_all_the_same(project: Project) -> None:
    never = {"name": "echo", "prompt": "Hi.", "assertions": {"must_not_call": ["echo"]}}
    with provided(project, [calls(("echo", {"n": 7})), say("Done.")]):
        finished = run(project, "--variant", "hidden", case=never, hidden=SEARCH)
    assert finished.code == 1
    assert "Tool was called although it must not be: echo (not loaded)" in finished.stdout
    assert "no search or filter had put the tool into the model's list" in " ".join(
        finished.stdout.split()
    )
    (check,) = only(project)[0].checks
    assert (check.attempted, check.reached_server, check.executed) == (True, False, False)


@pytest.mark.slow
def test_a_model_that_only_searches_has_called_nothing_but_used_its_budget(
    project: Project,
) -> None:
    silent = {"name": "echo", "prompt": "Hi.", "assertions": {"only_call": []}, "max_calls": 2}
    with provided(project, [look("a"), look("b"), say("Nothing.")]):
        finished = run(project, "--variant", "hidden", case=silent, hidden=SEARCH)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert "no tool was called; 2 tool searches" in finished.stdout
    with provided(project, lambda _: look("echo")):
        finished = run(project, "--variant", "hidden", case=silent, hidden=SEARCH)
    assert finished.code == 1
    assert "Limit reached: max_calls of 2" in finished.stdout


def test_a_new_conversation_has_nothing_loaded(project: Project) -> None:
    again = {
        "name": "echo",
        "turns": [
            {"prompt": "Echo 7."},
            {"prompt": "Once more."},
            {"prompt": "Never.", "fresh": True},
        ],
        "assertions": {"must_call": [{"tool": "echo", "times": 1}]},
    }
    steps = [look("echo"), call("echo", {"n": 7}), say("7."), say("Again.")]

    def once(request: Incoming) -> Step:
        return say("New.") if "Never." in json.dumps(request.body) else steps[request.turn]

    with provided(project, once) as server:
        finished = run(project, "--variant", "hidden", case=again, hidden=SEARCH)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert [len(request.tool_names) for request in server.journal] == [1, 2, 2, 2, 1]


@pytest.mark.slow
def test_a_run_with_searches_is_taken_up_again_replayed_graded_and_compared(
    project: Project,
) -> None:
    with provided(project, searching) as server:
        run(project, "--variant", "hidden", hidden=SEARCH)
        asked = len(server.journal)
        run_id = project.log().header.run_id
        assert project.run("evals", "--resume").code == 0
        assert project.run("grade", "latest", "first").code == 0
        replayed = project.run(
            "evals", "first", "--model", f"replay:{run_id}", "--variant", "hidden"
        )
        assert replayed.code == 0, replayed.stdout + replayed.stderr
        assert len(server.journal) == asked
    result, transcript = only(project)
    assert result.tool_calls == 1
    assert offers(transcript)[1] == ("tool_search", "echo")
    compared = project.run("compare", run_id, "latest")
    assert compared.code == 0, compared.stdout + compared.stderr


def test_an_agent_and_a_recorded_program_are_refused_a_search_which_is_their_own(
    project: Project,
) -> None:
    refused = run(project, "--agent", "true", "--variant", "hidden", hidden=SEARCH)
    assert refused.code == 3
    assert "has 'tool_search', which is for models" in refused.stderr
    refused = project.run("record", "--suite", "first", "--variant", "hidden", "--", "true")
    assert refused.code == 3
    assert "a program searches for tools itself" in refused.stderr
