"""What one tool is asked with, every tool that takes the like is asked with."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.probing.arguments.outside_places import leads_out
from harness.probing.arguments.shared_values import find_meaning
from harness.probing.report import ProbeReport
from harness.types import Caller, Case, Check
from tests.probing.desk import LIST, RECORDS, Desk, found, tool
from tests.probing.desk import probed as probe_desk
from tests.probing.test_findings import ALICE, BOBBY, CALLED, failed, known, printed, probed, said

FILES = {
    "/srv/reports/hours.txt": "Open from nine to five, on Saturdays until noon.",
    "/srv/payroll/june.txt": "Ines Okafor was paid 52,214 in June.",
}
ATTACK = "/srv/reports/../payroll/june.txt"
PATH = {"path": {"type": "string"}}


def suite(name: str, *arguments: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return a suite in which two identities must be refused these calls of one tool."""
    checks = tuple(
        Check(kind="decision", params={"tool": name, "args": dict(one), "is": ["denied"]})
        for one in arguments
    )
    return tuple(
        Case(name=who, prompt="-", checks=checks, caller=Caller(user_context=user, identity=who))
        for who, user in (("alice", ALICE), ("bobby", BOBBY))
    )


class Shelf:
    """Two tools read files below one folder; each may look for two dots, or fail to."""

    def __init__(
        self, *careless: str, second: Mapping[str, Any] = PATH, root: str = "/srv/reports/"
    ) -> None:
        self.careless, self.root = careless, root
        self.tools = [tool("read_report", PATH, "path"), tool("read_notes", second, *second)]

    def answer(self, method: str, user: Mapping[str, Any] | None, _: object) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": self.tools}
        if known(user) == "nobody":
            return failed("Access denied: please sign in")
        if CALLED.tool == "whoami":
            return said("", id=known(user))
        (given,) = CALLED.arguments.values()
        path = str(given[0] if isinstance(given, list) else given)
        if ".." in path and CALLED.tool not in self.careless:
            return failed("Access denied: the path leads out of the folder")
        if not path.startswith(self.root):
            return failed("Access denied: only reports are shown")
        text = self.read(path)
        return failed("There is no such file") if text is None else said(text)

    def read(self, path: str) -> str | None:
        """Return the text of a file."""
        return FILES.get(posixpath.normpath(path))


def opened(report: ProbeReport) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(one.call, one.callers) for one in report.findings if one.problem == "unchecked_value"]


@pytest.mark.parametrize(
    "second",
    [
        PATH,
        {"file_path": {"type": "string"}},
        {"files": {"type": "array", "items": {"type": "string"}}},
    ],
    ids=["equal", "alike", "list"],
)
def test_an_attack_on_one_tool_is_tried_on_every_tool_that_takes_the_like(
    tmp_path: Path, second: dict[str, Any]
) -> None:
    shelf = Shelf("read_notes", second=second)
    report = probed(tmp_path, shelf.answer, cases=suite("read_report", {"path": ATTACK}))
    ((call, callers),) = opened(report)
    assert str(call).startswith("read_notes(")
    assert callers == ("alice", "bobby")
    assert report.exit_code == 1
    assert "No problem was found" not in printed(report)


def test_what_is_refused_to_everybody_is_no_coverage_and_says_nothing_of_the_server(
    tmp_path: Path,
) -> None:
    shelf = Shelf()
    shelf.tools.append(tool("whoami", {}))
    report = probed(tmp_path, shelf.answer, cases=suite("read_report", {"path": ATTACK}))
    assert (report.findings, report.exit_code) == ((), 0)
    assert (report.coverage.covered_cells, report.coverage.cells) == (3, 9)
    assert "3 of 9 asked" in printed(report)
    assert "No problem was found" not in printed(report)
    assert "Too little was asked to find the server in order" in printed(report)


