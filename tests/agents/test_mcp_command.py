"""Claude Code and Codex, the real programs, with ``harness mcp`` as their server."""

from __future__ import annotations

import sys

import pytest

from harness.judging.exit_codes import EXIT_PASSED
from tests.agents.projects import Agents
from tests.agents.test_verdicts import agents
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.fake_provider.agents.programs import PROGRAMS


def list_and_answer(request: Incoming) -> Step:
    if not request.tools:
        return say("A title.")
    if request.turn == 0:
        return call(next(name for name in request.tool_names if name.endswith("list_suites")), {})
    return say("There is one suite.")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_coding_agent_lists_the_suites_of_its_project(name: str, project: Agents) -> None:
    program = next(one for one in PROGRAMS if one.name == name).find()
    case = {
        "name": "listed",
        "prompt": "Which suites are there?",
        "assertions": {"must_succeed": ["list_suites"], "answer_contains": ["one suite"]},
    }
    server = {"command": sys.executable, "args": ["-m", "harness.cli", "mcp"]}
    project.suite("t", [case], server=server)
    with FakeProvider(list_and_answer) as provider:
        project.configure(agents={name: {**agents(provider)[name], "command": [str(program)]}})
        done = project.run("evals", "t", "--agent", name, "--timeout", "300000")
    assert done.code == EXIT_PASSED, done.stdout + done.stderr
    _, transcript = project.only()
    assert '"suite": "t"' in transcript.tool_calls[0].text
