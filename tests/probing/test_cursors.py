"""A cursor that one identity was given, sent by another one: on servers with and without faults."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harness.judging.policy.views import Result
from harness.probing.arguments.argument_names import (
    find_cursor_argument,
    get_cursor,
    is_cursor_field,
)
from harness.probing.replay import get_request
from harness.probing.report import ProbeReport
from harness.types import (
    Caller,
    Case,
    JsonObject,
    Tool,
    ToolCall,
)
from tests.probing.test_findings import CALLED, failed, said
from tests.probing.test_findings import probed as probe_of

CASES = tuple(
    Case(
        name=name, prompt="-", checks=(), caller=Caller(user_context={"role": name}, identity=name)
    )
    for name in ("admin", "clerk")
)
PEOPLE = [
    {"id": f"P-{n}", "name": f"Person {n}", "salary": 51_230 + 977 * n, "team": n % 2}
    for n in range(6)
]
TOOL: JsonObject = {
    "name": "list_people",
    "inputSchema": {"type": "object", "properties": {"cursor": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
PAGE = 2


def slow(*faults: str) -> list[Any]:
    return [pytest.param(fault, marks=pytest.mark.slow) for fault in faults]


def visible(role: str | None, fault: str) -> list[dict[str, Any]]:
    """Return what a role may see: by rows where ``fault`` says so, else by fields."""
    if role == "admin":
        return PEOPLE
    if "rows" in fault:
        return [one for one in PEOPLE if one["team"] == 0]
    return [{key: one[key] for key in ("id", "name", "team")} for one in PEOPLE]


class Server:
    """Lists people by pages; its cursors are sound, or as `fault` says.

    ``role``: a cursor holds the role that it was given to. ``saved``: the server keeps the rows of
    each cursor. ``once``: a cursor is taken only once. ``refused``: nobody but an administrator may
    list. ``moving``: a record is added with every call.
    """

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.saved: dict[str, list[dict[str, Any]]] = {}
        self.spent: set[str] = set()
        self.numbers = count()

    def answer(
        self, method: str, user: Mapping[str, Any] | None, _token: str | None
    ) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": [TOOL]}
        role, cursor = (user or {}).get("role"), CALLED.arguments.get("cursor")
        first: dict[str, Any] = {"at": 0, "role": role}
        told = first if cursor is None else self.read(cursor)
        if told is None:
            return failed("invalid cursor")
        believed = told["role"] if "role" in self.fault else role
        if "refused" in self.fault and believed != "admin":
            return failed("Access denied: administrators only")
        rows = visible(believed, self.fault)
        if "moving" in self.fault:
            added = range(next(self.numbers))
            rows = [*rows, *({"id": f"N-{n}", "name": f"New {n}"} for n in added)]
        if "saved" in self.fault and cursor is not None:
            rows = self.saved[cursor]
        return self.page(rows, told["at"], role)

    def read(self, cursor: str) -> dict[str, Any] | None:
        """Return what a cursor says; ``None`` if it is not taken."""
        try:
            told: dict[str, Any] = json.loads(base64.b64decode(cursor))
        except ValueError:
            return None
        if "once" in self.fault and cursor in self.spent:
            return None
        self.spent.add(cursor)
        return told

    def page(self, rows: list[dict[str, Any]], at: int, role: str | None) -> dict[str, Any]:
        page: dict[str, Any] = {"people": rows[at : at + PAGE]}
        if at + PAGE < len(rows):
            numbered = "saved" in self.fault or "once" in self.fault
            facts = {"at": at + PAGE, "role": role, "n": next(self.numbers) if numbered else 0}
            after = base64.b64encode(json.dumps(facts).encode()).decode()
            self.saved[after] = rows
            page["nextCursor"] = after
        return said(json.dumps(page), **page)


def probed(folder: Path, server: Server | Lister) -> ProbeReport:
    return probe_of(folder, server.answer, cases=CASES, damaged=True, most=2)


def by_cursors(report: ProbeReport) -> dict[str, str]:
    return {
        finding.callers[0]: finding.words
        for finding in report.findings
        if "with the cursor that" in finding.words
    }


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["role", *slow("rows saved", "saved", "role once", "rows role")])
def test_a_cursor_that_opens_what_its_owner_may_see_is_found(tmp_path: Path, fault: str) -> None:
    found = by_cursors(probed(tmp_path, Server(fault)))
    assert found.keys() == {"clerk", "anonymous"}
    field = "people[].id" if "rows" in fault else "people[].salary"
    assert f"list_people() gives clerk {field}" in found["clerk"]
    assert found["clerk"].endswith(
        "with the cursor that admin was given, and with none of their own"
    )


@pytest.mark.slow
def test_a_cursor_that_lets_in_whoever_is_refused_is_found(tmp_path: Path) -> None:
    assert by_cursors(probed(tmp_path, Server("refused role"))).keys() == {"clerk", "anonymous"}


@pytest.mark.parametrize(
    "fault", ["rows", *slow("rows moving", "", "once", "rows once", "refused", "moving")]
)
def test_a_server_that_looks_at_who_sends_a_cursor_has_no_finding(
    tmp_path: Path, fault: str
) -> None:
    assert by_cursors(probed(tmp_path, Server(fault))) == {}


# ── Lists of the server itself ───────────────────────────────────────────────────────────────

LISTS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "prompts/list": ("prompts", "name"),
}


class Lister:
    """Lists by pages of two what an identity may use; an administrator alone may use the last.

    Of the list ``faulty`` the cursors hold the role that they were given to, and it is believed.
    """

    def __init__(self, faulty: str | None = None) -> None:
        self.faulty = faulty

    def answer(
        self, method: str, user: Mapping[str, Any] | None, _token: str | None
    ) -> dict[str, Any] | None:
        if method not in LISTS:
            return said("nothing")
        role, start = (user or {}).get("role"), 0
        if CALLED.cursor is not None:
            believed, start = json.loads(CALLED.cursor)
            role = believed if method == self.faulty else role
        key, name = LISTS[method]
        rows = [
            {**TOOL, name: f"{key}-{n}", "annotations": {"readOnlyHint": n == 0}}
            for n in range(4 if role == "admin" else 3)
        ]
        following = {"nextCursor": json.dumps([role, start + PAGE])}
        return {key: rows[start : start + PAGE], **(following if start + PAGE < len(rows) else {})}


class SilentLister(Lister):
    """Closes the connection on whoever sends a cursor that somebody else was given."""

    def answer(
        self, method: str, user: Mapping[str, Any] | None, token: str | None
    ) -> dict[str, Any] | None:
        role = (user or {}).get("role")
        if CALLED.cursor is not None and json.loads(CALLED.cursor)[0] != role:
            return None
        return super().answer(method, user, token)


@pytest.mark.slow
def test_a_page_that_is_never_answered_is_lost_and_no_refusal(tmp_path: Path) -> None:
    report = probed(tmp_path, SilentLister())
    assert (report.findings, report.exit_code) == ((), 4)
    assert any("tools/list" in line for line in report.lost), report.lost


@pytest.mark.parametrize("method", ["tools/list", *slow(*[*LISTS][1:])])
def test_a_cursor_that_lists_what_only_its_owner_may_use_is_found(
    tmp_path: Path, method: str
) -> None:
    report = probed(tmp_path, Lister(method))
    found = by_cursors(report)
    key, _ = LISTS[method]
    assert found.keys() == {"clerk", "anonymous"}
    assert found["clerk"] == (
        f"{method}() gives clerk {key}-3 with the cursor that admin was given, and with none of "
        "their own"
    )
    finding = next(one for one in report.findings if one.problem == "foreign_cursor")
    request = get_request(finding, report.report)
    assert request is not None
    assert request["command"] is None  # `harness call` calls tools alone
    message = json.loads(request["jsonrpc"])
    assert (message["method"], message["params"]["cursor"]) == (method, '["admin", 2]')


@pytest.mark.slow
def test_a_server_that_lists_by_who_sends_the_cursor_has_no_finding(tmp_path: Path) -> None:
    report = probed(tmp_path, Lister())
    assert by_cursors(report) == {}
    assert report.forged["cursor"] >= 2 * len(LISTS)


# ── Names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["cursor", "page_token", "nextToken", "starting_after"])
def test_an_argument_takes_a_cursor_by_its_name(name: str) -> None:
    assert find_cursor_argument(a_tool(name, {"type": "string"})) == name
    assert (
        find_cursor_argument(a_tool(name, {"anyOf": [{"type": "null"}, {"type": "string"}]}))
        == name
    )
    assert find_cursor_argument(a_tool(name, {"type": ["string", "null"]})) == name
    assert find_cursor_argument(a_tool(name, {})) == name
    assert find_cursor_argument(a_tool(name, {"type": "integer"})) is None


def test_other_arguments_take_none() -> None:
    assert find_cursor_argument(a_tool("customer_id", {"type": "string"})) is None
    assert find_cursor_argument(Tool(name="t", description="", input_schema={})) is None


def test_a_result_gives_the_cursor_that_goes_on() -> None:
    assert is_cursor_field("nextPageToken")
    assert not is_cursor_field("name")
    assert get_cursor(a_result({"rows": [], "next_cursor": "abc"})) == "abc"
    assert get_cursor(a_result({"rows": [], "next_cursor": ""})) is None
    assert get_cursor(a_result({"rows": [{"id": "7"}]})) is None


def a_tool(name: str, schema: JsonObject) -> Tool:
    return Tool(name="t", description="", input_schema={"properties": {name: schema}})


def a_result(value: JsonObject) -> Result:
    return Result(call=ToolCall(tool="t", arguments={}, outcome="ok", reply=0, structured=value))
