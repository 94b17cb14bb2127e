"""The action for GitHub: its steps, executed one after the other as a runner does."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

from harness.judging.exit_codes import EXIT_FAILED, EXIT_INVALID, EXIT_PASSED
from tests.packaging.conftest import ROOT
from tests.packaging.steps import filled_in, has_expressions, make_project, run_script

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
SCRIPTS = {name: step["run"] for name, step in STEPS.items() if "run" in step}
PATH = os.environ["PATH"]
GH = """#!/bin/sh
printf '%s\\n' "$@" '' >> "$GH_CALLS"
[ "$1" != api ] || [ "$2" != --paginate ] || printf '%s' "$GH_FOUND"
exit "${GH_CODE:-0}"
"""
"""Stands for GitHub's program: writes down what it is told, and answers as it is told."""


@dataclass
class Job:
    """A job that uses the action."""

    project: Path
    commands: Path
    inputs: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def run(self, name: str) -> CompletedProcess[str]:
        """Run a step; expressions get their values in ``env:`` alone."""
        defaults = {key: str(one["default"]) for key, one in ACTION["inputs"].items()}
        inputs = {**defaults, "token": "secret", **self.inputs}
        values = {
            **{f"inputs.{key}": value for key, value in inputs.items()},
            **{f"steps.evals.outputs.{key}": value for key, value in self.outputs().items()},
            "inputs.install || github.action_path": inputs["install"] or str(ROOT),
            "github.repository": "acme/shop",
            "github.event.pull_request.number": "7",
        }
        env = {key: filled_in(text, values) for key, text in STEPS[name].get("env", {}).items()}
        runner = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self.project.parent / "outputs"),
            "GITHUB_STEP_SUMMARY": str(self.project.parent / "summary.md"),
            "RUNNER_TEMP": str(self.project.parent),
            "GH_CALLS": str(self.project.parent / "gh"),
        }
        return run_script(SCRIPTS[name], self.project, self.commands, {**runner, **self.env, **env})

    def outputs(self) -> dict[str, str]:
        file = self.project.parent / "outputs"
        lines = file.read_text().splitlines() if file.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def told_gh(self) -> list[list[str]]:
        calls = (self.project.parent / "gh").read_text().strip("\n").split("\n\n")
        return [call.split("\n") for call in calls]


