"""A suite against several servers at once, and servers from the configuration of an MCP client."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.end_to_end.harness_process import PLAIN_SERVER, Finished, Project, plain_server
from tests.end_to_end.servers.test_end_state import SERVER
from tests.end_to_end.warm import warm_python
from tests.fake_provider import FakeProvider, Incoming, Step, calls, say
from tests.often import often


def both(request: Incoming) -> Step:
    """Call the tool that both servers have on each, and one that only the second has."""
    if request.turn:
        return say("Done.")
    return calls(("left__echo", {"n": 1}), ("right__echo", {"n": 2}), ("get_order", {"id": 7}))


def run(project: Project, names: list[str], *options: str, **servers: Any) -> Finished:
    project.env["KEY"] = "test-key"
    with FakeProvider(both) as provider:
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${KEY}",
        }
        project.configure(models={"models": {"fake": model}}, servers=servers)
        order = {
            "tool": "get_order",
            "allow_absent": True,
        }  # in one of the tests, the third server has no orders
        wanted = [
            {"tool": "left__echo", "args": {"n": 1}},
            {"tool": "right__echo", "args": {"n": 2}},
            order,
        ]
        test = {
            "name": "both",
            "prompt": "Go.",
            "assertions": {"must_call": wanted, "no_tool_errors": True},
        }
        project.suite("several", [test, {**test, "name": "again"}], server=names, model="fake")
        return project.run("evals", "several", "--json-output", *options)


def test_each_call_goes_to_the_server_whose_tool_it_is_and_shared_names_are_told_apart(
    project: Project,
) -> None:
    plain = plain_server(protocol="legacy")
    orders = {"command": warm_python(), "args": [SERVER]}
    finished = run(project, ["left", "right", "orders"], left=plain, right=plain, orders=orders)
    assert finished.code == 0, finished.stdout + finished.stderr
    offered = next(iter(project.log().tools.values()))
    names = [tool.name for tool in offered.tools]
    assert {"left__echo", "right__echo", "get_order", "cancel_order"} <= set(names)
    assert "echo" not in names
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_more_users_than_processes_fit_wait_for_each_other_and_all_come_through(
    project: Project,
) -> None:
    plain = plain_server(protocol="legacy", isolation="case")
    third = {"command": sys.executable, "args": [str(PLAIN_SERVER), "good"], "protocol": "legacy"}
    names, often = ["left", "right", "orders"], ("--concurrency", "20", "--trials", "6")
    finished = run(project, names, *often, left=plain, right=plain, orders=third)
    assert finished.document["result"]["summary"]["error"] == 0, finished.stdout[:2000]


@pytest.mark.parametrize("named", often([True, False]))
def test_a_suite_runs_on_a_server_from_a_clients_configuration(
    project: Project, *, named: bool
) -> None:
    python = sys.executable if named else warm_python()
    server = {"command": python, "args": ["${HERE}/stateful_server.py"]}
    others = {"other": {"command": "nobody"}} if named else {}
    (project.folder / ".mcp.json").write_text(
        json.dumps({"mcpServers": {**others, "orders": server}})
    )
    project.env["HERE"] = SERVER.rpartition("/")[0]
    options = ("--server", "orders") if named else ()
    tools = project.run("tools", "--mcp-config", ".mcp.json", *options)
    assert tools.code == 0, tools.stderr
    assert "cancel_order" in tools.stdout
