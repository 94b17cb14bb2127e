"""One damaged line of a log: every command names it, and it costs one trial."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project, plain_server
from tests.reports.packs import all_of

SERVER = plain_server(protocol="legacy")


def a_run(project: Project) -> Path:
    tests = [
        {
            "name": f"case_{number}",
            "prompt": f"Echo n={number}.",
            "assertions": {"must_not_call": ["crash"]},
        }
        for number in range(3)
    ]
    project.suite("shop", tests, server=SERVER)
    project.configure()
    assert project.run("evals", "shop", "--model", "lexical").code == 0
    return project.log().path


def damage(path: Path) -> str:
    """Cut the line of case_1 in half and return how messages name it."""
    lines = path.read_bytes().splitlines(keepends=True)
    start = b'"case":{"name":"case_1"'
    number = next(place for place, line in enumerate(lines) if start in line[:300])
    lines[number] = lines[number][: len(lines[number]) // 2] + b"\n"
    path.write_bytes(b"".join(lines))
    return (
        f"log.jsonl:{number + 1}: this line of the run log is damaged, and shop/case_1, "
        f"trial 1 "
        f"with lexical has no"
    )


@pytest.mark.slow
def test_every_command_names_the_damaged_line_and_reads_the_rest(project: Project) -> None:
    path = a_run(project)
    named = damage(path)
    commands = {
        ("view", "--no-open"): 0,
        ("runs",): 0,
        ("compare", path.parent.name, path.parent.name): 0,
        ("export", "otel", path.parent.name, "--endpoint", "http://127.0.0.1:1"): None,
        ("evals", "shop", "--model", f"replay:{path.parent.name}", "--dry-run"): 0,
        ("evals", "shop", "--baseline", path.parent.name, "--dry-run"): 0,
        ("merge", str(path)): 4,
        ("grade", path.parent.name): 4,
    }
    for command, code in commands.items():
        # Nobody listens at that endpoint, and it is not tried for longer.
        finished = project.run(*command, OTEL_EXPORTER_OTLP_TIMEOUT="1")
        assert named in finished.stderr, (command, finished.stderr)
        assert finished.code == code or code is None, (command, finished.stderr)
    assert named in all_of((path.parent / "report.html").read_text())
    graded = project.run("grade", path.parent.name, "--json-output").document["result"]
    assert (
        graded["summary"]["planned"],
        graded["summary"]["passed"],
        graded["summary"]["cancelled"],
    ) == (3, 2, 1)


def test_resume_runs_the_lost_trial_again_and_grading_in_between_is_no_hindrance(
    project: Project,
) -> None:
    path = a_run(project)
    named = damage(path)
    assert project.run("grade", "latest").code == 4
    resumed = project.run("evals", "--resume", "--json-output")
    assert named in resumed.stderr
    assert resumed.code == 0
    assert resumed.document["result"]["run_id"] == path.parent.name
    assert resumed.document["result"]["summary"]["passed"] == 3
    runs = json.loads(project.run("runs", "--json-output").stdout)["result"]["runs"]
    assert [run["damaged"] for run in runs if run["run_id"] == path.parent.name] == [[]]


@pytest.mark.parametrize("names", [("latest", "latest"), ("", "")])
def test_a_run_that_is_merged_with_itself_changes_nothing(
    project: Project, names: tuple[str, ...]
) -> None:
    path = a_run(project)
    finished = project.run("merge", *(name or path.parent.name for name in names))
    assert finished.code == 3
    assert f"run {path.parent.name} is given twice: shop/case_" in finished.stderr
    assert project.log().path == path
    assert [folder.name for folder in path.parent.parent.iterdir()] == [path.parent.name]
