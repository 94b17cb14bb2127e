"""What `harness.cli` does with whatever goes wrong in a command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from harness.cli import _run_command, cli
from harness.runlog import read_log
from harness.runlog.folders import find_log
from tests.reports.run_logs import write_log

Harness = Callable[..., int]

PLAIN_SERVER = str(Path(__file__).parents[1] / "sessions" / "bad_server.py")
REFUSING = r"""
import json, sys
for line in sys.stdin:
    error = {"code": -32000, "message": "no\n::error::pwned \x1b[31mred"}
    reply = {"jsonrpc": "2.0", "id": json.loads(line).get("id", 0), "error": error}
    print(json.dumps(reply), flush=True)
"""
"""A server on stdio that answers everything with an error out to do harm."""


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "harness.yml").write_text(
        "mxcp: 1\nservers:\n  crm: {command: a}\n  desk: {command: b}\n"
    )
    (tmp_path / "folder").mkdir()
    (tmp_path / "answers.csv").write_text("query,answer,human\nq,a,1\n")
    write_log(tmp_path / "one" / "log.jsonl", {"a": "p"})

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        return _run_command()

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        "grade nope", "merge nope", "tools nope", "lint nope", "judge-check nofile", "compare nope",
        "probe nope", "evals nope", "evals a --gate 5%", (
            "evals a --baseline nope"
        ), "evals a --trials abc", "evals --no-such-option",
        (
            "compare one/log.jsonl one/log.jsonl --report html:answers.csv/page.html"
        ), "runs -n 0", "nope",
    ],
)  # fmt: skip
def test_where_json_is_waited_for_whatever_goes_wrong_is_one_document(
    harness: Harness, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    assert harness(*arguments.split(), "--json-output") == 3
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["status"] == "error"
    assert document["error"].splitlines()[0] in printed.err


def test_a_run_of_which_a_report_cannot_be_written_is_one_document_too(
    harness: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        harness("merge", "one/log.jsonl", "--report", "csv:answers.csv/x.csv", "--json-output") == 3
    )
    printed = capsys.readouterr()
    assert "status" in json.loads(printed.out)
    assert "answers.csv/x.csv cannot be written" in printed.err


def test_what_a_server_says_in_its_error_is_harmless(
    harness: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("refusing.py").write_text(REFUSING)
    assert harness("tools", "--server", f"{sys.executable} refusing.py") == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "\n: :error::pwned red" in printed.err
    assert "\x1b" not in printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            "tools",
            (
                'no server was given\n  Name one: harness tools NAME, or --server "python '
                'my_server.py". Known: crm,'
            ),
        ),
        (
            "lint",
            (
                'no server was given\n  Name one: harness lint NAME, or --server "python '
                'my_server.py". Known: crm,'
            ),
        ),
        ("fetch nope", "there is no leaderboard named 'nope'\n  Known: agentdojo, bfcl, tau2."),
        (
            "evals --max-cost nan",
            "--max-cost: expected a number of at least 0, found nan",
        ),
        (
            "evals --max-cost inf",
            "--max-cost: expected a number of at least 0, found inf",
        ),
        ("evals --grace nan", "--grace: expected a number of at least 0, found nan"),
        ("judge-check answers.csv --threshold nan", "'--threshold': 'nan' is not a finite number"),
        ("serve --case-timeout nan", "'--case-timeout': 'nan' is not a finite number"),
        ("serve --max-mb nan", "'--max-mb': 'nan' is not a finite number"),
        ("serve --heartbeat nan", "'--heartbeat': 'nan' is not a finite number"),
        ("evals --max-cost=-1", "--max-cost: expected a number of at least 0, found -1"),
        ("evals --resume x --watch", "--resume continues a run as planned"),
        ("evals -q -v", "--quiet and --verbose cannot be combined"),
        ("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        ("eval", "There is no command 'eval'. Did you mean 'harness evals'?"),
        ("tool", "Did you mean 'harness tools'?"),
        ("run --model x", "There is no command 'run'. Did you mean 'harness evals'?"),
        ("frobnicate", "There is no command 'frobnicate'.\n"),
        ("evals -u @folder", "folder cannot be read: Is a directory."),
        ("evals -u @nothing.json", "nothing.json cannot be read: No such file or directory."),
        ("evals -u {bad", "this is not JSON: Expecting property name"),
        ("evals --report csv:folder", "--report 'csv:folder' names a folder"),
        ("evals --report csv:", "--report 'csv:' names no file"),
        (
            "init --server crm --server desk",
            "a suite is drafted for one server, and these are 2: crm, desk",
        ),
        (
            "tools --mcp-config folder",
            "folder: this is a folder, not a configuration of an MCP client.",
        ),
    ],
)
def test_what_was_meant_is_told_in_words(
    harness: Harness, capsys: pytest.CaptureFixture[str], arguments: str, words: str
) -> None:
    assert harness(*arguments.split()) == 3
    assert words in capsys.readouterr().err


def test_an_interrupt_of_a_command_is_a_document_too(
    harness: Harness, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.server_tools._list_with_homes", interrupted)
    assert harness("lint", "crm", "--json-output") == 130
    assert json.loads(capsys.readouterr().out) == {"status": "error", "error": "interrupted"}


def test_the_cases_that_would_be_run_are_listed_and_nothing_is_started(
    harness: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        harness(
            "evals",
            "data_governance",
            "--list",
            "-k",
            "viewing or nulls or id_in",
            "--model",
            "openai:x",
        )
        == 0
    )
    printed = capsys.readouterr()
    assert (
        printed.out
        == "data_governance::viewing_changes_nothing\ndata_governance::id_in_lower_case\n"
    )
    assert "2 cases, 2 trials, with openai:x; nothing was started." in printed.err
    several = ["--model", "lexical", "--model", "openai:x", "--trials", "3", "--json-output"]
    assert harness("evals", "data_governance", "--list", "-k", "viewing", *several) == 0
    (case,) = json.loads(capsys.readouterr().out)["result"]["cases"]
    assert (case["case"], case["models"], case["trials"]) == (
        "viewing_changes_nothing",
        ["lexical", "openai:x"],
        6,
    )
    assert case["file"].endswith("data_governance.yml")
    assert not Path(".harness").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shells_completion_is_printed(
    harness: Harness, capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    assert harness("completion", shell) == 0
    assert f"_HARNESS_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--dry-run", "--list"])
def test_a_provider_that_does_not_exist_is_refused_while_the_run_is_planned(
    harness: Harness, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    Path("harness.yml").write_text("models:\n  models:\n    fast: {type: opnai, model: x}\n")
    assert harness("evals", "data_governance", option, "--model", "fast") == 3
    told = capsys.readouterr().err
    assert "harness.yml:3: model 'fast': there is no provider named 'opnai'" in told
    assert "Did you mean 'openai'?" in told
    assert harness("models") == 0
    assert "! harness.yml:3: model 'fast': there is no provider named 'opnai'" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_dry_run_needs_no_key(
    harness: Harness, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("harness.yml").write_text(
        "models:\n  models:\n    fast: {type: openai, model: gpt-4o, api_key: '${NO_SUCH_KEY}'}\n"
        "    bad: {type: openai, base_url: nowhere}\n"
    )
    judged = ["--judge-model", "openai:gpt-4o"]
    for model in ("openai:gpt-4o", "fast"):
        assert harness("evals", "data_governance", "--dry-run", "--model", model, *judged) == 0
        assert "13 trials, about" in capsys.readouterr().out
        assert harness("evals", "data_governance", "--model", model) == 3
        assert "an API key is needed" in capsys.readouterr().err
    assert harness("evals", "data_governance", "--dry-run", "--model", "bad") == 3
    assert not Path(".harness").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        "--server one --server two",
        "--mcp-config both.json",
        "one --server two",
        "--server two --server one",
    ],
)
def test_tools_of_several_servers_are_listed_together(
    harness: Harness, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    server = {"command": sys.executable, "args": [PLAIN_SERVER]}
    Path("both.json").write_text(json.dumps({"mcpServers": {"one": server, "two": server}}))
    Path("harness.yml").write_text(json.dumps({"servers": {"one": server, "two": server}}))
    assert harness("tools", *arguments.split(), "--json-output") == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(document["server"].split("+")) == ["one", "two"]
    assert {"one__echo", "two__echo"} <= {tool["name"] for tool in document["tools"]}


def test_a_run_on_several_servers_offers_the_tools_of_all(harness: Harness) -> None:
    server = {"command": sys.executable, "args": [PLAIN_SERVER]}
    Path("harness.yml").write_text(json.dumps({"servers": {"one": server, "two": server}}))
    Path("evals").mkdir()
    test = {"name": "a", "prompt": "Echo it.", "assertions": {"must_not_call": ["one__crash"]}}
    Path("evals/a.yml").write_text(json.dumps({"suite": "a", "tests": [test]}))
    harness("evals", "a", "--server", "one", "--server", "two")
    log = read_log(find_log("latest"))
    ((_, transcript),) = log
    assert transcript is not None
    assert {"one__echo", "two__echo"} <= set(transcript.tools)
    assert log.header.settings["request"]["server"] == ["one", "two"]


@pytest.mark.parametrize(
    "command", ["evals", "evals --model openai:gpt-4o", "evals -k anything", "probe"]
)
def test_where_there_is_nothing_of_ones_own_to_run_nothing_is_run(
    harness: Harness, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert harness(*command.split()) == 2
    assert (
        "run by name: access_matrix, customer_analysis, data_governance," in capsys.readouterr().err
    )
    assert not Path(".harness").exists()


def test_every_command_that_takes_a_clients_servers_takes_their_revision() -> None:
    with click.Context(cli) as context:
        options = {
            name: {one.name for one in command.params}
            for name in cli.list_commands(context)
            if (command := cli.get_command(context, name)) is not None
        }
    with_servers = {name for name, own in options.items() if "mcp_config" in own}
    assert {"evals", "tools", "call", "lint", "probe", "record", "workbench"} <= with_servers
    # The official scenarios are those of a revision, which `--revision` names.
    revisions = {name for name, own in options.items() if {"protocol", "revision"} & own}
    assert revisions == with_servers


def test_a_dry_run_refuses_what_the_run_would_refuse(
    harness: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    assert harness("evals", "finance", "--concurrency", "1001", "--dry-run") == 3
    assert "at most 1000 trials at the same time, found 1001" in capsys.readouterr().err
    assert harness("evals", "finance", "--concurrency", "1000", "--dry-run") == 0


@pytest.mark.parametrize("arguments", [("evals", "--profile", "dev"), ("probe", "--profile=dev")])
def test_a_profile_of_mxcp_is_an_error_that_says_where_it_belongs(
    harness: Harness, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert harness(*arguments) == 3
    message = capsys.readouterr().err
    assert "No such option '--profile'" in message
    assert "args: [serve, --profile, dev]" in message
    assert "Did you mean" not in message
