"""Runs under faults: what they record, that they repeat, and that the clean arm is unchanged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.reports import build_report
from harness.reports.formats.html_report.detail import case_detail
from tests.end_to_end.harness_process import Project

pytestmark = pytest.mark.slow
SHOP = {
    "command": sys.executable,
    "args": [str(Path(__file__).with_name("shop_server.py"))],
}
TESTS: list[dict[str, Any]] = [
    {
        "name": name,
        "prompt": prompt,
        "assertions": {"must_call": [{"tool": tool}], "must_succeed": tool},
    }
    for name, prompt, tool in (
        ("total", "What is the total of order A1?", "get_order"),
        ("search", "Search the orders of customer C1.", "search_orders"),
        ("book", "Book room 12.", "book_room"),
    )
]
_TIMES = {
    *("started_s", "duration_s", "waited_s", "latency_s", "started_at", "finished_at"),
    *("elapsed_s", "asked_s", "answered_s", "said_s", "run_id", "wire", "settings"),
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.suite("shop", TESTS, server=SHOP, allow_writes=True)
    return project


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in _TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def log_lines(project: Project) -> list[str]:
    """Return the trials in the log, without times, in an order of their own."""
    lines = map(json.loads, project.log().path.read_text("utf-8").splitlines())
    return sorted(json.dumps(without_times(line)) for line in lines if line["kind"] == "trial")


def digests(project: Project) -> dict[tuple[str, str | None], str | None]:
    found = project.log().results
    return {(one.case.name, one.axes.get("fault")): one.events_digest for one in found}


def test_equal_runs_have_equal_faults_at_any_concurrency_in_shards_and_after_resume(
    project: Project,
) -> None:
    asked = ("evals", "shop", "--faults", "standard", "--fault", "*@0.5/7: error")
    project.run(*asked, "-c", "1")
    alone = log_lines(project)
    assert len(alone) == 3 * 15 - 3 + 3  # clean, 13 standard kinds (stale needs two calls), a rate
    project.run(*asked, "-c", "50")
    assert log_lines(project) == alone

    path = project.log().path
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]), "utf-8")
    project.run("evals", "--resume")
    assert log_lines(project) == alone

    parts = []
    for part in ("1/2", "2/2"):
        project.run(*asked, "--shard", part)
        parts.append(project.log().header.run_id)
    project.run("merge", *parts)
    assert log_lines(project) == alone


def test_workers_of_ray_meet_the_same_faults(project: Project) -> None:
    pytest.importorskip("ray")
    # Ray starts programs of its own, so this is no fork of a warm process.
    alone = Project(project.folder, {"PYTHONUNBUFFERED": "1"})
    asked = ("evals", "shop", "-k", "total", "--faults", "standard", "--fault", "*@0.5/7: error")
    alone.run(*asked, "-c", "1")
    before = digests(alone)
    done = alone.run(*asked, "--engine", "ray", "-c", "2")
    assert done.code == 1, done.stderr  # what a fault spoils fails
    assert digests(alone) == before


def test_a_replay_meets_the_same_faults(project: Project) -> None:
    project.run("evals", "shop", "--faults", "standard")
    before = digests(project)
    project.run("evals", "shop", "--faults", "standard", "-m", "replay:latest")
    assert digests(project) == before


def test_the_clean_arm_equals_a_run_without_faults(project: Project) -> None:
    project.run("evals", "shop", "--faults", "none")
    without = {one.key: (one.status, one.events_digest) for one in project.log().results}
    project.run("evals", "shop", "--faults", "standard")
    clean = {
        one.key: (one.status, one.events_digest)
        for one in project.log().results
        if "fault" not in one.axes
    }
    assert clean == without


def test_a_fault_is_neither_the_servers_error_nor_the_models_failure(project: Project) -> None:
    done = project.run("evals", "shop", "-k", "search", "--fault", "search_orders#1: lost_answer")
    (clean, hit) = project.log().results
    assert hit.axes == {"fault": "search_orders#1:lost_answer"}
    assert dict(hit.outcomes or {}) == dict(clean.outcomes or {})
    assert hit.status == clean.status == "passed"
    assert done.code == 0


def test_every_output_tells_what_the_server_did_and_what_the_model_saw(
    project: Project, tmp_path: Path
) -> None:
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "jsonl", "csv")}
    asked = {**TESTS[0], "assertions": {"answer_contains": ["nowhere"]}}
    project.suite("shop", [asked], server=SHOP)
    project.run(
        *("evals", "shop", "--fault", "get_order#1: wrong"),
        *("--fault", "book_room: empty"),
        *(f"--report={file}" for file in files.values()),
    )
    said = {kind: file.read_text("utf-8") for kind, file in files.items()}
    assert '"wrong": 1' in json.dumps(json.loads(said["json"]))
    rows = [json.loads(line)["metadata"]["harness"] for line in said["jsonl"].splitlines()]
    assert {row["fault"]: row["fault_hits"] for row in rows} == {
        None: None,
        "get_order#1:wrong": {"wrong": 1},
        "book_room:empty": {},
    }
    # The file packs what it shows of a case.
    log = project.log()
    html = json.dumps([case_detail(case, log) for case in build_report(log).cases], default=str)
    assert "fault get_order#1: wrong: the model saw a result" in html
    assert "The fault did not fire" in html
    shown = "select c.text, c.shown from calls c where c.fault = 'get_order#1: wrong'"
    (row,) = project.run("query", "latest", shown, "--json-output").document["result"]["rows"]
    assert json.loads(row["text"])["total"] == 129.9
    assert json.loads(row["shown"])["total"] != 129.9
