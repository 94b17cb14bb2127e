"""A remote MCP server that takes only so much has one limit, however many workers ask it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.end_to_end.engines.test_on_ray import calls_echo, set_up
from tests.end_to_end.harness_process import Project
from tests.fake_provider import FakeProvider
from tests.sessions.busy_server import TurnedAway, after, busy

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="/proc")]

ENGINES = ("process", "ray")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, {"PYTHONUNBUFFERED": "1", "KEY": "test-key"})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pause_that_a_server_asks_for_holds_for_all_workers(
    project: Project, engine: str
) -> None:
    away = TurnedAway(headers={"retry-after": "3"})
    with FakeProvider(calls_echo) as provider, busy(after(1, away), works_s=0.5) as server:
        set_up(project, provider, 8, {"url": server.url, "protocol": "legacy"})
        finished = project.run("evals", "shop", "--engine", engine, "-c", "4", "--json-output")
    assert finished.code == 0, finished.stderr
    assert ("2 workers" in finished.stderr) == (engine == "ray")
    first, *others = server.calls()
    assert first.turned_away
    # Calls that other trials had begun may still come; then nothing for as long as was asked for.
    later = [one for one in others if one.at_s > first.at_s + 2]
    assert len(later) >= 5
    assert all(one.at_s >= first.at_s + 3 for one in later)
    assert later[0].beside == 1  # the limit was halved, for all


@pytest.mark.parametrize("engine", ENGINES)
def test_a_configured_number_of_calls_is_that_of_all_workers(project: Project, engine: str) -> None:
    never = after(0, TurnedAway())
    with FakeProvider(calls_echo) as provider, busy(never, works_s=0.2) as server:
        set_up(project, provider, 8, {"url": server.url, "protocol": "legacy", "concurrency": 1})
        finished = project.run("evals", "shop", "--engine", engine, "-c", "4", "--json-output")
    assert finished.code == 0, finished.stderr
    assert len(server.calls()) == 8
    assert {one.beside for one in server.calls()} == {1}
