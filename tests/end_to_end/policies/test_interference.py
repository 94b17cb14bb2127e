"""Withheld values altered by ``harness probe``: what depends on them is found, and nothing else."""

from __future__ import annotations

import json
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.reports.sections.remarks import select_marked
from tests.end_to_end.harness_process import Finished, Project
from tests.end_to_end.policies import telling_server
from tests.evidence.made_logs import harness

SERVER = Path(__file__).with_name("telling_server.py")


def asked(name: str, tool: str, **arguments: str) -> dict[str, Any]:
    return {
        "name": name,
        "prompt": "Show it.",
        "tool": {"tool": tool, "args": arguments},
        "expect": {"admin": ["allowed", "filtered"]},
    }


TESTS = [
    asked("team", "list_people", team="blue"),
    asked("record", "get_person", person_id="P-1003"),
    asked("number", "count_people", team="blue"),
]
CHANGE = {"tool": "set_salary", "args": {"person_id": "P-1003", "salary": 123400}}
SALARY = {
    "alters": "salary",
    "description": "what P-1003 earns",
    "b": {"env": {"SALARY": "123400"}},
}
PERSON = {
    "alters": "person_id",
    "description": "whether P-1005 exists",
    "b": {"env": {"ABSENT": "P-1005"}},
}
TELLING: dict[str, tuple[dict[str, Any], str, str]] = {
    "order": (SALARY, 'list_people(team="blue")', "people[0].person_id is"),
    "cursor": (SALARY, "list_people", 'cursor is "'),
    "sum": (SALARY, 'list_people(team="blue")', "payroll is"),
    "average": (SALARY, 'list_people(team="blue")', "average is"),
    "rounded": (SALARY, 'get_person(person_id="P-1003")', "band is 6 in A, 12 in B"),
    "same_name": (SALARY, 'get_person(person_id="P-1003")', "salary is 60000 in A, 120000 in B"),
    "masked": (SALARY, 'get_person(person_id="P-1003")', 'salary is "*****" in A, "******" in B'),
    "digest": (SALARY, 'get_person(person_id="P-1003")', 'etag is "'),
    "search": (SALARY, "query=", "the number of items in people is 1 in A, 0 in B"),
    "filter": (SALARY, "min_salary=", "the number of items in people is 0 in A, 1 in B"),
    "sort": (SALARY, 'sort_by="salary"', "people[0].person_id is"),
    "undeclared": (SALARY, "salary=", "the number of items in people is 1 in A, 0 in B"),
    "top": (SALARY, "limit=1", "people[0].person_id is"),
    "described": (SALARY, "what is shown before any call", "list_people.description in"),
    "meta": (SALARY, 'get_person(person_id="P-1003")', "paid in _meta of the result is"),
    "language": (SALARY, 'query="salary=', "the number of items in people is"),
    "paged": (SALARY, 'cursor="page-2"', "people[0].person_id is"),
    "notified": (SALARY, 'list_people(team="blue")', "a message of the server"),
    "total": (PERSON, 'list_people(team="blue")', "total is 4 in A, 3 in B"),
    "more": (PERSON, 'list_people(team="blue")', "has_more is true in A, false in B"),
    "count": (PERSON, 'count_people(team="blue")', "people is 4 in A, 3 in B"),
    "oracle": (PERSON, 'get_person(person_id="P-1005")', "outcome is denied in A, tool_error in B"),
    "limit_error": (PERSON, "limit=1000000000", "is at most 4"),
    "suggest": (PERSON, "get_person", "the text is"),
    "resource": (PERSON, "what is shown before any call", "All 8 people"),
    "pages": (PERSON, 'list_people(team="blue")', "the number of items in people is 2 in A, 3 in"),
}
"""Fault → what is altered, the call that shows it, and how."""


