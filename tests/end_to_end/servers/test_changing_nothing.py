"""``harness evals`` with the baseline on a server that changes something: what is called, and said.

A real process serves two tools: one that shows the remotes, one that pushes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project

SERVER = Path(__file__).with_name("repository_server.py")
LOOK = "Was the branch pushed to its remote?"
ANSWERS: dict[str, Any] = {"answer_contains": ["e"]}


def called(project: Project, prompt: str, assertions: dict[str, Any], **suite: Any) -> list[str]:
    """Return the tools that the baseline called for the one case of a suite."""
    server = {"command": sys.executable, "args": [str(SERVER)]}
    case = {"name": "one", "prompt": prompt, "assertions": assertions}
    project.suite("repository", [case], server=server, **suite)
    finished = project.run("evals", "repository", "--model", "lexical")
    assert "Traceback" not in finished.stderr
    ((_, transcript),) = project.log()
    assert transcript is not None
    return [call.tool for call in transcript.tool_calls]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "assertions", "suite", "tools"),
    [
        (LOOK, ANSWERS, {}, []),
        (LOOK, {"must_not_call": ["push_branch"]}, {}, []),
        (LOOK, {"must_call": ["push_branch"]}, {}, ["push_branch"]),
        (LOOK, ANSWERS, {"allow_writes": ["push_branch"]}, ["push_branch"]),
        (LOOK, ANSWERS, {"allow_writes": True}, ["push_branch"]),
        ("Push the branch to its remote.", ANSWERS, {}, ["push_branch"]),
        ("Which remotes are there?", ANSWERS, {}, ["list_remotes"]),
    ],
)
def test_the_baseline_changes_only_what_is_expected_ordered_or_allowed(
    project: Project,
    prompt: str,
    assertions: dict[str, Any],
    suite: dict[str, Any],
    tools: list[str],
) -> None:
    assert called(project, prompt, assertions, **suite) == tools


@pytest.mark.slow
def test_words_of_a_variant_make_no_tool_harmless(project: Project) -> None:
    harmless = {"push_branch": {"name": "get_branch", "description": "Get a pushed branch."}}
    variants = {"harmless": {"tools": harmless}}
    server = {"command": sys.executable, "args": [str(SERVER)]}
    case = {"name": "one", "prompt": "Get the pushed branch.", "assertions": ANSWERS}
    project.suite("repository", [case], server=server, variants=variants)
    project.run("evals", "repository", "--model", "lexical", "--variant", "harmless")
    for _, transcript in project.log():
        assert transcript is not None
        assert not transcript.tool_calls


@pytest.mark.slow
def test_a_failed_check_says_what_was_held_back_and_how_to_allow_it(project: Project) -> None:
    server = {"command": sys.executable, "args": [str(SERVER)]}
    assertions = {"must_call_any": ["list_remotes", {"tool": "list_remotes", "args": {}}]}
    case = {"name": "one", "prompt": LOOK, "assertions": assertions}
    project.suite("repository", [case], server=server)
    finished = project.run("evals", "repository", "--model", "lexical")
    assert finished.code == 1
    assert "push_branch may change something" in finished.stdout
    assert "allow_writes" in finished.stdout


@pytest.mark.slow
def test_a_pass_says_what_was_held_back_in_every_format(project: Project) -> None:
    server = {"command": sys.executable, "args": [str(SERVER)]}
    case = {"name": "one", "prompt": LOOK, "assertions": {"must_not_call": ["push_branch"]}}
    project.suite("repository", [case], server=server)
    for form in ("console", "json", "jsonl", "csv", "junit"):
        arguments = () if form == "console" else ("--report", f"{form}:{form}.txt")
        finished = project.run("evals", "repository", "--model", "lexical", *arguments)
        assert finished.code == 0
        written = project.folder / f"{form}.txt"
        said = finished.stdout if form == "console" else written.read_text("utf-8")
        assert "push_branch" in said
        if form == "json":
            (test,) = json.loads(said)["result"]["tests"]
            assert test["held_back"] == "push_branch"


@pytest.mark.slow
def test_a_suite_that_allows_a_tool_that_is_not_there_is_refused(project: Project) -> None:
    server = {"command": sys.executable, "args": [str(SERVER)]}
    case = {"name": "one", "prompt": LOOK, "assertions": ANSWERS}
    project.suite("repository", [case], server=server, allow_writes=["push_brunch"])
    finished = project.run("evals", "repository", "--model", "lexical")
    assert finished.code == 3
    assert "Did you mean 'push_branch'?" in finished.stderr + finished.stdout
