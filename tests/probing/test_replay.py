"""The command and the request of a finding: made again, they show it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.replay import Origin
from harness.runner.runs.folders import log_path
from tests.evidence.made_logs import KEY, Desk, harness, make_project, write_reports
from tests.often import often
from tests.probing.loopback import on_loopback
from tests.reports.packs import all_of

WITHHELD = "ann.lee@example.com"
READ = ProbeCall(tool="read", arguments={"id": "it's"}, changes=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with on_loopback(Desk) as url:
        make_project(tmp_path, url)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


def probed(suite: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(harness("probe", suite, "--json-output")[1])
    return document


def repeated(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "harness"
    return harness(*words[1:])[1]


# ── Commands ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suite", often(["leaky", "faulty", "headed"]))
def test_the_command_of_every_finding_shows_it_again(project: Path, suite: str) -> None:
    found = probed(suite)["findings"]
    commands = {finding["words"]: finding["request"]["command"] for finding in found}
    short = {words: one for words, one in commands.items() if "is oversized" not in words}
    assert len(short) >= 2
    assert [words for words, one in short.items() if WITHHELD not in repeated(one)] == []


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
    origin = Origin(suites=["shop"], servers=["python my server.py"])
    stale = ProbeCaller(
        name="admin: an expired token",
        user_context={"role": "admin"},
        credential="expired",
        bases=("admin",),
    )
    command = origin.command(stale, READ, meta={"a": 1}, times=3)
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
    assert '--user-context \'{"role": "\\u0430dmin"}\'' in str(Origin().command(damaged, READ))


def test_a_command_that_nobody_could_paste_is_left_out() -> None:
    large = ProbeCaller(name="x", user_context={"role": "x" * 50_000}, bases=("admin",))
    assert Origin().command(large, READ) is None


# ── JSON-RPC ─────────────────────────────────────────────────────────────────────────────────


def test_the_request_of_a_smuggled_identity_has_it_in_the_arguments(project: Path) -> None:
    found = probed("faulty")["findings"]
    smuggled = next(one for one in found if one["problem"] == "smuggled_identity")["request"]
    message = json.loads(smuggled["jsonrpc"])
    assert message["method"] == "tools/call"
    assert message["params"]["arguments"]["role"] == "admin"
    assert message["params"].get("_meta", {}).get(KEY) != {"role": "admin"}


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
    found = json.loads(harness("probe", "listed", "--named-only", "--json-output")[1])["findings"]
    assert [one["request"] for one in found if "is in the list" in one["words"]] == [None]
