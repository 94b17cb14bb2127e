"""``harness models``: the agents that ``--agent`` may name."""

from __future__ import annotations

import json
import sys

from harness.judging.exit_codes import EXIT_INVALID, EXIT_PASSED
from tests.agents.projects import ECHO, Agents

AGENTS = {
    "mine": {
        "type": "command",
        "command": [sys.executable, "agent.py", "--key", "${MY_KEY}"],
        "env": {"MY_OTHER": "${MY_KEY}"},
    },
    "claude": {"type": "claude-code", "command": "no-such-claude", "tools": ["WebSearch"]},
    "broken": {"type": "acp", "command": "opencode acp", "files": "nowhere"},
}


def test_agents_are_listed_with_their_settings_and_never_with_a_secret(project: Agents) -> None:
    project.configure(agents=AGENTS)
    done = project.run("models", MY_KEY="sk-very-secret-key")
    assert done.code == EXIT_PASSED, done.stderr
    for words in (
        f"mine\n    command: {sys.executable}  [harness.yml:",
        "variables: MY_OTHER",
        "tools of its own: WebSearch",
        "! there is no program 'no-such-claude'. Install it: npm install -g @anthropic-ai/",
        "there is no folder 'nowhere'",
        "codex\n    codex: codex  (needs no configuration)",
    ):
        assert words in done.stdout
    as_json = project.run("models", "--json-output", MY_KEY="sk-very-secret-key")
    listed = {one["name"]: one for one in json.loads(as_json.stdout)["agents"]}
    assert set(listed) == {"claude-code", "codex", *AGENTS}
    assert (listed["mine"]["type"], listed["mine"]["found"]) == ("command", True)
    assert not listed["claude"]["found"]
    assert "no-such-claude" in listed["claude"]["error"]
    assert "very-secret" not in done.stdout + done.stderr + as_json.stdout


def test_an_agent_that_nobody_knows_is_told_where_they_are_listed(project: Agents) -> None:
    project.suite("t", [ECHO])
    done = project.run("evals", "t", "--agent", "no-such-agent")
    assert done.code == EXIT_INVALID
    assert "'harness models' lists them all" in done.stderr