@pytest.fixture(scope="module")
def commands(empty_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a job in which the first step has installed harness."""
    folder = tmp_path_factory.mktemp("install")
    done = Job(folder, empty_environment).run("Install")
    assert done.returncode == 0, done.stderr
    return empty_environment


@pytest.fixture
def job(commands: Path, tmp_path: Path) -> Job:
    project = tmp_path / "project"
    project.mkdir()
    make_project(project)
    return Job(project, commands)


@pytest.fixture
def ended(empty_environment: Path, tmp_path: Path) -> Job:
    """A job whose run has ended and left a report."""
    (tmp_path / "gh-bin").mkdir()
    gh = tmp_path / "gh-bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    project, folder = tmp_path / "project", tmp_path / "reports"
    project.mkdir()
    folder.mkdir()
    (folder / "evals.md").write_text("one failed: second\n")
    (tmp_path / "outputs").write_text(f"folder={folder}\nexit-code={EXIT_FAILED}\n")
    return Job(project, empty_environment, env={"PATH": f"{gh.parent}:{empty_environment}:{PATH}"})


def test_no_script_has_anything_filled_in() -> None:
    assert [name for name, script in SCRIPTS.items() if has_expressions(script)] == []


def test_every_input_is_used_and_every_one_that_is_used_exists() -> None:
    text = (ROOT / "action.yml").read_text("utf-8").partition("\nruns:")[2]
    used = {part.split(maxsplit=1)[0].rstrip("})") for part in text.split("inputs.")[1:]}
    assert {name.split("/")[0] for name in used} == set(ACTION["inputs"])


@pytest.mark.slow
def test_a_failed_case_is_reported_before_the_job_fails(job: Job) -> None:
    ran = job.run("Run")
    assert ran.returncode == 0, ran.stderr
    assert job.outputs()["exit-code"] == str(EXIT_FAILED)
    folder = Path(job.outputs()["folder"])
    assert {path.name for path in folder.iterdir()} == {"evals.xml", "evals.html", "evals.md"}
    assert "`shop`" in (job.project.parent / "summary.md").read_text()
    assert "::error file=evals/shop.yml,line=" in ran.stderr
    assert job.run("Verdict").returncode == EXIT_FAILED


@pytest.mark.slow
def test_suites_and_arguments_are_given_one_a_line(job: Job) -> None:
    job.inputs = {"suites": "shop\nevals/shop.yml\n", "arguments": "-k\nsmoke\n--trials=2"}
    ran = job.run("Run")
    assert job.outputs()["exit-code"] == str(EXIT_PASSED), ran.stderr
    assert "2 planned: 2 passed" in ran.stdout
    assert job.run("Verdict").returncode == EXIT_PASSED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["suites", "model", "arguments", "baseline", "gate"])
def test_an_input_is_a_word_and_never_a_command(job: Job, name: str) -> None:
    (job.project / "log; touch hacked").write_text("")
    hostile = '$(touch hacked) `touch hacked`; touch hacked "'
    job.inputs = {name: "log; touch hacked" if name == "baseline" else hostile}
    if name == "gate":
        job.inputs["baseline"] = "log; touch hacked"
    job.run("Run")
    assert job.outputs()["exit-code"] == str(EXIT_INVALID)
    assert not (job.project / "hacked").exists()
    assert job.run("Verdict").returncode == EXIT_INVALID


@pytest.mark.slow
def test_a_baseline_that_is_not_there_is_told_and_one_that_is_there_is_a_gate(job: Job) -> None:
    job.inputs = {"baseline": "base.jsonl"}
    assert "::notice::There is no baseline yet" in job.run("Run").stdout
    (log,) = (job.project / ".harness" / "runs").glob("*/log.jsonl")
    log.rename(job.project / "base.jsonl")
    assert "gate: no evidence of a regression" in job.run("Run").stdout
    assert job.outputs()["exit-code"] == str(EXIT_PASSED)


def test_the_first_comment_is_new_and_the_next_ones_replace_it(ended: Job) -> None:
    assert ended.run("Comment").returncode == 0
    file = Path(ended.outputs()["folder"]) / "comment.md"
    assert file.read_text().startswith("<!-- harness: evals -->\n")
    assert "second" in file.read_text()
    asked, written = ended.told_gh()
    assert asked[2] == "repos/acme/shop/issues/7/comments"
    assert written == ["pr", "comment", "7", "--body-file", str(file)]
    ended.env |= {"GH_FOUND": "41\n42"}
    assert ended.run("Comment").returncode == 0
    replaced = "repos/acme/shop/issues/comments/42"
    assert ended.told_gh()[-1][2:] == ["--method", "PATCH", replaced, "-F", f"body=@{file}"]


def test_a_long_report_is_cut_to_what_a_comment_may_have(ended: Job) -> None:
    folder = Path(ended.outputs()["folder"])
    (folder / "evals.md").write_text("é" * 70_000)
    assert ended.run("Comment").returncode == 0
    text = (folder / "comment.md").read_text("utf-8")
    assert 59_000 < len(text) <= 65_536
    assert text.rstrip("\n").endswith("é")


def test_a_comment_that_may_not_be_written_is_a_warning(ended: Job) -> None:
    ended.env |= {"GH_CODE": "1"}
    done = ended.run("Comment")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning::The comment could not be written")


@pytest.mark.slow
def test_a_run_that_is_invalid_leaves_nothing_to_comment(job: Job) -> None:
    job.inputs = {"suites": "nowhere"}
    job.run("Run")
    assert job.run("Comment").returncode == 0
    assert not (job.project.parent / "gh").exists()


def test_the_artifact_holds_the_reports_and_the_logs() -> None:
    kept = STEPS["Keep the report"]["with"]
    assert kept["path"].split("\n")[0] == "${{ steps.evals.outputs.folder }}"
    assert kept["path"].split("\n")[1].endswith("/.harness/runs")
    assert kept["include-hidden-files"] is True


def test_what_follows_the_run_follows_a_failed_one_too() -> None:
    assert [name for name, step in STEPS.items() if "always()" not in step.get("if", "")] == [
        "Install",
        "Run",
    ]


@pytest.mark.slow
def test_the_project_s_requirements_are_installed_beside_harness(
    empty_environment: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    job = Job(project, empty_environment)
    (project / "requirements.txt").write_text("no-such-package-of-anybody==9\n")
    done = job.run("Install")
    assert done.returncode != 0
    assert "no-such-package-of-anybody" in done.stderr