def probe(
    project: Project,
    faults: str,
    *alterations: dict[str, Any],
    seed: str = "1",
    tests: list[dict[str, Any]] = TESTS,
    **server: Any,
) -> Finished:
    given = {
        "command": sys.executable,
        "args": ["-I", "-S", str(SERVER), faults, seed],
        "protocol": "legacy",
        **server,
    }
    project.suite(
        "people",
        tests,
        identities={"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
        defaults={"as": ["admin", "clerk", "anonymous"]},
        server={key: value for key, value in given.items() if value is not None},
        interference=[*alterations],
    )
    return probed("people", "--report", "junit:out.xml")


def probed(suite: str, *options: str) -> Finished:
    """Probe in this process: a process of its own would prove nothing more, and start for long."""
    code, stdout = harness("probe", suite, "--named-only", "--json-output", *options)
    return Finished(code, stdout, "")


@pytest.fixture(autouse=True)
def _in_its_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)


def interfering(finished: Finished) -> list[dict[str, Any]]:
    return [one for one in finished.document["findings"] if one["problem"] == "interference"]


@pytest.mark.slow
def test_nothing_depends_on_what_a_sound_server_withholds(project: Project) -> None:
    finished = probe(project, "", SALARY, tests=TESTS[1:2])
    assert finished.code == 0, finished.stdout
    assert finished.document["findings"] == []
    for one in finished.document["altered"]:
        assert (one["may_see"], one["must_not_see"]) == (["admin"], ["clerk", "anonymous"])
        assert (one["fault"], one["dependent"], one["may_depend"]) == (None, 0, [])
        # The server gives each answer another id: that is told, and no evidence.
        assert one["varying_places"] > one["varying_answers"] > 0
        assert one["answers"] > 10


@pytest.mark.slow
def test_an_order_by_a_withheld_value_is_a_finding_like_any_other(project: Project) -> None:
    finished = probe(project, "order", SALARY, tests=TESTS[:1])
    assert finished.code == 1
    (finding,) = interfering(finished)
    assert finding["callers"] == ["clerk"]
    assert finding["words"] == (
        'list_people(team="blue") as clerk depends on what P-1003 earns (salary), which admin may '
        "see"
    )
    shown, alone = finding["shown"]
    assert 'people[0].person_id is "P-1001" in A, "P-1003" in B' in shown
    assert finding["request"]["arguments"] == {"team": "blue"}
    assert finding["request"]["user_context"] == {"role": "clerk"}
    report = build_report(project.log())
    assert exit_code(report) == 1
    told = [check.explanation for result in report.results for check in result.checks]
    assert f"{finding['words']}\n{shown}\n{alone}" in told
    # A refusal that is only compared needs no remark that nothing succeeded.
    assert not [case for case in select_marked(report) if " with A of " in case.case]
    whole = ET.parse(project.folder / "out.xml").getroot()
    assert int(whole.get("failures", 0)) == 1


@pytest.mark.slow
def test_who_may_depend_on_a_value_is_no_finding_and_is_named(project: Project) -> None:
    released = {**SALARY, "may_depend": [{"tool": "list_people", "fields": ["payroll"]}]}
    finished = probe(project, "sum", released)
    assert (finished.code, interfering(finished)) == (0, []), finished.stdout
    assert finished.document["altered"][0]["may_depend"] == ["list_people: payroll"]


