"""Agents that hang, flood, fork, die or pry: bounded, named, and nothing is left."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

import harness
from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED
from tests.agents.projects import ECHO, Agents
from tests.sessions.servers import all_gone, all_there

SHORT = ("--timeout", "4000")


@pytest.mark.parametrize(
    ("manner", "options", "settings", "words"),
    [
        pytest.param(
            "hang",
            SHORT,
            {},
            "the agent neither called a tool nor answered within the case's 4 s",
            marks=pytest.mark.slow,
        ),
        ("flood", (), {"max_output_mb": 1}, "wrote more than 1 MB on stdout, and was ended"),
        pytest.param("die", (), {}, "was killed by SIGKILL", marks=pytest.mark.slow),
        pytest.param("fail", (), {}, "exited with code 1", marks=pytest.mark.slow),
        ("idle", (), {}, "the agent never asked the server for its tools"),
    ],
)
def test_what_does_not_work_is_an_error_of_the_agent(
    manner: str,
    options: tuple[str, ...],
    settings: dict[str, int],
    words: str,
    project: Agents,
) -> None:
    harmless = {**ECHO, "assertions": {"must_not_call": ["deny"]}}
    done = project.answered(manner, *options, tests=[harmless], **settings)
    assert done.code == EXIT_UNJUDGED, done.stderr
    result, _ = project.only()
    assert result.error is not None
    assert (result.status, result.error.kind) == ("error", "agent")
    assert words in result.error.message
    assert all_gone(project.marker)


def test_the_last_words_of_an_agent_that_dies_are_kept_with_its_calls(project: Agents) -> None:
    project.answered("die")
    result, transcript = project.only()
    assert result.error is not None
    assert "the last words of the agent" in (result.error.detail or "")
    assert [call.tool for call in transcript.tool_calls] == ["echo"]


@pytest.mark.slow
def test_an_agent_that_hangs_after_it_has_worked_fails_at_the_limit_of_time(
    project: Agents,
) -> None:
    done = project.answered("hang_after_a_call", *SHORT)
    assert done.code == EXIT_FAILED, done.stderr
    result, transcript = project.only()
    assert (result.status, result.stop) == ("failed", "time_limit")
    assert [call.outcome for call in transcript.tool_calls] == ["ok"]
    assert all_gone(project.marker)


@pytest.mark.slow
def test_a_child_in_a_session_of_its_own_ends_with_the_trial(project: Agents) -> None:
    done = project.answered("fork")
    assert done.code == EXIT_PASSED, done.stderr
    assert all_gone(project.marker)


def killed_while_its_agent_works(project: Agents) -> None:
    project.answered("idle")  # writes the configuration
    command = [*project.log().header.models["ours"]["command"]]
    command[2] = "hang"
    project.configure(agents={"ours": {"type": "command", "command": command}})
    process = project.start("evals", "t", "--agent", "ours", TMPDIR=str(project.folder))
    assert all_there(project.marker, 3)  # the supervisor, the agent and its child
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert all_gone(project.marker)


def test_nothing_outlives_a_harness_that_is_killed(project: Agents) -> None:
    killed_while_its_agent_works(project)


@pytest.mark.slow
def test_the_next_agent_removes_the_folder_that_a_killed_harness_left(project: Agents) -> None:
    # With PYTHONPATH it is not forked from a process that has chosen its temporary folder.
    source = Path(harness.__file__).parents[1]
    project.env.update({"TMPDIR": str(project.folder), "PYTHONPATH": str(source)})
    killed_while_its_agent_works(project)
    [left] = project.folder.glob("harness-agent-*")
    assert (left / "work").is_dir()
    project.answered("idle")
    assert [*project.folder.glob("harness-agent-*")] == []


def test_a_request_without_the_token_is_refused_and_told(project: Agents) -> None:
    done = project.answered("guess")
    assert done.code == EXIT_PASSED, done.stderr
    result, transcript = project.only()
    assert transcript.answer.splitlines()[:2] == ["401", "401"]
    (warning,) = [check for check in result.checks if check.kind == "refused_requests"]
    assert "2 requests without the session's token were refused" in warning.explanation


def test_calls_beyond_the_limit_are_not_sent_and_end_the_trial(project: Agents) -> None:
    done = project.answered("calls", tests=[{**ECHO, "max_calls": 3}])
    assert done.code == EXIT_FAILED, done.stderr
    result, transcript = project.only()
    assert result.stop == "call_limit"
    outcomes = [call.outcome for call in transcript.tool_calls]
    assert (outcomes[:3], set(outcomes[3:])) == (["ok"] * 3, {"blocked"})


def test_replies_beyond_the_limit_end_the_trial(project: Agents) -> None:
    project.answered("calls", tests=[{**ECHO, "max_replies": 3}])
    result, transcript = project.only()
    assert (result.status, result.stop) == ("failed", "reply_limit")
    outcomes = [call.outcome for call in transcript.tool_calls]
    assert (outcomes[:2], set(outcomes[2:])) == (["ok"] * 2, {"blocked"})


def test_an_empty_answer_fails_as_it_does_for_a_model(project: Agents) -> None:
    assert project.answered("mute").code == EXIT_FAILED
    result, _ = project.only()
    assert [check.kind for check in result.checks if check.verdict == "failed"] == ["answered"]


def test_nothing_of_the_user_reaches_an_agent_and_nothing_of_it_is_left(project: Agents) -> None:
    (project.folder / "home").mkdir()
    (project.folder / "home" / "private.txt").write_text("mine")
    project.env.update({"OPENAI_API_KEY": "sk-of-the-user-1234567", "SECRET_PATH": "/x"})
    project.answered("look_around", tests=[{**ECHO, "assertions": {"must_not_call": ["deny"]}}])
    _, transcript = project.only()
    facts = json.loads(transcript.answer)
    assert (facts["home"], facts["files"], facts["stdin"]) == ([], [], "")
    allowed = {"HARNESS_MCP_CONFIG", "HARNESS_MCP_URL", "HOME", "LANG", "NO_PROXY", "PATH"}
    assert facts["env"].pop("PWD", facts["folder"]) == facts["folder"]
    assert set(facts["env"]) - {"LC_ALL", "TZ", "LC_CTYPE"} == {*allowed, "TMPDIR"}
    place = Path(facts["folder"]).parent
    assert place.name.startswith("harness-agent-")
    assert not place.exists()
