"""The command and the request of a finding: made again, they show it again."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.judging.exit_codes import EXIT_INVALID
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.replay import ProbeOptions
from harness.runlog.folders import log_path
from tests.evidence.made_logs import KEY, Desk, harness, make_project, write_reports
from tests.often import often
from tests.probing.loopback import on_loopback
from tests.reports.packs import all_of

WITHHELD = "ann.lee@example.com"
READ = ProbeCall(tool="read", arguments={"id": "it's"}, changes=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("desk")
    with on_loopback(Desk) as url:
        make_project(folder, url)
        yield folder


@pytest.fixture
def project(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


@cache
def probed(suite: str, *options: str) -> dict[str, Any]:
    """Probe a suite once for all the tests that read what came of it."""
    document: dict[str, Any] = json.loads(harness("probe", suite, *options, "--json-output")[1])
    return document


def repeated(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "harness"
    return harness(*words[1:])[1]


# ── Commands ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("suite", often(["faulty", "leaky", "headed"]))
def test_the_command_of_every_finding_shows_it_again(project: Path, suite: str) -> None:
    found = probed(suite)["findings"]
    commands = {finding["words"]: finding["request"]["command"] for finding in found}
    short = {words: one for words, one in commands.items() if "is oversized" not in words}
    assert len(short) >= 2
    assert [words for words, one in short.items() if WITHHELD not in repeated(one)] == []


@pytest.mark.slow
def test_the_findings_of_a_faulty_server_are_of_each_sort_that_a_command_repeats(
    project: Path,
) -> None:
    found = {finding["problem"] for finding in probed("faulty")["findings"]}
    assert found >= {"fails_open", "smuggled_identity", "opened_by_arguments"}


def test_console_page_and_markdown_name_the_command(project: Path) -> None:
    exit_code, said = harness("probe", "leaky", "--named-only")
    command = "harness call list_records --suite leaky --as clerk"
    assert exit_code == 1
    assert f"  again: {command}\n" in said
    run = said.rsplit("harness view ", 1)[1].strip()
    write_reports(run)
    folder = log_path(run).parent
    for name in ("report.html", "report.md", "junit.xml", "report.sarif", "report.json"):
        assert command in all_of((folder / name).read_text("utf-8")), name


def test_a_command_names_the_identity_and_never_holds_its_token() -> None:
    origin = ProbeOptions(suites=["shop"], servers=["python my server.py"])
    stale = ProbeCaller(
        name="admin: an expired token",
        user_context={"role": "admin"},
        credential="expired",
        bases=("admin",),
    )
    command = origin.format_command(stale, READ, meta={"a": 1}, times=3)
    assert command is not None
    assert shlex.split(command)[:9] == [
        *("harness", "call", "read", "--suite", "shop", "--server", "python my server.py"),
        *("--as", "admin"),
    ]
    assert shlex.split(command)[9:] == [
        *("--credential", "expired", "--args", '{"id": "it\'s"}', "--meta", '{"a": 1}'),
        *("--times", "3"),
    ]


def test_a_damaged_identity_is_stated_so_that_look_alikes_are_told_apart() -> None:
    damaged = ProbeCaller(name="x", user_context={"role": "аdmin"}, bases=("admin",))
    assert '--user-context \'{"role": "\\u0430dmin"}\'' in str(
        ProbeOptions().format_command(damaged, READ)
    )


def test_a_command_that_nobody_could_paste_is_left_out() -> None:
    large = ProbeCaller(name="x", user_context={"role": "x" * 50_000}, bases=("admin",))
    assert ProbeOptions().format_command(large, READ) is None


# ── JSON-RPC ─────────────────────────────────────────────────────────────────────────────────


def test_the_request_of_a_smuggled_identity_has_it_in_the_arguments(project: Path) -> None:
    found = probed("faulty")["findings"]
    smuggled = next(one for one in found if one["problem"] == "smuggled_identity")["request"]
    message = json.loads(smuggled["jsonrpc"])
    assert message["method"] == "tools/call"
    assert message["params"]["arguments"]["role"] == "admin"
    assert message["params"].get("_meta", {}).get(KEY) != {"role": "admin"}


@pytest.mark.slow
def test_the_request_of_an_identity_in_meta_has_it_there(project: Path) -> None:
    found = probed("headed")["findings"]
    smuggled = next(one for one in found if one["problem"] == "smuggled_identity")["request"]
    assert json.loads(smuggled["jsonrpc"])["params"]["_meta"][KEY]["role"] == "admin"
    assert smuggled["identity"] != "admin"


def test_a_finding_that_no_single_call_shows_has_no_request(project: Path) -> None:
    (project / "evals" / "listed.yml").write_text(
        "suite: listed\nserver: sound\nidentities: {clerk: {role: clerk}}\n"
        "defaults: {as: [clerk]}\n"
        "tests:\n- {name: a, prompt: Show it., tool: get_weather, expect: {clerk: hidden}}\n",
        encoding="utf-8",
    )
    found = probed("listed", "--named-only")["findings"]
    assert [one["request"] for one in found if "is in the list" in one["words"]] == [None]


# ── What one call does not show ──────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def forgetting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    server = Path(__file__).with_name("forgetful_server.py")
    folder = tmp_path_factory.mktemp("forgetful")
    (folder / "harness.yml").write_text(
        f"mxcp: 1\nservers:\n  people: {{command: {sys.executable}, args: [{server}]}}\n", "utf-8"
    )
    (folder / "evals").mkdir()
    (folder / "evals" / "people.yml").write_text(
        "suite: people\nserver: people\n"
        "identities: {admin: {role: admin}, clerk: {role: clerk}}\n"
        "defaults: {as: [admin, clerk]}\n"
        "interference:\n- {alters: salary, description: Ann's, b: {env: {SALARY: '91300'}}}\n"
        "tests:\n- {name: one, prompt: Show it., tool: get_person, expect: {admin: allowed}}\n"
        "- {name: all, prompt: Show all., tool: list_people, expect: {admin: allowed}}\n",
        "utf-8",
    )
    return folder


@pytest.fixture
def forgetful(forgetting: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(forgetting)
    return forgetting


def commands_of(problem: str) -> list[str]:
    document = probed("people", "--named-only")
    assert "findings" in document, document
    found = [one["request"] for one in document["findings"] if one["problem"] == problem]
    return [one["command"] for one in found]


@pytest.mark.slow
def test_the_command_of_an_answer_that_follows_another_caller_makes_both_calls(
    forgetful: Path,
) -> None:
    commands = [one for one in commands_of("unstable") if "--as clerk" in one]
    assert ["--after admin" in one for one in commands] == [True]
    told = repeated(commands[0])
    assert "get_person as clerk after admin: ok" in told
    assert "71250" in told
    assert "71250" not in repeated(commands[0].replace(" --after admin", ""))


@pytest.mark.slow
def test_the_command_of_an_altered_value_makes_the_call_with_both_sets_of_data(
    forgetful: Path,
) -> None:
    (command,) = [one for one in commands_of("interference") if "list_people" in one]
    assert "--altered" in command
    told = repeated(command)
    as_it_is, other = told.split(" with B of Ann's (salary): ok")
    assert " with A of Ann's (salary): ok" in as_it_is
    assert as_it_is.index("P-1") < as_it_is.index("P-2")
    assert other.index("P-2") < other.index("P-1")


@pytest.mark.slow
def test_a_page_of_such_a_finding_has_the_command_that_shows_it(forgetful: Path) -> None:
    run = probed("people", "--named-only")["run_id"]
    write_reports(run)
    folder = log_path(run).parent
    for name in ("report.html", "report.md", "junit.xml"):
        page = all_of((folder / name).read_text("utf-8"))
        assert "--as clerk --after admin" in page, name
        assert "--altered" in page, name


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--after", "bobby"), "no identity of the suites is called 'bobby'"),
        (("--altered", "salaries"), "no value of the suites' 'interference' is called 'salaries'"),
    ],
)
def test_a_name_that_the_suite_does_not_have_is_told(
    forgetful: Path, options: tuple[str, str], words: str
) -> None:
    exit_code, said = harness("call", "get_person", "--as", "clerk", *options, "--json-output")
    assert exit_code == EXIT_INVALID
    assert words in said
