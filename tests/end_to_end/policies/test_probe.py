"""``harness probe`` as a user runs it, against a server that starts in 20 ms, sound and with a
fault at a time.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Finished, Project
from tests.end_to_end.policies.policed_server import BENT, LOOSE, SMUGGLED
from tests.often import often

SERVER = Path(__file__).with_name("policed_server.py")
RECORD, TEAM = 'get_person(person_id="P-1007")', 'list_team(team="blue")'
TESTS: list[dict[str, Any]] = [
    {
        "name": "record",
        "prompt": "Show the record of person P-1007.",
        "tool": {"tool": "get_person", "args": {"person_id": "P-1007"}},
        "expect": {"admin": "allowed"},
    },
    {
        "name": "team",
        "prompt": "List all members of the team blue.",
        "assertions": {"must_call": [{"tool": "list_team", "args": {"team": "blue"}}]},
    },
]
SETTINGS: dict[str, Any] = {
    "identities": {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
    "defaults": {"as": ["admin", "clerk", "anonymous"]},
}

ONE_CALL: dict[str, Any] = {"tests": TESTS[:1], "block": ["list_team"]}
"""Where a fault shows in any call, others only cost time."""

HOW = {
    "wildcard": "with '*' as 'person_id'",
    "sql_wildcard": "with '%' as 'person_id'",
    "no_id": "with '' as 'person_id'",
    "case_of_id": "with 'person_id' in other case",
    "spaces": "with spaces around 'person_id'",
    "flag": "with 'include_salary' set to true",
    "undeclared_flag": "with flags that the tool does not declare",
    "detail": "with 'full' as 'detail'",
    "no_limit": "with 'limit' set to -1",
    "zero_limit": "with 'limit' set to 0",
    "huge_limit": "with 'limit' set to 1000000000",
    "patient": "when it is made 12 times",
    "foreign_id": "with another's id as 'person_id'",
}
"""Fault → how a finding says what opened the door."""


def probe(
    project: Project, fault: str, *arguments: str, tests: Any = TESTS, **settings: Any
) -> Finished:
    server = {"command": sys.executable, "args": ["-I", "-S", str(SERVER), fault]}
    server["protocol"] = "legacy"
    project.suite("people", tests, **{**SETTINGS, "server": server, **settings})
    return project.run("probe", "people", *arguments, COLUMNS="120")


PROGRESS = re.compile(
    r"Probe as \d+ identities, \d+ calls each …|\d+ s, [\d,]+ calls?, no finding so far: .+"
)


def without_progress(stderr: str) -> list[str]:
    """Return the lines of stderr that do not say how far a probe without findings is."""
    return [line for line in stderr.splitlines() if not PROGRESS.fullmatch(line)]


def test_a_sound_server_passes_and_its_decisions_are_one_document(project: Project) -> None:
    finished = probe(project, "none", "--json-output")
    assert (finished.code, without_progress(finished.stderr)) == (0, [])
    document = finished.document
    assert document["identities"] == ["admin", "clerk", "anonymous"]
    clerk, anonymous = (
        document["decisions"][TEAM]["clerk"],
        document["decisions"][TEAM]["anonymous"],
    )
    assert (clerk["access"], clerk["fields"]) == ("filtered", ["members[].salary"])
    nothing: dict[str, Any] = {"fields": [], "masked": [], "partly": []}
    assert anonymous == {"access": "denied", "shape": "tool_error", **nothing}
    assert document["decisions"]["set_salary"]["clerk"]["access"] == "hidden"
    assert document["decisions"]["set_salary"]["admin"]["access"] == "listed"
    assert [each["tool"] for each in document["not_called"]] == ["set_salary"]
    assert (document["findings"], document["changed"], document["lost"], document["exit_code"]) == (
        [],
        [],
        [],
        0,
    )
    assert document["damaged_identities"] > 10
    assert min(document["forged_calls"].values()) > 10
    assert document["not_forged"] == 0
    assert project.log(document["run_id"]).header.settings["probe"] is True


def test_a_leak_is_told_and_fails(project: Project) -> None:
    finished = probe(project, "forgetful", "--named-only")
    assert finished.code == 1
    lines = finished.stdout.splitlines()
    assert lines[0].split() == ["test", "admin", "clerk", "anonymous"]
    assert "01 list_team   allowed  LEAKED ✗  denied" in lines
    assert f"01 {TEAM}" in lines
    (leak,) = (line for line in lines if line.startswith("✗ Leak"))
    assert "is left out of get_person for clerk" in leak
    assert "the structured result of call 1, list_team" in leak
    assert "Nothing is wrong" not in finished.stdout


def test_a_kept_table_notices_every_change(project: Project) -> None:
    kept = str(project.folder / "decisions.json")
    written = probe(project, "none", "--named-only", "--update", kept)
    assert (
        written.code,
        written.stdout.splitlines()[-1].startswith("These decisions are kept"),
    ) == (0, True)
    assert probe(project, "none", "--named-only", "--expect", kept).code == 0
    finished = probe(project, "blind", "--named-only", "--expect", kept, "--json-output")
    assert finished.code == finished.document["exit_code"] == 1
    assert (
        f"{RECORD} as clerk: filtered without salary before, allowed now"
        in finished.document["changed"]
    )
    assert "set_salary as clerk: hidden before, listed now" in finished.document["changed"]
    assert "unobserved" in {finding["problem"] for finding in finished.document["findings"]}


@pytest.mark.slow
def test_the_suites_own_decisions_are_held_against_the_server(project: Project) -> None:
    strict = {**TESTS[0], "expect": {"admin": "denied", "clerk": "filtered", "anonymous": "denied"}}
    hiding = {"name": "list", "prompt": "-", "tool": "list_team", "expect": {"clerk": "hidden"}}
    finished = probe(project, "none", "--named-only", "--json-output", tests=[strict, hiding])
    found = [finding["words"] for finding in finished.document["findings"]]
    assert {finding["problem"] for finding in finished.document["findings"]} == {"unexpected"}
    assert any(
        f"{RECORD} as admin: decision is allowed, expected denied" in words for words in found
    )
    assert "list_team is in the list of clerk, and the suite expects that it is hidden" in found


@pytest.mark.slow
def test_what_the_suite_gives_to_everybody_is_no_gain_for_a_damaged_identity(
    project: Project,
) -> None:
    # Nobody in particular sees all of it, and a clerk less: whoever loses their role sees more than
    # before.
    strange = probe(project, "public", "--json-output", **ONE_CALL)
    problems = {finding["problem"] for finding in strange.document["findings"]}
    assert "fails_open" in problems
    meant = [{**TESTS[0], "expect": {"admin": "allowed", "anonymous": "allowed"}}]
    told = {**ONE_CALL, "tests": meant}
    assert probe(project, "public", "--json-output", **told).document["findings"] == []


def test_without_an_identity_there_is_nothing_to_ask(project: Project) -> None:
    plain = [{**TESTS[1], "name": "record"}]
    finished = probe(
        project, "none", "--json-output", tests=plain, identities={"nobody": None}, defaults={}
    )
    assert finished.code == 2
    assert finished.document["status"] == "error"
    assert "no identity" in finished.document["error"]
    assert "no identity" in finished.stderr


def test_what_is_not_valid_is_told_in_words_and_as_json(project: Project) -> None:
    finished = probe(project, "none", "--json-output", "--expect", "nope.json")
    assert finished.code == 3
    assert "there is no such file" in finished.document["error"]
    finished = project.run("probe", "poeple")
    assert (finished.code, finished.stdout) == (3, "")
    assert "there is no suite named 'poeple'" in finished.stderr


@pytest.mark.slow
def test_an_identity_that_cannot_ask_is_no_success(project: Project) -> None:
    script = f'[ "$ROLE" = clerk ] && exit 7; exec {sys.executable} {SERVER} none'
    identity = {"via": "env", "variables": {"ROLE": "{role}"}}
    server = {"command": "sh", "args": ["-c", script], "protocol": "legacy", "identity": identity}
    finished = probe(project, "none", "--named-only", server=server, require_identity=False)
    assert finished.code == 1  # admin is refused: that is found, whoever else cannot ask
    assert "? could not ask as clerk: server" in finished.stdout
    assert "exited with code 7" in finished.stdout
    assert "Nothing is wrong" not in finished.stdout


@pytest.mark.slow
def test_a_call_that_ends_the_server_is_told_and_spoils_no_other(project: Project) -> None:
    crashing = {"tool": "set_salary", "args": {"person_id": "P-1007", "salary": 1}}
    tests = [*TESTS, {"name": "crash", "prompt": "-", "assertions": {"must_not_call": [crashing]}}]
    finished = probe(project, "none", "--named-only", "--destructive", "--json-output", tests=tests)
    assert finished.code == finished.document["exit_code"] == 4
    assert [line.split(": ")[:2] for line in finished.document["lost"]] == [
        [name, "set_salary"] for name in finished.document["identities"]
    ]
    assert finished.document["findings"] == []
    assert finished.document["decisions"][RECORD]["admin"]["access"] == "allowed"


@pytest.mark.slow
def test_a_damaged_identity_that_ends_the_server_is_no_success(project: Project) -> None:
    finished = probe(project, "brittle", "--json-output")
    document = finished.document
    assert (finished.code, document["findings"], document["not_told"]) == (4, [], [])
    lost = [line for line in document["lost"] if line.startswith("admin/clerk: role is null: ")]
    assert lost
    assert "exited with code 3" in lost[0]


@pytest.mark.slow
def test_a_call_that_fails_for_everybody_says_nothing_of_the_policy(project: Project) -> None:
    missing = {
        **TESTS[0],
        "tool": {"tool": "get_person", "args": {"person_id": "P-4004"}},
        "expect": {"clerk": "denied"},
    }
    finished = probe(project, "none", "--named-only", tests=[TESTS[1], missing])
    call = 'get_person(person_id="P-4004")'
    said = (
        f"Says nothing about the policy: {call} fails for every identity that is not refused: "
        "There is nobody with this id."
    )
    assert said in finished.stdout.splitlines()
    assert f"✗ {call} as clerk: decision is error, expected denied" in finished.stdout


def test_a_call_that_any_of_the_suites_forbids_is_never_sent(project: Project) -> None:
    crashing = {"tool": "set_salary", "args": {"person_id": "P-1007", "salary": 1}}
    tests = [{"name": "crash", "prompt": "-", "assertions": {"must_not_call": [crashing]}}]
    project.configure(
        servers={"people": {"command": sys.executable, "args": [str(SERVER)], "protocol": "legacy"}}
    )
    project.suite("people", tests, server="people", block=["set_salary"], **SETTINGS)
    project.suite("others", TESTS, server="people", block=["get_person"], **SETTINGS)
    document = project.run("probe", "--named-only", "--destructive", "--json-output").document
    assert document["not_called"] == [
        {"tool": "get_person", "reason": "it is blocked"},
        {"tool": "set_salary", "reason": "it is blocked"},
    ]
    assert set(document["decisions"]) == {TEAM, "get_person", "set_salary"}
    assert (document["lost"], document["exit_code"]) == ([], 0)


@pytest.mark.slow
@pytest.mark.parametrize("fault", often(LOOSE))
def test_a_role_that_only_looks_like_the_administrators_is_found_to_be_taken_for_it(
    project: Project, fault: str
) -> None:
    finished = probe(project, fault, "--json-output", **ONE_CALL)
    assert finished.code == 1
    words = [
        finding["words"]
        for finding in finished.document["findings"]
        if finding["problem"] == "fails_open"
    ]
    assert any("role only looks like admin" in said for said in words), words


@pytest.mark.slow
@pytest.mark.parametrize("fault", often(SMUGGLED))
def test_an_identity_in_the_arguments_that_counts_is_found_and_its_key_is_named(
    project: Project, fault: str
) -> None:
    finished = probe(project, fault, "--json-output", **ONE_CALL)
    assert finished.code == 1
    found = [
        finding["words"]
        for finding in finished.document["findings"]
        if finding["problem"] == "smuggled_identity"
    ]
    key = {
        "role_argument": "'role'",
        "as_role_argument": "'as_role'",
        "context_argument": "'user_context'",
        "identity_argument": "'identity'",
        "meta_argument": "'_meta'",
        "admin_argument": "'is_admin'",
        "nested_argument": "'options'",
    }[fault]
    (clerk,) = (
        words for words in found if key in words and f"{RECORD} gives clerk salary with" in words
    )
    assert clerk.endswith(
        f"{key} of admin in the arguments, and not without: only admin may see that"
    )


@pytest.mark.slow
def test_an_identity_in_the_requests_metadata_may_not_count_where_it_travels_elsewhere(
    project: Project,
) -> None:
    # It counts for get_person, and for list_team, as it should, it does not.
    server = {
        "command": sys.executable,
        "args": ["-I", "-S", str(SERVER), "request_meta"],
        "protocol": "legacy",
        "env": {"BY_ENVIRONMENT": "1"},
        "identity": {"via": "env", "variables": {"ROLE": "{role}"}},
    }
    document = probe(project, "request_meta", "--json-output", server=server).document
    assert {
        (finding["problem"], finding["words"].partition(" gives ")[0], *finding["callers"][:1])
        for finding in document["findings"]
    } == {("smuggled_identity", RECORD, caller) for caller in ("clerk", "anonymous")}
    assert all(
        "in _meta of the request, and not without" in finding["words"]
        for finding in document["findings"]
    )
    assert set(document["decisions"]) >= {RECORD, TEAM}


@pytest.mark.parametrize(("fault", "how"), often(HOW.items()))
def test_arguments_that_open_what_is_withheld_are_found(
    project: Project, fault: str, how: str
) -> None:
    calls = {} if fault == "foreign_id" else ONE_CALL  # other ids are known from the list
    document = probe(project, fault, "--json-output", **calls).document
    found = [
        finding["words"]
        for finding in document["findings"]
        if finding["problem"] == "opened_by_arguments" and finding["callers"] == ["clerk"]
    ]
    assert any(how in words for words in found), document["findings"]
    assert {how in words for words in found} == {True}


def test_every_bent_argument_is_planted() -> None:
    assert set(BENT) <= set(HOW)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["own_rows", "echoing"])
def test_forged_calls_find_nothing_in_a_server_that_holds_to_its_policy(
    project: Project, server: str
) -> None:
    document = probe(project, server, "--json-output").document
    assert document["findings"] == []
    assert min(document["forged_calls"].values()) > 10
    assert document["not_forged"] == 0
