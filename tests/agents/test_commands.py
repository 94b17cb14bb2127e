"""Agents as commands and as Python functions, named on the command line and configured."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from harness.judging.exit_codes import EXIT_INVALID, EXIT_PASSED, EXIT_UNJUDGED
from harness.runlog.folders import run_ids
from tests.agents.projects import AGENT, ECHO, Agents
from tests.end_to_end.harness_process import plain_server

FUNCTION = """
from mcp import Client

async def ask(prompt, mcp_url):
    print("not the answer")
    async with Client(mcp_url) as client:
        told = await client.call_tool("echo", {"n": 1})
    return {"answer": prompt + told.content[0].text, "input_tokens": 7, "output_tokens": 3}

def fail(prompt, mcp_url):
    raise ValueError("no key was given")

def number(prompt, mcp_url):
    return 7
"""

BY_PROCESS = """
import asyncio, json, sys
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(config, prompt):
    (entry,) = json.load(open(config))["mcpServers"].values()
    assert entry.pop("type") == "stdio"
    async with Client(stdio_client(StdioServerParameters(**entry))) as client:
        told = await client.call_tool("echo", {"n": 1})
    print(prompt, told.content[0].text)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_command_and_a_model_are_entrants_of_one_comparison(project: Agents) -> None:
    project.suite("t", [ECHO], server=plain_server())
    line = f"{sys.executable} {AGENT} use {{prompt}}"
    done = project.run("evals", "t", "--agent", line, "--model", "lexical")
    results = project.log().results
    assert [result.model for result in results] == ["lexical", "agent.py"]
    assert results[1].status == "passed", done.stderr
    assert "agent.py" in done.stdout
    assert "what it did without the server is not seen" in done.stderr + done.stdout


def test_without_a_placeholder_the_prompt_is_on_stdin(project: Agents) -> None:
    program = "import sys; sys.argv[1:] = ['use', sys.stdin.read()]; exec(open({0!r}).read())"
    command = [sys.executable, "-c", program.format(str(AGENT))]
    project.configure(agents={"ours": {"type": "command", "command": command}})
    project.suite("t", [ECHO], server=plain_server())
    done = project.run("evals", "t", "--agent", "ours")
    assert done.code == EXIT_PASSED, done.stderr
    assert project.only()[1].answer.startswith('Say something. {"n": 1}')


@pytest.mark.slow
def test_an_agent_that_only_starts_processes_reaches_the_server_by_its_file(
    project: Agents,
) -> None:
    (project.folder / "agent.py").write_text(BY_PROCESS)
    project.suite("t", [ECHO], server=plain_server())
    line = f"{sys.executable} agent.py {{mcp_config_stdio}} {{prompt}}"
    done = project.run("evals", "t", "--agent", line)
    assert done.code == EXIT_PASSED, done.stderr
    assert project.only()[1].answer == 'Say something. {"n": 1}'


@pytest.mark.slow
def test_files_of_the_folder_are_found_although_it_works_elsewhere(project: Agents) -> None:
    (project.folder / "agent.py").write_text(AGENT.read_text())
    project.suite("t", [ECHO], server=plain_server())
    done = project.run("evals", "t", "--agent", f"{sys.executable} agent.py use {{prompt}}")
    assert done.code == EXIT_PASSED, done.stderr
    facts = project.log().header.models["agent.py"]
    assert facts["command"][1:] == ["agent.py", "use", "{prompt}"]
    before = facts["program"]
    (project.folder / "agent.py").write_text(AGENT.read_text() + "# changed\n")
    project.run("evals", "t", "--agent", f"{sys.executable} agent.py use {{prompt}}")
    assert project.log().header.models["agent.py"]["program"] != before
    first, second = run_ids(project.folder / ".harness" / "runs")
    told = project.run("compare", first, second).stdout
    assert "model agent.py: program was" in told


def test_an_agent_is_shown_a_variant_and_recorded_in_the_servers_names(project: Agents) -> None:
    variant = {"shouted": {"tools": {"echo": {"name": "say_it_again"}, "deny": None}}}
    project.suite("t", [ECHO], server=plain_server(), variants=variant)
    program = f"{sys.executable} {AGENT} renamed {{prompt}}"
    done = project.run("evals", "t", "--agent", program, "--variant", "shouted")
    assert done.code == EXIT_PASSED, done.stderr
    result, transcript = project.only()
    assert (result.model, result.axes) == ("agent.py", {"variant": "shouted"})
    assert [call.tool for call in transcript.tool_calls] == ["echo"]
    assert "say_it_again" in transcript.answer
    assert "deny " not in transcript.answer
    requested = [
        one.tool
        for message in transcript.messages
        if message.role == "assistant"
        for one in message.reply.tool_requests
    ]
    assert requested == ["echo"]


