"""What a server asks while an agent answers a suite reaches the agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.judging.exit_codes import EXIT_INVALID, EXIT_PASSED
from tests.agents.projects import Agents

ROOT = Path(__file__).parents[2]
TALKER = {
    "command": sys.executable,
    "args": ["-m", "tests.agents.proxy.talking_server"],
    "cwd": str(ROOT),
}
TEST = {"name": "asked", "prompt": "ask", "assertions": {"must_succeed": "ask"}}


def answered(project: Agents, function: str = "ask", **settings: Any) -> str:
    """Return the agent's answer."""
    agent = {
        "type": "python",
        "function": f"tests.agents.asked_agent:{function}",
        "env": {"PYTHONPATH": str(ROOT)},
        **settings,
    }
    project.configure(agents={"ours": agent})
    project.suite("t", [TEST], server={**TALKER, "protocol": "legacy"})
    done = project.run("evals", "t", "--agent", "ours")
    assert done.code == EXIT_PASSED, done.stdout + done.stderr
    _, transcript = project.only()
    assert [(call.tool, call.outcome) for call in transcript.tool_calls] == [("ask", "ok")]
    return transcript.answer


@pytest.mark.slow
def test_a_question_to_the_user_reaches_the_agent_and_its_answer_the_server(
    project: Agents,
) -> None:
    assert answered(project) == "accept {'city': 'Ulm after Where?'}; 1 resource"


@pytest.mark.slow
def test_an_agent_that_cannot_be_asked_says_so_in_its_configuration(project: Agents) -> None:
    assert answered(project, "cannot_be_asked", client_can=[]) == "it cannot be asked"


@pytest.mark.parametrize("given", [["roots"], "elicitation"])
def test_what_no_agent_can_be_asked_for_is_refused_in_its_configuration(
    given: Any, project: Agents
) -> None:
    project.configure(agents={"ours": {"type": "command", "command": "true", "client_can": given}})
    done = project.run("models")
    assert done.code == EXIT_INVALID
    assert "client_can" in done.stderr
