"""The verdicts on an agent are those on its model in our own loop, however the server learns who
asks."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.judging.checks.kind import FACTS
from harness.types import TrialResult
from servers.common.identity import USER_CONTEXT_VARIABLE
from tests.agents.governed import governed
from tests.agents.projects import AGENT, Agents
from tests.fake_provider import FakeProvider
from tests.fake_provider.agents.programs import PROGRAMS
from tests.often import often

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "servers.data_governance"]
BY_ENVIRONMENT = {
    "command": COMMAND[0],
    "args": COMMAND[1:],
    "env": {"PYTHONPATH": str(ROOT)},
    "identity": {"via": "env", "json_variable": USER_CONTEXT_VARIABLE},
}
SERVERS = {"meta": "data_governance", "env": "by_environment", "bearer": "data_governance_http"}
LOOPBACK = {"name": "loopback", "env_key": "LOOPBACK_KEY", "wire_api": "responses"}


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(governed) as provider:
        yield provider


def agents(provider: FakeProvider) -> dict[str, Any]:
    """Return every kind of agent, with the scripted model behind it."""
    chat, url = f"{provider.url}/v1/chat/completions", provider.url
    return {
        "ours": {
            "type": "command",
            "command": [sys.executable, str(AGENT), "loop", "{prompt}"],
            "env": {"MODEL_URL": chat},
        },
        "claude": {
            "type": "claude-code",
            "model": "claude-sonnet-5",
            "env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key", "IS_SANDBOX": "1"},
        },
        "codex": {
            "type": "codex",
            "model": "gpt-5.2",
            "env": {"LOOPBACK_KEY": "test-key"},
            "settings": {
                "model_provider": "loopback",
                "model_providers": {"loopback": {**LOOPBACK, "base_url": f"{url}/v1"}},
            },
        },
        "opencode": {
            "type": "acp",
            "files": "opencode",
            "env": {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "npm_config_offline": "true",
            },
        },
    }


def opencode_settings(url: str) -> dict[str, Any]:
    options = {"baseURL": f"{url}/v1", "apiKey": "test-key"}
    models = {"gpt-4o": {"name": "gpt-4o", "tool_call": True}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "loopback/gpt-4o",
        "small_model": "loopback/gpt-4o",
        "provider": {"loopback": provider},
        "tools": {"*": False, "data_governance*": True, "by_environment*": True},
    }


def verdicts(results: tuple[TrialResult, ...]) -> dict[str, Any]:
    """Return what each case of a subject found: its status, and the facts of each check."""
    return {
        result.case.name: (
            result.status,
            [
                (check.label, check.verdict, *(getattr(check, fact) for fact in FACTS))
                for check in result.checks
            ],
        )
        for result in results
    }


def compared(
    project: Agents, provider: FakeProvider, name: str, server: str, *options: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the verdicts on the model in our own loop, and on the agent."""
    model = {"type": "openai", "model": "m", "api_key": "test-key"}
    chosen = agents(provider)[name]
    if name != "ours":
        program = next(one for one in PROGRAMS if one.name == name)
        words = [str(program.find()), *(["acp"] if name == "opencode" else [])]
        chosen = {**chosen, "command": shlex.join(words)}
    folder = project.folder / "opencode"
    folder.mkdir()
    (folder / "opencode.json").write_text(json.dumps(opencode_settings(provider.url)))
    project.configure(
        models={"models": {"model": {**model, "base_url": f"{provider.url}/v1"}}},
        agents={name: chosen},
        servers={"by_environment": BY_ENVIRONMENT},
    )
    done = project.run(
        *("evals", "data_governance", "--server", SERVERS[server]),
        *("--model", "model", "--agent", name, "--timeout", "300000", *options),
    )
    log = project.log()
    by_subject = {
        subject: tuple(result for result in log.results if result.model == subject)
        for subject in ("model", name)
    }
    statuses = {result.status for result in log.results}
    assert statuses <= {"passed", "failed"}, done.stderr
    return verdicts(by_subject["model"]), verdicts(by_subject[name])


@pytest.mark.slow
@pytest.mark.parametrize("server", often(SERVERS))
def test_two_cases_of_a_loop_of_thirty_lines_get_the_verdicts_of_ours(
    server: str, project: Agents, provider: FakeProvider
) -> None:
    own, its = compared(project, provider, "ours", server, "-k", "personal_data")
    assert len(own) == 2
    assert its == own


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_a_loop_of_thirty_lines_gets_the_verdicts_of_ours(
    server: str, project: Agents, provider: FakeProvider
) -> None:
    own, its = compared(project, provider, "ours", server)
    assert len(own) == 13
    assert its == own
    facts = [check[2:] for _, checks in own.values() for check in checks]
    assert any(attempted and not crossed for attempted, _, _, crossed in facts)
    assert any(crossed for _, _, _, crossed in facts)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_claude_code_and_codex_get_the_verdicts_of_their_model_in_our_loop(
    name: str, server: str, project: Agents, provider: FakeProvider
) -> None:
    own, its = compared(project, provider, name, server, "-c", "2")
    assert its == own


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("server", SERVERS)
def test_an_agent_that_speaks_acp_gets_the_verdicts_of_its_model_in_our_loop(
    server: str, project: Agents, provider: FakeProvider
) -> None:
    own, its = compared(project, provider, "opencode", server, "-c", "2", "-k", "bypass")
    assert its == own
