"""The instructions of a server: what a model is given of them, on every transport."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.end_to_end.harness_process import Project, plain_server, provided
from tests.fake_provider import Incoming, Step, say
from tests.sessions.good_server import INSTRUCTIONS
from tests.sessions.servers import GOOD_SERVER

HEADING = "# Instructions of the MCP servers"
CASE = {"name": "ask", "prompt": "How much?", "assertions": {"max_calls": 0}}
START: dict[str, Any] = {"command": sys.executable, "args": [str(GOOD_SERVER)]}
OVER_HTTP = {**START, "transport": "http", "url": "http://127.0.0.1:{port}/mcp"}
TRANSPORTS: dict[str, dict[str, Any]] = {
    "stdio": START,
    "stdio, older revision": {**START, "protocol": "legacy"},
    "http": OVER_HTTP,
    "http, older revision": {**OVER_HTTP, "protocol": "legacy"},
    "sse": {**START, "transport": "sse", "url": "http://127.0.0.1:{port}/sse"},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def answer(_: Incoming) -> Step:
    return say("Nothing.")


def ask(project: Project, *arguments: str, **suite: Any) -> str:
    """Run the case and return the system prompt that the provider was sent; empty if none."""
    project.suite("first", [CASE], **suite)
    with provided(project, answer) as provider:
        finished = project.run("evals", "first", *arguments)
    assert finished.code == 0, finished.stdout + finished.stderr
    (request,) = provider.journal
    said = [one["content"] for one in request.body["messages"] if one["role"] == "system"]
    return "".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_model_is_given_them_after_the_prompt_of_the_suite(
    project: Project, transport: str
) -> None:
    given = ask(project, server=TRANSPORTS[transport], system_prompt="Be brief.")
    assert given.startswith(f"Be brief.\n\n{HEADING}\n\n## ")
    assert given.endswith(f"\n\n{INSTRUCTIONS}")


@pytest.mark.slow
def test_a_variant_shows_other_ones_or_none(project: Project) -> None:
    variants = {
        "without": {"instructions": ""},
        "first": {"instructions": {"without_sentences": 2}},
        "other": {"instructions": "Guess."},
    }
    shown = {
        name: ask(project, "--variant", name, server=START, variants=variants) for name in variants
    }
    assert shown["without"] == ""
    assert shown["first"].endswith("Add before you tell.")
    assert shown["other"].endswith("\n\nGuess.")


@pytest.mark.slow
def test_those_of_joined_servers_stand_under_their_names(project: Project) -> None:
    with provided(project, answer) as provider:
        config = project.folder / "harness.yml"
        servers = {"shop": START, "mute": plain_server(), "bank": START}
        config.write_text(config.read_text() + yaml.safe_dump({"servers": servers}))
        project.suite("first", [CASE], server=["shop", "mute", "bank"])
        assert project.run("evals", "first").code == 0
    (request,) = provider.journal
    sections = f"## shop\n\n{INSTRUCTIONS}\n\n## bank\n\n{INSTRUCTIONS}"
    assert request.body["messages"][0]["content"] == f"{HEADING}\n\n{sections}"


@pytest.mark.slow
def test_the_log_has_them_with_the_tool_list(project: Project) -> None:
    ask(project, server=START)
    lists = list(project.log().tools_lines)
    assert [list(one.tools.instructions.values()) for one in lists] == [[INSTRUCTIONS]]
    other = lists[0].tools.digest
    ask(project, server={**START, "env": {"NO_INSTRUCTIONS": "1"}})
    assert [one.tools.digest != other for one in project.log().tools_lines] == [True]


def test_a_server_without_any_changes_no_prompt(project: Project) -> None:
    assert ask(project, server=plain_server()) == ""
    assert [one.tools.instructions for one in project.log().tools_lines] == [{}]
