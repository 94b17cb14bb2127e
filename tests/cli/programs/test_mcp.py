"""``harness mcp``, met over stdio as coding agents meet it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from harness.cli.mcp_tools import TOOLS, CommandTool, quote_sql
from harness.cli.programs import mcp as command_module
from harness.cli.programs.mcp import SKILL, command, run_command
from tests.end_to_end.harness_process import Project, plain_server
from tests.reports.sample_logs import an_ordinary_log
from tests.sessions.servers import all_gone

pytestmark = pytest.mark.slow

HOSTILE = "--trust"


@asynccontextmanager
async def connect(folder: Path, *options: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "harness.cli", "mcp", *options],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
    )
    with anyio.fail_after(120):
        async with Client(stdio_client(server)) as client:
            yield client


async def ask(client: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    answer = await client.call_tool(tool, arguments)
    (block,) = answer.content
    return bool(answer.is_error), block.text  # type: ignore[union-attr]


def in_folder(folder: Path, *options: str, **calls: Any) -> dict[str, tuple[bool, str]]:
    """Return the answers to ``calls`` (tool=arguments)."""

    async def run() -> dict[str, tuple[bool, str]]:
        async with connect(folder, *options) as client:
            return {tool: await ask(client, tool, **given) for tool, given in calls.items()}

    return anyio.run(run)


def test_without_allow_run_no_tool_starts_anything(tmp_path: Path) -> None:
    async def run() -> tuple[set[str], tuple[bool, str]]:
        async with connect(tmp_path) as client:
            offered = (await client.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in offered)
            return {tool.name for tool in offered}, await ask(client, "run_suite", suite="memory")

    names, (failed, text) = anyio.run(run)
    assert names == {name for name, tool in TOOLS.items() if not tool.starts}
    assert failed
    assert "--allow-run" in text
    assert not (tmp_path / ".harness").exists()


def test_a_failure_is_found_and_explained(tmp_path: Path) -> None:
    log = str(an_ordinary_log(tmp_path).path)
    found = in_folder(tmp_path, list_failures={"run": log})["list_failures"]
    assert not found[0], found[1]
    rows = json.loads(found[1])["result"]["rows"]
    failed = next(row for row in rows if row["status"] == "failed")
    assert failed["problem"]
    chosen = {key: failed[key] for key in ("case", "suite", "model", "trial")}
    failed_call, text = in_folder(tmp_path, explain_failure={"run": log, **chosen})[
        "explain_failure"
    ]
    assert not failed_call, text
    (row,) = json.loads(text)["result"]["rows"]
    assert any(check["verdict"] == "failed" for check in json.loads(row["checks"]))


def test_a_suite_is_run_and_its_cases_are_drafted_without_writing_a_file(tmp_path: Path) -> None:
    project = Project(tmp_path)
    case = {"name": "a", "prompt": "Echo 'x'", "assertions": {"must_call": ["echo"]}}
    project.suite("shop", [case], server=plain_server())
    before = sorted((tmp_path / "evals").iterdir())
    answers = in_folder(
        tmp_path,
        "--allow-run",
        run_suite={"suite": "shop", "models": ["lexical"]},
        draft_cases={"run": "latest"},
        list_suites={},
    )
    failed, text = answers["run_suite"]
    assert not failed, text
    assert json.loads(text)["result"]["summary"]["planned"] == 1
    failed, text = answers["draft_cases"]
    assert not failed, text
    assert yaml.safe_load(text.partition("Left out:")[0])["tests"]
    assert sorted((tmp_path / "evals").iterdir()) == before
    assert json.loads(answers["list_suites"][1])["result"]["cases"][0]["case"] == "a"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("list_failures", {}),
        ("list_failures", {"run": 5}),
        ("list_runs", {"limit": 0}),
        ("list_runs", {"trust": True}),
        ("query_run", {"run": "latest", "sql": "DELETE FROM trials"}),
        ("query_run", {"run": "latest", "sql": "@/etc/passwd"}),
        ("list_failures", {"run": "no such run"}),
        ("compare_runs", {"before": HOSTILE, "after": "--report=html:x.html"}),
    ],
)
def test_what_cannot_be_done_is_an_error_in_words(
    tmp_path: Path, tool: str, given: dict[str, Any]
) -> None:
    an_ordinary_log(tmp_path / ".harness" / "runs" / "20260101T000000Z-s-abcdef")
    before = sorted(tmp_path.rglob("*"))
    failed, text = in_folder(tmp_path, **{tool: given})[tool]
    assert failed
    assert text
    assert "Traceback" not in text
    assert "root:" not in text
    assert {path.suffix for path in set(tmp_path.rglob("*")) - set(before)} <= {".sqlite", ""}


def fill(tool: CommandTool) -> dict[str, Any]:
    """Return arguments of which every text is an option."""
    made: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        match schema["type"]:
            case "string":
                made[name] = HOSTILE
            case "array":
                made[name] = [HOSTILE]
            case _:
                made[name] = schema.get("maximum", 1)
    return made


@pytest.mark.parametrize("name", TOOLS)
def test_no_text_of_an_agent_is_taken_for_an_option(name: str) -> None:
    arguments = TOOLS[name].build_arguments(fill(TOOLS[name]))
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    assert HOSTILE not in before
    assert TOOLS[name].description.endswith(".")


def test_a_quote_in_a_name_ends_no_literal() -> None:
    assert quote_sql("a' OR '1'='1") == "'a'' OR ''1''=''1'"


def test_a_call_that_takes_too_long_is_ended_with_its_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    mark = tmp_path / "pid"
    server = tmp_path / "server.py"
    server.write_text(
        f"import os, pathlib, time\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    case = {"name": "a", "prompt": "b", "assertions": {"must_call": ["echo"]}}
    project.suite(
        "shop",
        [case],
        server={"command": sys.executable, "args": [str(server)], "start_timeout": 300},
    )
    monkeypatch.chdir(tmp_path)

    failed, text = anyio.run(run_command, ["evals", "--model=lexical", "--", "shop"], 20.0)
    assert failed
    assert "Ended after 20 s (--timeout)" in text
    assert mark.exists()
    assert all_gone(str(server))


def test_an_answer_is_cut_where_it_would_fill_a_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "MAX_ANSWER", 100)
    failed, text = anyio.run(run_command, ["query", "--schema"], 60.0)
    assert not failed
    assert len(text) < 250
    assert "[cut: at least " in text


def test_the_skill_names_only_tools_and_commands_that_exist() -> None:
    text = CliRunner().invoke(command, ["--skill"]).stdout
    assert text == SKILL.read_text("utf-8")
    _, head, body = text.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert facts["name"] == "harness"
    assert 0 < len(facts["description"]) <= 1024
    words = {word.strip("`.,:") for word in body.split() if word.startswith("`") and "_" in word}
    assert words - {"SUITE"} <= set(TOOLS)


def test_its_own_descriptions_have_no_finding(tmp_path: Path) -> None:
    done = Project(tmp_path).run(
        *("lint", "--fail-on", "warning", "--server"),
        f"{sys.executable} -m harness.cli mcp --allow-run",
    )
    assert done.code == 0, done.stdout