def test_a_variant_that_cuts_results_is_refused_since_an_agent_cuts_them_itself(
    project: Agents,
) -> None:
    (project.folder / "cut.yml").write_text("variants:\n  cut: {max_result_tokens: 100}\n")
    finished = project.answered("answers", "--variant", "cut.yml:cut")
    assert finished.code == EXIT_INVALID
    assert "variant 'cut' has 'max_result_tokens', which is for models" in finished.stderr


def python(project: Agents, name: str) -> Any:
    (project.folder / "my_agents.py").write_text(FUNCTION)
    project.configure(agents={"ours": {"type": "python", "function": f"my_agents:{name}"}})
    project.suite("t", [ECHO], server=plain_server())
    return project.run("evals", "t", "--agent", "ours")


def test_a_python_function_answers_with_what_it_used(project: Agents) -> None:
    done = python(project, "ask")
    assert done.code == EXIT_PASSED, done.stderr
    result, transcript = project.only()
    assert transcript.answer == 'Say something.{"n": 1}'
    assert (result.usage.input_tokens, result.usage.output_tokens) == (7, 3)
    assert result.usage.cost_usd is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fail", "ValueError: no key was given"),
        ("number", "TypeError: the function returned int, not a text"),
        ("missing", "has no attribute 'missing'"),
    ],
)
def test_a_function_that_fails_is_an_error_of_the_agent(
    name: str, words: str, project: Agents
) -> None:
    assert python(project, name).code == EXIT_UNJUDGED
    result, _ = project.only()
    assert result.error is not None
    assert result.error.kind == "agent"
    assert words in result.error.message


def test_cases_that_it_cannot_run_are_refused_before_anything_is_started(
    project: Agents,
) -> None:
    turns = [{"prompt": "one"}, {"prompt": "two"}]
    user = {"scenario": "You want an echo.", "script": ["Hello?"]}
    done = project.answered(
        "use",
        tests=[
            {"name": "turns", "turns": turns, "assertions": ECHO["assertions"]},
            {"name": "talks", "user": user, "assertions": ECHO["assertions"]},
        ],
    )
    assert done.code == EXIT_INVALID
    assert "the agent ours cannot run all of these cases" in done.stderr
    assert "test 'turns': it has several turns" in done.stderr
    assert "test 'talks': it has a simulated user" in done.stderr
    assert not (project.folder / ".harness" / "runs").exists()


@pytest.mark.slow
def test_turns_that_are_all_fresh_need_no_memory(project: Agents) -> None:
    turns = [{"prompt": "one"}, {"prompt": "two", "fresh": True}]
    case = {"name": "turns", "turns": turns, "assertions": ECHO["assertions"]}
    assert project.answered("use", tests=[case]).code == EXIT_PASSED
    assert [call.reply for call in project.only()[1].tool_calls] == [1, 3]


def test_a_system_prompt_needs_a_place_in_the_command(project: Agents) -> None:
    project.suite("t", [ECHO], server=plain_server(), system_prompt="Be brief.")
    line = f"{sys.executable} {AGENT} use"
    done = project.run("evals", "t", "--agent", f"{line} {{prompt}}")
    assert done.code == EXIT_INVALID
    assert "write {system_prompt} into its command" in done.stderr
    done = project.run("evals", "t", "--agent", f"{line} '{{system_prompt}} {{prompt}}'")
    assert project.only()[1].answer.startswith("Be brief. Say something."), done.stderr


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("claude", "Write --agent claude-code"),
        ("codx", "Did you mean 'codex'?"),
        ("nobody --here", "there is no program 'nobody'"),
        ("'", "cannot be split"),
    ],
)
def test_an_agent_that_is_not_there_is_named_with_what_is_meant(
    typed: str, words: str, project: Agents
) -> None:
    project.suite("t", [ECHO], server=plain_server())
    done = project.run("evals", "t", "--agent", typed)
    assert done.code == EXIT_INVALID
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_is_not_installed_is_named_with_the_command_that_installs_it(
    project: Agents,
) -> None:
    project.suite("t", [ECHO], server=plain_server())
    done = project.run("evals", "t", "--agent", "codex", PATH=str(project.folder))
    assert done.code == EXIT_INVALID
    assert "there is no program 'codex'" in done.stderr
    assert "Install it: npm install -g @openai/codex" in done.stderr


def test_a_secret_that_an_agent_is_given_never_reaches_the_log(project: Agents) -> None:
    secret = "zz-secret-of-the-agent-4711"
    show = {"type": "command", "env": {"MY_API_KEY": "${AGENT_KEY}"}}
    command = [sys.executable, str(AGENT), "look_around", "{prompt}"]
    project.configure(agents={"ours": {**show, "command": command}})
    project.suite("t", [{**ECHO, "assertions": {"must_not_call": ["deny"]}}], server=plain_server())
    project.env["AGENT_KEY"] = secret
    done = project.run("evals", "t", "--agent", "ours", "--debug")
    assert secret not in done.stdout + done.stderr + project.log().path.read_text()
    seen = json.loads(project.only()[1].answer)
    assert seen["env"]["MY_API_KEY"] == "[redacted]"
