"""``harness init`` as a user runs it: a suite that can be run at once, and nothing else touched."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import (
    HARNESS,
    PLAIN_SERVER,
    TIMEOUT_S,
    Finished,
    Project,
    code_of,
)
from tests.end_to_end.warm import warm_python
from tests.often import often

GOOD_SERVER = Path(__file__).parents[1] / "sessions" / "good_server.py"
PLAIN = f"{sys.executable} {PLAIN_SERVER}"
STRANGERS = Path(
    os.environ.get("HARNESS_STRANGERS") or Path(__file__).parents[1] / "strangers" / "node_modules"
)


def ran(project: Project, *arguments: str) -> Finished:
    finished = project.run(*arguments)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr
    return finished


def passed(project: Project, suite: str, *arguments: str) -> set[str]:
    """Run a suite on the built-in baseline, and return the names of the cases that passed."""
    finished = project.run("evals", suite, *arguments)
    assert finished.code == code_of(project.log()), finished.stdout + finished.stderr
    runs = project.log().results
    return {run.case.name for run in runs if run.status == "passed"}


@pytest.mark.slow
def test_the_suite_of_a_server_given_by_its_command_runs_at_once(project: Project) -> None:
    told = ran(project, "init", "--server", f"{sys.executable} {GOOD_SERVER}").stdout
    assert (
        "Wrote evals/good_server.yml\nWrote evals/suite.schema.json\n6 cases for 5 tools; no tool "
        "was called."
    ) in told
    assert "harness evals good_server " in told
    assert "harness evals good_server --model" in told
    # It marks no tool, so none is called, and no case passes that asks for a call.
    assert passed(project, "good_server") == {"asking_about_add"}


@pytest.mark.slow
def test_the_suite_of_a_built_in_server_runs_at_once(project: Project) -> None:
    ran(
        project,
        "init",
        "data_governance",
        "--name",
        "first",
        "-u",
        '{"role": "admin", "permissions": []}',
    )
    assert "server: data_governance\n" in (project.folder / "evals" / "first.yml").read_text()
    names = passed(project, "first")
    assert {
        "get_customer_details",
        "search_customers",
        "get_customer_details_changes_nothing",
    } <= names
    assert "delete_customer" not in names


@pytest.mark.slow
@pytest.mark.parametrize(("server", "floor"), [("server-everything", 10), ("server-filesystem", 4)])
def test_the_suite_of_a_server_that_others_wrote_runs_and_passes_where_nothing_was_guessed(
    project: Project, server: str, floor: int
) -> None:
    main = STRANGERS / "@modelcontextprotocol" / server / "dist" / "index.js"
    if not main.exists():
        pytest.skip("the servers that others wrote are not installed")
    folder = f" {project.folder}" if server == "server-filesystem" else ""
    ran(project, "init", "--server", f"node {main}{folder}")
    before = sorted(path.name for path in project.folder.iterdir())
    assert len(passed(project, server)) >= floor
    assert (
        sorted(path.name for path in project.folder.iterdir() if path.name != ".harness") == before
    )


def test_nothing_that_is_not_marked_as_read_only_is_ever_sent_by_the_suite(
    project: Project,
) -> None:
    trace = project.folder / "trace"
    shell = shlex.quote(f"tee {trace} | {warm_python()} {GOOD_SERVER}")
    ran(project, "init", "--server", f"sh -c {shell}", "--name", "traced")
    assert project.run("evals", "traced").code == 1
    assert "tools/list" in trace.read_text()
    assert "tools/call" not in trace.read_text()


@pytest.mark.parametrize("configured", often([False, True]))
def test_the_suite_does_not_pass_on_a_server_on_which_every_call_fails(
    project: Project, configured: bool
) -> None:
    tools = [
        {
            "name": "broken_file",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
        }
    ]
    arguments = [f"TOOLS={json.dumps(tools)}", sys.executable, str(PLAIN_SERVER), "broken_tools"]
    given = ["--server", shlex.join(["env", *arguments])]
    if configured:
        (project.folder / ".mcp.json").write_text(
            json.dumps({"mcpServers": {"files": {"command": "env", "args": arguments}}})
        )
        given = ["files", "--mcp-config", ".mcp.json"]
    ran(project, "init", *given, "--name", "drafted")
    finished = project.run("evals", "drafted", *given[1:] if configured else ())
    assert finished.code == 1, finished.stdout + finished.stderr
    assert [run.status for run in project.log().results] == ["failed"]
    assert "Call did not succeed" in finished.stdout


def test_no_tool_is_called(project: Project) -> None:
    trace = project.folder / "trace"
    shell = shlex.quote(f"tee {trace} | {PLAIN}")
    ran(project, "init", "--server", f"sh -c {shell}", "--name", "traced")
    assert "tools/list" in trace.read_text()
    assert "tools/call" not in trace.read_text()


def test_variables_are_written_as_they_were_typed(project: Project) -> None:
    finished = project.run("init", "--server", f"{PLAIN} good ${{TOKEN}}", TOKEN="s3cr3t")
    assert finished.code == 0, finished.stderr
    text = (project.folder / "evals" / "bad_server.yml").read_text()
    assert "${TOKEN}" in text
    assert "s3cr3t" not in text + finished.stdout + finished.stderr


def test_a_second_suite_of_a_server_needs_a_name_of_its_own(project: Project) -> None:
    first = project.suite(
        "finance", [{"name": "a", "prompt": "b", "assertions": {"must_call": ["c"]}}]
    )
    before = first.read_bytes()
    finished = project.run("init", "finance")
    assert finished.code == 3
    assert "nothing is ever overwritten" in finished.stderr
    assert "--name finance_2" in finished.stderr
    assert first.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("--server", "harness init --server")),
        (("no_such_server",), ("no_such_server",)),
        (("--server", "finance", "--name", "…"), ("cannot be the name of a file",)),
        (("--server", f"{PLAIN} exit_in_handshake"), ("last words: cannot open the database",)),
        (("--server", f"{PLAIN} toolless"), ("lists no tool", "--user-context")),
        (("--force", "finance"), ("--force",)),
    ],
    ids=["no server", "unknown server", "no name", "server exits", "no tools", "no force"],
)
def test_what_goes_wrong_is_told_and_nothing_is_written(
    project: Project, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    finished = project.run("init", *arguments)
    assert finished.code == 3
    assert "Traceback" not in finished.stderr
    assert all(word in finished.stderr for word in words)
    assert not (project.folder / "evals").exists()


@pytest.mark.slow
def test_on_a_terminal_it_asks_for_the_server(project: Project) -> None:
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [*HARNESS, "init", "--name", "asked"],
        cwd=project.folder,
        env={"PATH": os.environ["PATH"], "HOME": str(project.folder)},
        stdin=side,
        stdout=subprocess.PIPE,
        stderr=side,
        text=True,
    )
    os.close(side)
    os.write(terminal, f"{PLAIN}\n".encode())
    stdout, _ = process.communicate(timeout=TIMEOUT_S)
    os.close(terminal)
    assert process.returncode == 0
    assert "Wrote evals/asked.yml" in stdout
