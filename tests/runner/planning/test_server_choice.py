"""Which server a run is on, from the project's files to the header of its log."""

from pathlib import Path

import pytest

from harness.cli.caller_options import find_server
from harness.judging import VOCABULARY
from harness.runner.launcher import build_header
from harness.runner.planning.prepare import prepare_plan
from harness.runner.planning.request import RunOptions, RunRequest
from harness.suites import find_suites, load_config

SUITE = "suite: {name}\ntests:\n  - {{name: a, prompt: q, assertions: {{answer_contains: [x]}}}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with two suites that name no server, one called like a built-in server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "evals").mkdir()
    for name in ("hr", "orders"):
        (tmp_path / "evals" / f"{name}.yml").write_text(SUITE.format(name=name))
    (tmp_path / "harness.yml").write_text("servers: {mine: {command: python, args: [mine.py]}}\n")
    return tmp_path


def test_the_log_names_the_only_configured_server_for_every_suite_that_names_none(
    project: Path,
) -> None:
    plan = prepare_plan(RunRequest(), project, {}).plan
    header = build_header(plan, "r", RunOptions())
    assert {name: facts["servers"] for name, facts in header.suites.items()} == {
        "hr": ["mine"],
        "orders": ["mine"],
    }
    assert list(header.servers) == ["mine"]
    assert "built_in" not in header.servers["mine"]


def test_a_built_in_suite_runs_on_its_own_server_and_the_log_says_that_it_is_built_in(
    project: Path,
) -> None:
    plan = prepare_plan(RunRequest(suites=("finance", "data_governance")), project, {}).plan
    header = build_header(plan, "r", RunOptions())
    assert {name: facts["built_in"] for name, facts in header.servers.items()} == {
        "finance": True,
        "data_governance": True,
    }


def test_suites_that_all_run_on_the_only_server_share_it_for_a_probe(project: Path) -> None:
    suites = find_suites((), [project / "evals"], VOCABULARY)
    assert len(suites) == 2
    assert find_server(suites, (), load_config(project, {})).name == "mine"


@pytest.mark.parametrize(
    ("of_suite", "of_probe"), [("none", "identity"), ("case", "case"), ("identity", "identity")]
)
def test_a_suite_whose_users_share_a_process_does_not_say_that_the_server_can_run_only_once(
    project: Path, of_suite: str, of_probe: str
) -> None:
    suite = project / "evals" / "hr.yml"
    suite.write_text(f"isolation: {of_suite}\n{suite.read_text()}")
    suites = find_suites(("hr",), [project / "evals"], VOCABULARY)
    assert find_server(suites, (), load_config(project, {})).isolation == of_probe
    plan = prepare_plan(RunRequest(suites=("hr",)), project, {}).plan
    assert {server.isolation for server in plan.servers} == {of_suite}