@pytest.mark.slow
def test_a_call_can_alter_the_value(project: Project) -> None:
    change = {"alters": "salary", "b": {"setup": [CHANGE]}, "setup_as": "admin"}
    finished = probe(project, "order", change)
    assert [one["callers"] for one in interfering(finished)] == [["clerk"]]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        result = telling_server.answer_to(request["method"], request.get("params") or {})
        missing = {"error": {"code": -32601, "message": "Method not found"}}
        body = missing if result is None else {"result": result}
        reply = {"jsonrpc": "2.0", "id": request.get("id"), **body}
        data = json.dumps(reply).encode() if "id" in request else b""
        self.send_response(200 if data else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that runs already, and sorts by what it withholds."""
    monkeypatch.setattr(telling_server, "FAULTS", frozenset({"order"}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["reset", "setup"])
def test_a_running_server_is_set_up_anew_each_time_and_left_as_it_was(
    project: Project, running: str, how: str
) -> None:
    back = {"tool": "set_salary", "args": {"person_id": "P-1003", "salary": 61250}}
    alteration = {
        "alters": "salary",
        "b": {"setup": [CHANGE]},
        "setup_as": "admin",
        **({} if how == "reset" else {"a": {"setup": [back]}}),
    }
    server: dict[str, Any] = {"command": None, "args": None, "url": running}
    server |= {"reset": {"tool": "reset_data"}} if how == "reset" else {}
    finished = probe(project, "", alteration, **server)
    assert finished.code == 1, finished.stdout
    assert [one["callers"] for one in interfering(finished)] == [["clerk"]]
    assert telling_server.PEOPLE[2]["salary"] == 61_250


@pytest.mark.slow
def test_a_running_server_is_left_as_it_was_when_its_setup_fails_half_way(
    project: Project, running: str
) -> None:
    broken = {"tool": "set_salary", "args": {"person_id": "P-9999", "salary": 1}}
    alteration = {"alters": "salary", "b": {"setup": [CHANGE, broken]}, "setup_as": "admin"}
    server: dict[str, Any] = {"command": None, "args": None, "url": running}
    finished = probe(project, "", alteration, reset={"tool": "reset_data"}, **server)
    assert finished.code == 4, finished.stdout
    assert telling_server.PEOPLE[2]["salary"] == 61_250


def test_an_alteration_that_nobody_sees_is_an_error_and_no_success(project: Project) -> None:
    finished = probe(project, "", {"alters": "salary", "b": {"env": {"SALERY": "1"}}})
    assert finished.code == 4
    assert finished.document["altered"][0]["fault"] == (
        "the alteration changed nothing that anybody may see: nobody's answers have another "
        "'salary' (does the suite ask for the record that has it?)"
    )
    report = build_report(project.log())
    assert exit_code(report) == 4
    errors = [result.error.message for result in report.results if result.error]
    assert any("changed nothing" in message for message in errors)


@pytest.mark.slow
def test_data_that_cannot_be_set_up_are_an_error_and_no_success(project: Project) -> None:
    alteration = {"alters": "salary", "b": {"setup": [CHANGE]}, "setup_as": "clerk"}
    finished = probe(project, "", alteration)
    assert finished.code == 4
    assert "set_salary as clerk: unknown_tool" in "".join(finished.document["lost"])
    assert "not both sets of data were reached" in finished.document["altered"][0]["fault"]
    assert exit_code(build_report(project.log())) == 4


def test_a_declaration_that_cannot_work_is_an_error_before_anything_is_asked(
    project: Project,
) -> None:
    finished = probe(project, "", {**SALARY, "withheld_from": ["clark"]})
    assert finished.code == 3
    assert "there is no identity 'clark'" in finished.stdout
    assert "Did you mean 'clerk'?" in finished.stdout


@pytest.mark.slow
@pytest.mark.parametrize("fault", TELLING)
def test_each_way_to_tell_of_a_withheld_value_is_found(project: Project, fault: str) -> None:
    alteration, call, how = TELLING[fault]
    finished = probe(project, fault, alteration)
    assert finished.code == 1
    found = interfering(finished)
    assert any(
        call in one["words"] and any(how in line for line in one["shown"]) for one in found
    ), found
    assert exit_code(build_report(project.log())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_nothing_is_found_with_other_data(project: Project, seed: int) -> None:
    finished = probe(project, "", SALARY, PERSON, seed=str(seed))
    assert (finished.code, finished.document["findings"]) == (0, []), finished.stdout


@pytest.mark.slow
def test_nothing_of_ours_depends_on_what_the_suites_alter() -> None:
    finished = probed("hr_access")
    assert (finished.code, finished.document["findings"]) == (0, []), finished.stdout
    accounts = finished.document["altered"]
    assert [one["field"] for one in accounts] == ["annual_salary", "home_address", "sick_days"]
    for one in accounts:
        assert (one["may_see"], one["dependent"], one["fault"]) == (["hr_admin"], 0, None)
    assert accounts[0]["may_depend"] == ["get_salary_statistics: average_salary"]
