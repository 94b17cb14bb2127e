"""``harness record`` as a user runs it: another program uses the server, and a run is kept."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.reports.querying.index import STORE, has_current_page
from tests.end_to_end.harness_process import HARNESS, Finished, Project, finish
from tests.end_to_end.warm import warm_python
from tests.sessions.servers import GOOD_SERVER, all_gone

PROGRAM = Path(__file__).with_name("recorded_program.py")
LOOK = ("search_customers", {"name": "Weber"})


def recorded(
    project: Project, *options: str, calls: Any = (LOOK,), manner: str = "end"
) -> Finished:
    return project.run(
        "record", *options, "--", warm_python(), str(PROGRAM), manner, json.dumps(calls)
    )


def test_what_a_program_called_is_kept_as_a_run_with_its_identity(project: Project) -> None:
    done = recorded(
        project,
        *("--suite", "data_governance", "--as", "anonymous", "--prompt", "Who is Weber?"),
        calls=[LOOK, ("no_such_tool", {})],
    )
    assert done.code == 0, done.stderr
    assert done.stdout == "said by the program\n"
    log = project.log()
    ((result, transcript),) = list(log)
    assert transcript is not None
    assert [call.tool for call in transcript.tool_calls] == ["search_customers", "no_such_tool"]
    assert [call.outcome for call in transcript.tool_calls] == ["denied", "unknown_tool"]
    assert [message.role for message in transcript.messages][:2] == ["user", "assistant"]
    assert (result.status, result.case.identity) == ("skipped", "anonymous")
    assert result.usage.cost_usd is None
    assert f"harness view {log.header.run_id}" in done.stderr
    assert has_current_page(log.path.with_name(STORE), log.path)


def test_a_recorded_session_has_no_verdict(project: Project) -> None:
    recorded(project, "--suite", "data_governance", "--as", "admin")
    assert "1 skipped" in project.run("runs").stdout
    assert project.run("view", "latest").code == 0
    assert "127.0.0.1" not in project.log().path.read_text()  # the address opens the session


@pytest.mark.slow
def test_a_session_that_went_well_becomes_a_test_that_can_be_run(project: Project) -> None:
    recorded(
        project,
        *("--suite", "data_governance", "--as", "admin", "--prompt", "Find customer Weber"),
        calls=[LOOK, LOOK, ("no_such_tool", {})],
    )
    drafted = project.run("init", "--from", "latest", "--name", "weber")
    assert drafted.code == 0, drafted.stderr
    text = (project.folder / "evals" / "weber.yml").read_text()
    assert text.count("tool: search_customers") == 1
    assert "Not asked for: no_such_tool (unknown_tool)" in text
    assert project.run("evals", "weber").code == 0


@pytest.mark.slow
def test_a_session_of_an_unconfigured_server_becomes_a_suite_that_starts_it(
    project: Project,
) -> None:
    line = f"{sys.executable} {GOOD_SERVER}"
    calls = [("add", {"a": 1, "b": 2})]
    done = recorded(project, "--server", line, "--prompt", "Add", calls=calls)
    assert done.code == 0, done.stderr
    drafted = project.run("init", "--from", "latest", "--name", "drafted")
    assert drafted.code == 0, drafted.stderr
    assert f"command: {sys.executable}" in (project.folder / "evals" / "drafted.yml").read_text()


@pytest.mark.slow
def test_without_a_prompt_no_case_is_made_and_the_reason_is_told(project: Project) -> None:
    recorded(project, "--suite", "data_governance", "--as", "admin")
    drafted = project.run("init", "--from", "latest", "--name", "weber")
    assert drafted.code == 3
    assert "its prompt was not recorded" in drafted.stderr
    assert not (project.folder / "evals" / "weber.yml").exists()


@pytest.mark.slow
def test_a_program_without_a_call_is_an_error_and_leaves_no_run(project: Project) -> None:
    done = recorded(project, "--suite", "data_governance", calls=[])
    assert done.code == 1
    assert "Nothing was recorded: the program made no call" in done.stderr
    assert not (project.folder / ".harness" / "runs").exists()


@pytest.mark.slow
def test_the_exit_code_is_that_of_the_program(project: Project) -> None:
    assert recorded(project, "--suite", "data_governance", manner="7").code == 7


def test_a_program_that_does_not_exist_is_named(project: Project) -> None:
    done = project.run("record", "--suite", "data_governance", "--", "no-such-program")
    assert done.code == 3
    assert "there is no program 'no-such-program'" in done.stderr
    assert "Traceback" not in done.stderr


def test_placeholders_are_replaced_and_the_file_is_for_its_owner_alone(project: Project) -> None:
    show = (
        "import json, os, sys; modes = [os.stat(path).st_mode for path in sys.argv[1:3]]; "
        "(server,) = json.load(open(sys.argv[2]))['mcpServers'].values(); "
        "print(oct(modes[0] | modes[1]), server['env'], sys.argv[3:])"
    )
    done = project.run(
        *("record", "--suite", "data_governance", "--prompt", "{mcp_url} {x}", "--"),
        *(sys.executable, "-c", show, "{mcp_config}", "{mcp_config_stdio}", "{mcp_url}"),
        *("ask:{prompt}", "{other}"),
    )
    mode, _, shown = done.stdout.partition(" ")
    assert shown.startswith("{'HARNESS_MCP_URL': 'http://127.0.0.1:")
    assert "http://127.0.0.1:" in shown
    assert "ask:{mcp_url} {x}" in shown
    assert "{other}" in shown
    assert stat.S_IMODE(int(mode, 8)) & 0o077 == 0


@pytest.mark.slow
def test_sigterm_ends_the_program_and_keeps_what_was_called(project: Project) -> None:
    marker = f"marker-{os.getpid()}-{project.folder.name}"
    process = subprocess.Popen(
        [
            *(*HARNESS, "record", "--suite", "data_governance", "--as", "admin", "--"),
            *(sys.executable, str(PROGRAM), "hang", json.dumps([LOOK]), marker),
        ],
        cwd=project.folder,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "said by the program\n"
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert done.code == 128 + signal.SIGTERM, done.stderr
    assert all_gone(marker)
    ((_, transcript),) = list(project.log())
    assert transcript is not None
    assert [call.outcome for call in transcript.tool_calls] == ["ok"]


@pytest.mark.slow
def test_a_kill_of_harness_loses_no_call(project: Project) -> None:
    marker = f"marker-{os.getpid()}-{project.folder.name}"
    process = subprocess.Popen(
        [
            *(*HARNESS, "record", "--suite", "data_governance", "--as", "admin"),
            *("--prompt", "Find customer Weber", "--"),
            *(sys.executable, str(PROGRAM), "hang", json.dumps([LOOK, ("no_such_tool", {})])),
            marker,
        ],
        cwd=project.folder,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "said by the program\n"
        process.kill()
    assert all_gone(marker)  # the program ends with harness
    assert "interrupted" in project.run("runs").stdout
    log = project.log()
    assert log.footer is None
    ((result, transcript),) = list(log)
    assert transcript is not None
    assert result.status == "cancelled"
    assert result.tool_calls == 2
    assert [call.outcome for call in transcript.tool_calls] == ["ok", "unknown_tool"]
    roles = [message.role for message in transcript.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    before = log.path.read_bytes()
    assert project.log().results == log.results  # it was put together once
    assert log.path.read_bytes() == before


@pytest.mark.slow
def test_a_variant_is_what_the_program_sees_and_the_server_never(project: Project) -> None:
    (project.folder / "words.yml").write_text(
        "variants: {other: {tools: {search_customers: {name: find_people, parameters: "
        "{name: {name: who}}}, get_customer_details: null}}}\n"
    )
    calls = [
        ("find_people", {"who": "Weber"}),
        ("search_customers", {"name": "Weber"}),
        ("get_customer_details", {"customer_id": "CUST_00010"}),
    ]
    options = ("--suite", "data_governance", "--as", "admin", "--variant", "words.yml:other")
    done = recorded(project, *options, calls=calls)
    assert done.code == 0, done.stderr
    log = project.log()
    ((result, transcript),) = list(log)
    assert transcript is not None
    made = [(call.tool, call.arguments, call.outcome) for call in transcript.tool_calls]
    assert made[0] == ("search_customers", {"name": "Weber"}, "ok")
    assert [outcome for _, _, outcome in made[1:]] == ["unknown_tool", "unknown_tool"]
    assert result.axes == {"variant": "other"}
    names = [tool.name for tool in log.shown[transcript.shown_digest].tools.tools]
    assert "find_people" in names
    assert "get_customer_details" not in names


@pytest.mark.slow
def test_a_name_that_the_program_made_up_stays_in_its_comment(project: Project) -> None:
    recorded(
        project,
        *("--suite", "data_governance", "--as", "admin", "--prompt", "Find customer Weber"),
        calls=[("evil\n  - name: injected\n    prompt: x", {}), LOOK],
    )
    assert project.run("init", "--from", "latest", "--name", "weber").code == 0
    (case,) = yaml.safe_load((project.folder / "evals" / "weber.yml").read_text())["tests"]
    assert case["prompt"] == "Find customer Weber"


@pytest.mark.slow
def test_a_conversation_of_several_turns_becomes_a_test_of_several_turns(project: Project) -> None:
    turns = [{"prompt": "Add 1 and 2."}, {"prompt": "Now add 3 and 4.", "fresh": True}]
    server = {"command": sys.executable, "args": [str(GOOD_SERVER)]}
    asks = [{"name": "twice", "turns": turns, "assertions": {"must_call": ["add"]}}]
    project.suite("adding", asks, server=server)
    assert project.run("evals", "adding").code == 0
    drafted = project.run("init", "--from", "latest", "--name", "again")
    assert drafted.code == 0, drafted.stderr
    (case,) = yaml.safe_load((project.folder / "evals" / "again.yml").read_text())["tests"]
    assert case["turns"] == turns
    assert project.run("evals", "again", "--dry-run").code == 0


def test_a_request_without_the_token_is_refused_and_told(project: Project) -> None:
    ask = (
        "import os, urllib.request as r\n"
        "from urllib.parse import urlsplit\n"
        "where = urlsplit(os.environ['HARNESS_MCP_URL'])\n"
        "try: r.urlopen(f'http://{where.netloc}/guess/mcp', data=b'{}')\n"
        "except OSError as error: print(error.code)\n"
    )
    done = project.run("record", "--suite", "data_governance", "--", sys.executable, "-c", ask)
    assert done.stdout == "401\n"
    assert "1 request without the session's token was refused" in done.stderr


def test_a_variant_that_cuts_results_is_refused_before_the_program_starts(project: Project) -> None:
    (project.folder / "words.yml").write_text("variants: {cut: {max_result_tokens: 5}}\n")
    done = recorded(project, "--suite", "data_governance", "--variant", "words.yml:cut")
    assert done.code == 3
    assert "'max_result_tokens', which is for models" in done.stderr
    assert done.stdout == ""
