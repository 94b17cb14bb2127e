"""The component for GitLab: its script, executed as a runner does."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED
from tests.packaging.conftest import ROOT
from tests.packaging.steps import filled_in, has_expressions, make_project, run_script

SPEC, JOBS = yaml.safe_load_all((ROOT / "templates" / "evals.yml").read_text("utf-8"))
(JOB,) = JOBS.values()
INPUTS = {name: str(one["default"]) for name, one in SPEC["spec"]["inputs"].items()}
INSTALL, RUN = JOB["script"]
(COMMENT,) = JOB["after_script"]
TOKEN = "glpat-of-nobody"


class Notes(BaseHTTPRequestHandler):
    """The part of GitLab that takes comments."""

    taken: list[tuple[str, str, str]]
    status = 201

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        token = self.headers["PRIVATE-TOKEN"]
        self.taken.append((self.path, token, parse_qs(body)["body"][0]))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def gitlab() -> Iterator[tuple[type[Notes], dict[str, str]]]:
    notes = type("Notes", (Notes,), {"taken": []})
    with HTTPServer(("127.0.0.1", 0), notes) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield (
            notes,
            {
                "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4",
                "CI_PROJECT_ID": "12",
                "CI_MERGE_REQUEST_IID": "3",
                "HARNESS_COMMENT_TOKEN": TOKEN,
            },
        )
        server.shutdown()
        thread.join()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    make_project(folder)
    return folder


def run(script: str, project: Path, commands: Path, **inputs: str) -> CompletedProcess[str]:
    values = {f"inputs.{name}": value for name, value in {**INPUTS, **inputs}.items()}
    variables: dict[str, Any] = JOB["variables"]
    env = {name: filled_in(one["value"], values) for name, one in variables.items()}
    return run_script(script, project, commands, env, shell="sh")


def test_no_script_has_anything_filled_in_and_no_variable_is_expanded() -> None:
    assert not any(map(has_expressions, (INSTALL, RUN, COMMENT)))
    assert all(one["expand"] is False for one in JOB["variables"].values())


def test_every_input_is_used() -> None:
    text = (ROOT / "templates" / "evals.yml").read_text("utf-8")
    assert [name for name in INPUTS if f"$[[ inputs.{name} ]]" not in text] == []


@pytest.mark.slow
def test_the_job_installs_runs_and_leaves_its_reports(
    empty_environment: Path, project: Path
) -> None:
    installed = run(INSTALL, project, empty_environment, install=str(ROOT))
    assert installed.returncode == 0, installed.stderr
    ran = run(RUN, project, empty_environment)
    assert ran.returncode == EXIT_FAILED, ran.stderr
    left = [*JOB["artifacts"]["paths"], JOB["artifacts"]["reports"]["junit"]]
    assert [path for path in left if not (project / path).exists()] == []
    smoke = run(RUN, project, empty_environment, suites="shop", arguments="-k\nsmoke\n--trials=2")
    assert smoke.returncode == EXIT_PASSED, smoke.stderr
    assert "2 planned: 2 passed" in smoke.stdout
    hostile = "$(touch hacked) `touch hacked`; touch hacked"
    for name in ("suites", "model", "arguments"):
        assert run(RUN, project, empty_environment, **{name: hostile}).returncode != EXIT_PASSED
    assert not (project / "hacked").exists()


def test_the_report_becomes_a_comment_and_the_token_stays_in_the_header(
    gitlab: tuple[type[Notes], dict[str, str]], project: Path
) -> None:
    notes, env = gitlab
    (project / "evals.md").write_text("one & two = é\n")
    done = run_script(COMMENT, project, project, env, shell="sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    path = "/api/v4/projects/12/merge_requests/3/notes"
    assert notes.taken == [(path, TOKEN, "one & two = é\n")]


def test_a_comment_that_is_refused_is_told_without_the_token(
    gitlab: tuple[type[Notes], dict[str, str]], project: Path
) -> None:
    notes, env = gitlab
    notes.status = 403
    (project / "evals.md").write_text("text\n")
    done = run_script(COMMENT, project, project, env, shell="sh")
    assert "The comment could not be written." in done.stdout
    assert TOKEN not in done.stdout + done.stderr


def test_without_a_token_nothing_is_sent(
    gitlab: tuple[type[Notes], dict[str, str]], project: Path
) -> None:
    notes, env = gitlab
    (project / "evals.md").write_text("text\n")
    del env["HARNESS_COMMENT_TOKEN"]
    assert run_script(COMMENT, project, project, env, shell="sh").returncode == 0
    assert notes.taken == []
