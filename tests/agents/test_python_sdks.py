"""The functions of the page on agents, as they stand there, with the SDKs that they are for."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.judging.exit_codes import EXIT_PASSED
from tests.agents.projects import ECHO, Agents
from tests.end_to_end.harness_process import plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, say, usage

ROOT = Path(__file__).parents[2]
VENVS = Path(os.environ.get("HARNESS_STRANGER_VENVS", ROOT / "tests" / "strangers" / ".venvs"))
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
INSTALLED = {
    "openai-agents": ("my_agents", "openai-agents==0.24.0"),
    "pydantic-ai": ("my_pydantic_agent", "'pydantic-ai-slim[mcp,openai]==2.68.0'"),
    "claude-agent-sdk": ("my_claude_agent", "claude-agent-sdk==0.2.187"),
}
"""Folder of the environment → module on the page, what is installed there."""


def example(module: str) -> str:
    """Return that file of the page, or beside it."""
    beside = ROOT / "docs" / "examples" / "agents" / f"{module}.py"
    if beside.exists():
        return beside.read_text("utf-8")
    found = re.search(rf"```python\n(# {module}\.py\n.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def looking(request: Incoming) -> Step:
    """Call the server's tool, then answer."""
    if request.turn:
        return usage(say("It said 7."), input=100, output=10, cache_read=0, cache_write=0)
    tool = next((name for name in request.tool_names if name.endswith("echo")), None)
    step = say("No tools.") if tool is None else call(tool, {"n": 7})
    return usage(step, input=100, output=10, cache_read=0, cache_write=0)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", INSTALLED)
def test_the_example_of_the_page_answers_a_suite(name: str, project: Agents) -> None:
    module, requirement = INSTALLED[name]
    python = VENVS / name / "bin" / "python"
    if shutil.which(python) is None:
        pytest.skip(
            f"needs: python3 -m venv {VENVS / name} && {python} -m pip install {requirement}"
        )
    (project.folder / f"{module}.py").write_text(example(module), "utf-8")
    project.suite("t", [ECHO], server=plain_server())
    with FakeProvider(looking) as provider:
        env: dict[str, Any] = {
            "OPENAI_API_KEY": "test-key",
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "ANTHROPIC_MODEL": "claude-sonnet-4-6",
            "ANTHROPIC_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": provider.url,
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
        entry = {
            "type": "python",
            "function": f"{module}:ask",
            "command": [str(python)],
            "env": env,
        }
        project.configure(agents={"ours": entry})
        done = project.run("evals", "t", "--agent", "ours", "--timeout", "120000")
    assert done.code == EXIT_PASSED, done.stdout + done.stderr
    result, transcript = project.only()
    assert [(one.tool, one.arguments, one.outcome) for one in transcript.tool_calls] == [
        ("echo", {"n": 7}, "ok")
    ]
    assert transcript.answer == "It said 7."
    if name != "claude-agent-sdk":
        assert (result.usage.input_tokens, result.usage.output_tokens) == (200, 20)
