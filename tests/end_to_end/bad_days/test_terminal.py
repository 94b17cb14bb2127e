"""``harness evals`` as somebody at a terminal uses it.

What is left to do after Ctrl-C, what failed, what changed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.end_to_end.bad_days.test_bad_days import read_until
from tests.end_to_end.harness_process import TIMEOUT_S, Project, finish, plain_server

SERVER = plain_server(protocol="legacy")
GOOD = {"name": "good", "prompt": "Echo 1.", "assertions": {"must_not_call": ["crash"]}}
BAD = {"name": "bad", "prompt": "Echo 2.", "assertions": {"must_call": ["crash"]}}


@pytest.mark.slow
@pytest.mark.timeout(240)  # whole processes, one after the other
def test_a_suite_is_run_again_when_it_changes_until_ctrl_c(project: Project) -> None:
    path = project.suite("shop", [GOOD], server=SERVER)
    (project.folder / "data.json").write_text("{}")
    process = project.start("evals", "--watch", "--concurrency", "1")
    limit = threading.Timer(TIMEOUT_S, process.kill)  # bounds every read of its output
    limit.start()
    try:
        assert "[1/1] passed shop::good" in read_until(process, r"^\[")
        assert "files for changes; Ctrl-C ends." in read_until(process, "Watching")
        (project.folder / "data.json").write_text("[]")  # no suite, no configuration, no source
        path.write_text(path.read_text().replace("good", "better"))
        assert "Changed: evals/shop.yml" in read_until(process, "Changed")
        assert "[1/1] passed shop::better" in read_until(process, r"^\[")
        read_until(process, "Watching")
        path.write_text("suite: [")  # half typed: told, and waited for the rest
        assert "Error: evals/shop.yml:" in read_until(process, "Error")
        read_until(process, "Watching")
        path.write_text(
            f"suite: shop\nserver: {{command: {sys.executable}, args: [gone.py]}}\ntests: "
            f"[{GOOD}]\n"
        )
        assert "error shop::good" in read_until(process, r"^\[")
        read_until(process, "Watching")
        process.send_signal(signal.SIGINT)
        finished = finish(process)
    finally:
        limit.cancel()
    assert finished.code == 130
    assert "Traceback" not in finished.stderr


def test_what_failed_is_run_again_alone_and_taken_up_as_such(project: Project) -> None:
    project.suite("shop", [GOOD, BAD], server=SERVER)
    project.suite("bank", [{**GOOD, "name": "fine"}], server=SERVER)
    nothing = project.run("evals", "--last-failed")
    assert (nothing.code, nothing.stderr.split("\n")[0]) == (
        2,
        "Nothing to run: there is no run yet of bank, shop, so nothing has failed",
    )
    assert project.run("evals").code == 1
    listed = project.run("evals", "--last-failed", "--list")
    assert (listed.code, listed.stdout) == (0, "shop::bad\n")
    again = project.run("evals", "--last-failed", "--json-output")
    assert again.document["result"]["summary"]["planned"] == 1
    assert (
        project.run("evals", "--resume").code == 1
    )  # nothing is left of it, and no other case is added
    assert project.log().header.planned == 1
    project.suite(
        "shop", [GOOD, {**BAD, "assertions": {"must_not_call": ["crash"]}}], server=SERVER
    )
    assert project.run("evals", "--last-failed").code == 0
    rested = project.run("evals", "--last-failed")
    assert rested.code == 2
    assert "no case failed in the latest run" in rested.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_bash_completes_commands_and_options_by_the_script_that_is_printed(
    project: Project,
) -> None:
    script = project.run("completion", "bash").stdout
    (project.folder / "harness").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m harness.cli "$@"\n'
    )
    (project.folder / "harness").chmod(0o755)

    def completed(*words: str) -> list[str]:
        asked = (
            f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
            f"_harness_completion "
            f"harness; "
        )
        done = subprocess.run(
            ["/bin/bash", "-c", f'eval "$1"; {asked} printf "%s\\n" "${{COMPREPLY[@]}}"', "bash",
             script],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
            env={"PATH": f"{project.folder}:{os.environ['PATH']}", "HOME": str(project.folder)},
        )  # fmt: skip
        return done.stdout.split()

    assert completed("harness", "ev") == ["evals"]
    assert completed("harness", "evals", "--last") == ["--last-failed"]


def test_a_failure_is_shown_as_it_happens_and_which_trial_it_was(project: Project) -> None:
    project.suite("shop", [{**BAD, "trials": 2}], server=SERVER)
    told = [
        line for line in project.run("evals", "-c", "1").stderr.splitlines() if line.startswith("[")
    ]
    assert [line.split(" ms: ")[0].rsplit(" ", 1)[0] for line in told] == [
        "[1/2] failed shop::bad (1 of 2)",
        "[2/2] failed shop::bad (2 of 2)",
    ]
    assert all(": Expected call not found: crash" in line for line in told)
    quiet = project.run("evals", "-q")
    assert (
        quiet.stdout
        == "failed    bad: Expected call not found: crash(…)\n2 planned: 2 failed\n2 calls: 2 ok\n"
    )
    assert not [line for line in quiet.stderr.splitlines() if line.startswith("[")]


@pytest.mark.slow
def test_what_a_server_says_of_its_tools_is_piped_without_wrapping_and_padding(
    project: Project,
) -> None:
    for command in ("tools", "lint"):
        lines = project.run(command, "hr", COLUMNS="30").stdout.splitlines()
        assert not [line for line in lines if line != line.rstrip()]
    assert max(map(len, project.run("tools", "hr", COLUMNS="30").stdout.splitlines())) > 200
