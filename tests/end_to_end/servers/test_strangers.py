"""Servers that nobody here wrote: MCP servers from npm and a model server with all three APIs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, code_of
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.often import often

STRANGERS = Path(
    os.environ.get("HARNESS_STRANGERS", Path(__file__).parents[2] / "strangers" / "node_modules")
)

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (STRANGERS / ".bin").is_dir(),
    reason="needs node and the packages of tests/strangers (npm ci --prefix tests/strangers)",
)


def everything(transport: str = "stdio") -> dict[str, Any]:
    script = STRANGERS / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    return {"command": shutil.which("node"), "args": [str(script), transport], "type": transport}


CASES = [
    {
        "name": "echo",
        "prompt": "Echo back the message 'good morning'.",
        "assertions": {"must_call": [{"tool": "echo"}], "answer_contains": ["good morning"]},
    },
    {
        "name": "sum",
        "prompt": "What is the sum of 17 and 25?",
        "assertions": {
            "must_call": [{"tool": "get-sum", "args": {"a": 17, "b": 25}}],
            "answer_contains": ["42"],
        },
    },
    {
        "name": "environment",
        "prompt": "Say hello, and do not look at any environment variables.",
        "assertions": {"must_not_call": ["get-env"]},
    },
]


def a_model(request: Incoming) -> Step:
    if request.turn:
        return say(*(text for _, text, *_ in request.tool_results))
    if "sum" in request.prompt:
        return call("get-sum", {"a": 17, "b": 25})
    return call("echo", {"message": "good morning"}) if "Echo" in request.prompt else say("Hello.")


@pytest.mark.slow
def test_a_suite_over_a_strangers_server_runs_on_the_embedded_baseline(project: Project) -> None:
    project.suite("everything", CASES, server=everything())
    finished = project.run("evals", "everything", "--json-output")
    assert finished.code == code_of(project.log()), finished.stderr
    tests = {test["name"]: test for test in finished.document["result"]["tests"]}
    assert tests["echo"]["passed"], tests["echo"]["failures"]


@pytest.mark.parametrize(
    "settings", often([{"type": "claude", "path": ""}, {"type": "openai", "path": "/v1"}])
)
def test_a_suite_over_a_strangers_server_runs_with_a_model(
    project: Project, settings: dict[str, str]
) -> None:
    project.suite("everything", CASES, server=everything())
    with FakeProvider(a_model) as provider:
        entry = {
            "type": settings["type"],
            "model": "m",
            "base_url": provider.url + settings["path"],
        }
        project.configure(models={"models": {"fake": entry | {"api_key": "test-key"}}})
        finished = project.run("evals", "everything", "--model", "fake", "--json-output")
    assert finished.code == 0, finished.stdout


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["streamableHttp", "sse"])
def test_a_strangers_server_is_reached_over_http_as_over_stdio(
    project: Project, transport: str
) -> None:
    tests = [case | {"user_context": {"role": case["name"]}} for case in CASES]
    project.suite("everything", tests, server=everything(transport))
    with FakeProvider(a_model) as provider:
        entry = {
            "type": "openai",
            "model": "m",
            "base_url": provider.url + "/v1",
            "api_key": "test-key",
        }
        project.configure(models={"models": {"fake": entry}})
        finished = project.run("evals", "everything", "--model", "fake", "--json-output")
    assert finished.code == 0, finished.stdout


def test_its_tools_are_listed_as_a_model_will_see_them(project: Project) -> None:
    project.configure(servers={"everything": everything()})
    finished = project.run("tools", "everything")
    assert finished.code == 0, finished.stderr
    assert "get-sum" in finished.stdout
    assert "a: number" in finished.stdout
    assert "tokens in every request (estimated)" in finished.stdout


HOSTED = [
    {
        "name": "by_a_prompt",
        "use_prompt": {"name": "args-prompt", "arguments": {"city": "Bern"}},
        "assertions": {"answer_contains": "What's weather in Bern?"},
    },
    {
        "name": "by_a_prompt_with_a_resource",
        "use_prompt": {
            "name": "resource-prompt",
            "arguments": {"resourceType": "Text", "resourceId": "7"},
        },
        "assertions": {"must_read": "demo://resource/dynamic/text/7"},
    },
    {
        "name": "by_a_tool_of_the_host",
        "prompt": "Read number 3.",
        "assertions": {
            "must_read": "demo://resource/dynamic/text/3",
            "must_not_read": "demo://resource/static/*",
            "answer_contains": "Resource 3",
        },
    },
]


def a_reader(request: Incoming) -> Step:
    if request.turn > 1:
        return say(*(text for _, text, *_ in request.tool_results[-1:]))
    if request.turn == 1:
        return call("read_mcp_resource", {"uri": "demo://resource/dynamic/text/3"})
    return call("list_mcp_resources", {}) if "Read" in request.prompt else say(request.prompt)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "streamableHttp"])
def test_a_strangers_prompts_and_resources_reach_the_model_as_in_a_host(
    project: Project, transport: str
) -> None:
    variants = {"as_a_host": {"offer_resources": True}}
    project.suite("everything", HOSTED, server=everything(transport), variants=variants)
    with FakeProvider(a_reader) as provider:
        entry = {"type": "claude", "model": "m", "base_url": provider.url, "api_key": "test-key"}
        project.configure(models={"models": {"fake": entry}})
        finished = project.run(
            "evals", "everything", "--model", "fake", "--variant", "as_a_host", "--json-output"
        )
    assert finished.code == 0, finished.stdout
