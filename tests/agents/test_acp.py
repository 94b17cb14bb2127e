"""Agents that speak the Agent Client Protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED
from tests.agents.projects import ECHO, Agents
from tests.end_to_end.harness_process import Finished, plain_server
from tests.often import often
from tests.sessions.servers import all_gone

ROOT = Path(__file__).parents[2]
TURNS = [{"prompt": "one"}, {"prompt": "two"}, {"prompt": "three", "fresh": True}]


def answered(project: Agents, manner: str, tests: Any = (ECHO,), **settings: Any) -> Finished:
    command = [sys.executable, "-m", "tests.agents.acp_agent", manner, project.marker]
    agent = {"type": "acp", "command": command, "env": {"PYTHONPATH": str(ROOT)}, **settings}
    project.configure(agents={"ours": agent})
    project.suite("t", list(tests), server=plain_server())
    return project.run("evals", "t", "--agent", "ours")


@pytest.mark.slow
def test_its_answer_is_what_it_says_after_its_last_call(project: Agents) -> None:
    done = answered(project, "good")
    assert done.code == EXIT_PASSED, done.stderr
    result, transcript = project.only()
    assert transcript.answer == 'Say something.: {"n": 1}'
    assert [call.tool for call in transcript.tool_calls] == ["echo"]
    assert (result.usage.input_tokens, result.usage.cost_usd) == (None, None)
    assert all_gone(project.marker)


@pytest.mark.slow
def test_an_agent_that_takes_no_server_over_http_is_given_a_process(project: Agents) -> None:
    turns = [{"name": "turns", "turns": TURNS, "assertions": ECHO["assertions"]}]
    done = answered(project, "no_http", turns)
    assert done.code == EXIT_PASSED, done.stderr
    _, transcript = project.only()
    assert [(call.tool, call.outcome) for call in transcript.tool_calls] == [("echo", "ok")] * 3
    assert transcript.answer == 'three: {"n": 1}'
    assert all_gone(project.marker)


def test_it_remembers_earlier_turns_until_a_fresh_one(project: Agents) -> None:
    answered(project, "good", [{"name": "turns", "turns": TURNS, "assertions": ECHO["assertions"]}])
    _, transcript = project.only()
    said = [one.reply.text for one in transcript.messages if one.role == "assistant"]
    assert [text for text in said if text] == [
        'one: {"n": 1}',
        'one / two: {"n": 2}',
        'three: {"n": 1}',
    ]
    assert [call.reply for call in transcript.tool_calls] == [1, 3, 5]


@pytest.mark.parametrize(
    ("tools", "answer"),
    [((), "id-allow_once id-reject_once"), (("execute",), "id-allow_once id-allow_once")],
)
def test_its_own_tools_are_permitted_only_if_they_are_listed(
    tools: tuple[str, ...], answer: str, project: Agents
) -> None:
    answered(project, "permission", tools=list(tools))
    assert project.only()[1].answer == answer


def test_it_is_offered_no_files(project: Agents) -> None:
    answered(project, "files")
    assert "neither files nor a terminal" in project.only()[1].answer


@pytest.mark.parametrize(
    ("manner", "words"),
    often(
        [
            ("nonsense", 'wrote a line that is no JSON-RPC message: "Welcome to the agent!"'),
            ("login", "refused session/new: Authentication required"),
            ("die", "exited with code 1 before it answered"),
            ("max_tokens", "ended its turn early: max_tokens"),
        ],
        2,
    ),
)
def test_what_goes_wrong_is_an_error_of_the_agent(manner: str, words: str, project: Agents) -> None:
    done = answered(project, manner)
    assert done.code == EXIT_UNJUDGED, done.stderr
    result, _ = project.only()
    assert result.error is not None
    assert result.error.kind == "agent"
    assert words in result.error.message


def test_a_refusal_of_its_model_is_one(project: Agents) -> None:
    done = answered(project, "refusal", [{**ECHO, "assertions": {"answer_contains": "Say"}}])
    assert done.code in (EXIT_FAILED, EXIT_PASSED), done.stderr
    assert project.only()[0].stop == "refusal"
