"""How Claude Code and Codex are started, and what is read of what they write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.agents.kinds.codex import build_configuration, open_agent
from harness.agents.workplace import Workplace
from harness.base import AgentError
from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED
from harness.runlog.folders import run_ids
from harness.types import AgentSpec
from tests.agents.projects import ECHO, Agents
from tests.agents.stand_ins import LIMIT
from tests.end_to_end.harness_process import Finished, plain_server
from tests.often import often

ROOT = Path(__file__).parents[2]
TURNS = [{"prompt": "one"}, {"prompt": "two"}, {"prompt": "three", "fresh": True}]
NAMES = {"claude": "claude-code", "codex": "codex"}


def answered(
    project: Agents, name: str, manner: str = "good", case: Any = ECHO, **settings: Any
) -> Finished:
    agent = {
        "type": NAMES[name],
        "command": [sys.executable, "-m", "tests.agents.stand_ins", name, manner],
        "env": {"PYTHONPATH": str(ROOT)},
        **settings,
    }
    project.configure(agents={"ours": agent})
    suite = {"system_prompt": "Be brief."} if name == "claude" else {}
    project.suite("t", [case], server=plain_server(), **suite)
    return project.run("evals", "t", "--agent", "ours")


def said(project: Agents) -> list[str]:
    messages = project.only()[1].messages
    return [one.reply.text for one in messages if one.role == "assistant" and one.reply.text]


@pytest.mark.slow
def test_claude_code_is_started_with_its_own_tools_off_but_those_that_are_listed(
    project: Agents,
) -> None:
    done = answered(project, "claude", model="opus", tools=["Bash"], args=["--max-turns", "9"])
    assert done.code == EXIT_PASSED, done.stderr
    (line,) = said(project)
    assert line.startswith("Say something. -p --output-format stream-json")
    assert "--strict-mcp-config --tools Bash --allowedTools mcp__t__*,Bash --model opus" in line
    assert line.endswith("--append-system-prompt Be brief. --max-turns 9")
    answered(project, "claude")
    assert "--tools  --allowedTools mcp__t__* " in said(project)[0]


def test_what_claude_code_used_is_known_with_its_cost_and_its_own_tools(project: Agents) -> None:
    answered(project, "claude")
    result, transcript = project.only()
    usage = result.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (8, 2, 3)
    assert usage.cost_usd == pytest.approx(0.25)
    assert transcript.served_by == "m-1"
    (warning,) = [check for check in result.checks if check.kind == "own_tools"]
    assert "tools of its own, and what they did is not seen: Bash 2." in warning.explanation
    assert project.log().header.models["ours"]["version"] == "7.7.7 (stand-in)"


@pytest.mark.parametrize(
    ("name", "resumed", "fresh"),
    often([("claude", "--resume s-1", "--resume"), ("codex", "exec resume", "resume")]),
)
def test_a_further_turn_resumes_the_conversation_and_a_fresh_one_does_not(
    name: str, resumed: str, fresh: str, project: Agents
) -> None:
    case = {"name": "turns", "turns": TURNS, "assertions": ECHO["assertions"]}
    done = answered(project, name, case=case)
    assert done.code == EXIT_PASSED, done.stderr
    first, second, third = said(project)
    assert resumed in second
    assert fresh not in first + third


def test_the_turns_of_a_codex_thread_are_counted_once(project: Agents) -> None:
    case = {"name": "turns", "turns": TURNS, "assertions": ECHO["assertions"]}
    answered(project, "codex", case=case)
    usage = project.only()[0].usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (300, 3, None)


@pytest.mark.parametrize(
    ("name", "manner", "words"),
    often(
        [
            ("claude", "limit", f"gave up: {LIMIT}"),
            ("claude", "cut", "exited with code 1: it gave no result"),
            ("claude", "unconnected", "it did not connect to the server: failed"),
            ("codex", "limit", f"exited with code 1: {LIMIT}"),
        ],
        1,
    ),
)
def test_what_goes_wrong_is_an_error_in_the_words_of_the_agent(
    name: str, manner: str, words: str, project: Agents
) -> None:
    done = answered(project, name, manner)
    assert done.code == EXIT_UNJUDGED, done.stderr
    result, _ = project.only()
    assert result.error is not None
    assert result.error.kind == "agent"
    assert words in result.error.message


def test_a_refusal_of_the_model_is_one(project: Agents) -> None:
    case = {**ECHO, "assertions": {"answer_contains": "nothing of it"}}
    assert answered(project, "claude", "refusal", case).code == EXIT_FAILED
    assert project.only()[0].stop == "refusal"


@pytest.mark.slow
def test_runs_with_another_version_are_compared_with_a_warning(project: Agents) -> None:
    answered(project, "claude")
    answered(project, "codex")
    first, second = run_ids(project.folder / ".harness" / "runs")
    told = project.run("compare", first, second).stdout
    assert "model ours: model_id was 'claude-code', is 'codex'" in told
    assert "model ours: digest was" in told


def place(folder: Path) -> Workplace:
    return Workplace(
        work=folder,
        home=folder,
        env={},
        url="http://127.0.0.1:1/token/mcp",
        server="t",
        files={},
        system="Be brief.",
        most_bytes=1,
    )


def test_codex_is_configured_with_the_server_alone_and_the_users_settings(tmp_path: Path) -> None:
    settings = {"model_provider": "local", "features": {"goals": True}, "mcp_servers": {"x": {}}}
    spec = AgentSpec(kind="codex", model="m", tools=("shell",), settings=settings)
    told = build_configuration(spec, place(tmp_path))
    assert list(told["mcp_servers"]) == ["t"]
    assert told["mcp_servers"]["t"]["url"] == "http://127.0.0.1:1/token/mcp"
    assert (told["model"], told["model_provider"]) == ("m", "local")
    assert told["features"] == {"goals": True, "shell_tool": True, "view_image": False}
    assert told["developer_instructions"] == "Be brief."


@pytest.mark.anyio
async def test_a_setting_that_toml_cannot_say_is_named(tmp_path: Path) -> None:
    spec = AgentSpec(kind="codex", model="m", settings={"features": {"goals": [1, None]}})
    with pytest.raises(AgentError, match="settings: goals: TOML has no form of null"):
        async with open_agent(spec, place(tmp_path)):
            raise AssertionError("it was opened")
