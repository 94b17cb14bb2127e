"""Ctrl-C before a run has begun: one line and 130, whatever Python was loading just then."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.runlog import read_log
from tests.end_to_end.harness_process import Project, plain_server
from tests.often import often

AS_INSTALLED = """
import os, signal, sys
import harness.entry
waiting = [{moment!r}]
def interrupt(event, arguments):
    if event == "import" and arguments[0] in waiting:
        waiting.clear()
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
sys.argv = ["harness", *{arguments!r}]
harness.entry.main()
"""
"""The command as it is installed, which is sent SIGINT the moment that it begins to load a
module."""


def interrupted(project: Project, moment: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = AS_INSTALLED.format(moment=moment, arguments=arguments)
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "moment",
    often(
        [
            "click",
            "harness.cli.results_output",
            "harness.suites.case_patterns",
            "pydantic",
            "anyio",
        ]
    ),
)
def test_an_early_interrupt_ends_in_one_line(project: Project, moment: str) -> None:
    tests = [{"name": "a", "prompt": "Echo n=1.", "assertions": {"must_not_call": ["crash"]}}]
    project.suite("shop", tests, server=plain_server(protocol="legacy"))
    ended = interrupted(project, moment, "evals", "shop", "--trust")
    assert (ended.returncode, ended.stderr.splitlines()[-1], ended.stdout) == (
        130,
        "Interrupted.",
        "",
    )
    assert "Traceback" not in ended.stderr
    logs = [read_log(path) for path in (project.folder / ".harness" / "runs").glob("*/log.jsonl")]
    assert all(
        log.header.planned == 1 for log in logs
    )  # there is none, or it is a run that can be resumed


def test_an_early_interrupt_is_told_as_json_where_json_is_waited_for(project: Project) -> None:
    ended = interrupted(project, "click", "evals", "--json-output")
    assert (ended.returncode, ended.stdout) == (
        130,
        '{"status": "error", "error": "interrupted"}\n',
    )