def test_what_works_for_somebody_makes_the_refusals_of_others_coverage(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.tools.append(tool("whoami", {}))
    cases = suite("read_report", {"path": ATTACK}, {"path": "/srv/reports/hours.txt"})
    report = probed(tmp_path, shelf.answer, cases=cases)
    # Anonymous callers are refused by both tools: that is known since others are not.
    assert report.coverage.percent == 100
    assert [one.problem for one in report.findings] == ["unexpected", "unexpected"]


class Clamping(Shelf):
    """Its second tool drops what leads above its folder, as a sound server may."""

    def read(self, path: str) -> str | None:
        if CALLED.tool == "read_notes":
            path = posixpath.normpath("/" + path).lstrip("/")
        return {"june.txt": FILES["/srv/payroll/june.txt"]}.get(path)


def test_a_detour_that_opens_nothing_is_no_finding(tmp_path: Path) -> None:
    cases = suite("read_report", {"path": "../../june.txt"})
    report = probed(tmp_path, Clamping("read_notes", root="").answer, cases=cases)
    assert opened(report) == []


class Batching(Shelf):
    """Its second tool reads many files, and tells what is wrong with one in a result that is ok."""

    def answer(self, method: str, user: Mapping[str, Any] | None, sent: object) -> dict[str, Any]:
        result = super().answer(method, user, sent)
        if method == "tools/list" or CALLED.tool != "read_notes" or not result.get("isError"):
            return result
        (path,) = CALLED.arguments["files"]
        folder = posixpath.dirname(posixpath.normpath(path))
        return said("", content=f"{path}: Error - Access denied - {folder} is not in {self.root}")


def test_a_failure_of_one_file_in_a_batch_that_succeeded_is_no_open_door(tmp_path: Path) -> None:
    shelf = Batching(second={"files": {"type": "array", "items": {"type": "string"}}})
    report = probed(tmp_path, shelf.answer, cases=suite("read_report", {"path": ATTACK}))
    assert opened(report) == []


PEOPLE = {
    "Oslo": [{"person_id": "P-4411", "email": "ines.okafor@clients.example", "city": "Oslo"}],
    "Rome": [{"person_id": "P-7730", "email": "tomas.rivera@clients.example", "city": "Rome"}],
}
CITY = {"city": {"type": "string"}}
SEARCHES = tuple(
    Case(
        name=f"{who} {city}",
        prompt="-",
        checks=(
            Check(kind="decision", params={"tool": name, "args": {"city": city}, "is": [due]}),
        ),
        caller=Caller(user_context=user, identity=who),
    )
    for who, user, due in (("alice", ALICE, "denied"), ("bobby", BOBBY, "allowed"))
    for name, city in (("search_people", "all"), ("get_office", "Oslo"))
)


def search(method: str, user: Mapping[str, Any] | None, _: object) -> dict[str, Any]:
    """Answer as a desk where a list of everybody is bobby's alone, and each city is open."""
    if method == "tools/list":
        return {"tools": [tool(name, CITY, "city") for name in ("search_people", "get_office")]}
    city = str(CALLED.arguments.get("city"))
    if CALLED.tool == "get_office" or known(user) == "nobody":
        return said("", office="Main Street 1") if known(user) != "nobody" else failed("Denied")
    if city == "all" and known(user) != "bobby":
        return failed("Access denied: choose a city")
    people = [one for each in PEOPLE.values() for one in each]
    return said("", people=people if city == "all" else PEOPLE.get(city, []))


def test_a_refused_list_of_everything_withholds_no_row_of_a_smaller_one(tmp_path: Path) -> None:
    assert opened(probed(tmp_path, search, cases=SEARCHES)) == []


class LetterDesk(Desk):
    """Shows the whole record in a letter, by ids that only its list gives."""

    tools = (LIST, tool("get_letter", {"record": {"type": "string"}}, "record"))

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        if CALLED.tool != "get_letter":
            return super().called(role, arguments)
        found_one = RECORDS.get(str(arguments["record"]))
        if role not in ("admin", "clerk"):
            return failed("Access denied: administrators and clerks only")
        return self.missing(None) if found_one is None else said(json.dumps(found_one), **found_one)


@pytest.mark.slow
def test_an_id_that_an_answer_has_is_tried_where_only_a_made_up_one_was_known(
    tmp_path: Path,
) -> None:
    report = probe_desk(tmp_path, LetterDesk())
    assert "email" in found(report, "unchecked_value")
    asked = {cell.tool for cell in report.coverage.never_asked}
    assert "get_letter" not in asked


@pytest.mark.parametrize(
    ("value", "leads"),
    [
        ("../x", True),
        ("a/../../x", True),
        ("/srv/a/../b", True),
        ("..%2f..%2fx", True),
        ("%252e%252e/x", True),
        ("..\\x", True),
        ("/etc/passwd", True),
        ("file:///srv/x", True),
        ("http://169.254.169.254/latest", True),
        ("/srv/a/../a/b", False),
        ("notes../x", False),
        ("/srv/a", False),
        ("https://example.org/../x", False),
        (7, False),
    ],
)
def test_paths_that_lead_out_are_told_from_others(value: object, leads: bool) -> None:
    assert leads_out(value) is leads


@pytest.mark.parametrize(
    ("name", "thing", "other", "other_thing"),
    [
        ("customer_id", "x", "customerId", "y"),
        ("customer_id", "x", "id", "get_customer"),
        ("customer_id", "x", "id", "customers[]"),
        ("path", "x", "source_file", "y"),
        ("paths", "x", "path", "y"),
    ],
)
def test_names_that_mean_the_same_share_their_values(
    name: str, thing: str, other: str, other_thing: str
) -> None:
    assert find_meaning(name, thing) == find_meaning(other, other_thing)


def test_a_bare_id_is_that_of_its_own_thing() -> None:
    assert find_meaning("id", "get_order") != find_meaning("id", "get_customer")
