"""What a suite says that an identity never gets is looked for on every road to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.judging import Result
from harness.judging.checks import VOCABULARY
from harness.probing.report import ProbeReport
from harness.probing.roads.shared_state import CANARY, describe_change
from harness.suites.readers import read_suite
from harness.types import Case, Outcome, ToolCall
from tests.probing.desk import GET, RECORDS, Desk, tool
from tests.probing.test_findings import CALLED, failed, said
from tests.probing.test_findings import probed as probe_of

ID = {"record_id": {"type": "string", "description": "Such as R-1."}}
SUM_UP = tool("sum_up", ID, "record_id")
FIND = tool("find_records", {"query": {"type": "string"}}, "query")
SELECT = tool("select_fields", {**ID, "fields": {"type": "string"}}, "record_id")


def cases(folder: Path, clerk: Any) -> tuple[Case, ...]:
    """Return a suite that says what the clerk gets of the record R-1."""
    expect = {"admin": "allowed", "clerk": clerk, "anonymous": "denied"}
    asked = {"tool": "get_record", "args": {"record_id": "R-1"}}
    document = {
        "suite": "desk",
        "server": "desk",
        "identities": {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
        "defaults": {"as": ["admin", "clerk", "anonymous"]},
        "tests": [
            {"name": "one", "prompt": "-", "tool": asked, "expect": expect},
            {
                "name": "two",
                "prompt": "-",
                "tool": {"tool": "get_record", "args": {"record_id": "R-2"}},
                "expect": {"admin": "allowed", "anonymous": "denied"},
            },
        ],
    }
    path = folder / "desk.yml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return read_suite(path, VOCABULARY).cases


class Roads(Desk):
    """The record R-1 is the administrators'; one further tool may forget that."""

    def __init__(self, second: Mapping[str, Any], *, careless: bool, hides: bool = True) -> None:
        self.tools = (GET, second)
        self.careless, self.hides = careless, hides

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        if role not in ("admin", "clerk"):
            return failed("Access denied: administrators and clerks only")
        is_open = role == "admin"
        given = str(arguments.get("record_id", ""))
        if CALLED.tool == "find_records":
            return self.find(arguments["query"], is_open)
        record = RECORDS.get(given)
        careless = self.careless and CALLED.tool != "get_record"
        if record is None or (self.hides and given == "R-1" and not is_open and not careless):
            return failed("Access denied: there is no such record for you")
        shown = self.shown(record, is_open)
        if CALLED.tool == "sum_up":
            return said(f"{given} is the record of {record['name']}.")
        if fields := arguments.get("fields"):
            chosen = [one for one in fields.split(",") if one in (record if careless else shown)]
            shown = {name: record[name] for name in chosen}
        return said(json.dumps(shown), **shown)

    def find(self, query: str, is_open: bool) -> dict[str, Any]:
        """Return the records that have a word; careless in what is not shown, too."""
        rows = []
        for record in RECORDS.values():
            shown = self.shown(record, is_open)
            if query and query in str(record if self.careless else shown):
                rows.append(shown)
        return said(json.dumps({"records": rows}), records=rows)


def probed(folder: Path, roads: Roads, clerk: Any) -> ProbeReport:
    own = cases(folder, clerk)
    return probe_of(folder, roads.answer, cases=own, protocol="auto")


def found(report: ProbeReport) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(one.call, one.callers) for one in report.findings if one.problem == "other_road"]


@pytest.mark.slow
def test_a_record_that_an_identity_never_gets_is_found_in_a_tool_that_the_suite_does_not_name(
    tmp_path: Path,
) -> None:
    careless = probed(tmp_path, Roads(SUM_UP, careless=True), "never")

    assert ('sum_up(record_id="R-1")', ("clerk",)) in found(careless)
    assert not found(probed(tmp_path, Roads(SUM_UP, careless=False), "never"))


@pytest.mark.slow
def test_what_is_merely_refused_in_one_call_is_no_finding_elsewhere(tmp_path: Path) -> None:
    report = probed(tmp_path, Roads(SUM_UP, careless=True), "denied")

    assert not found(report)


@pytest.mark.slow
@pytest.mark.parametrize("second", [FIND, SELECT], ids=["found by its value", "among the fields"])
def test_a_field_that_an_identity_never_gets_is_asked_for_by_name_and_sought_by_its_value(
    tmp_path: Path, second: Mapping[str, Any]
) -> None:
    clerk = {"decision": "filtered", "never": ["email", "salary"]}
    careless = Roads(second, careless=True, hides=False)
    sound = Roads(second, careless=False, hides=False)

    assert [callers for _, callers in found(probed(tmp_path, careless, clerk))]
    assert not found(probed(tmp_path, sound, clerk))


def test_never_is_a_refusal_or_fields_left_out_and_more(tmp_path: Path) -> None:
    (short,) = cases(tmp_path, "never")[1].checks
    (long,) = cases(tmp_path, {"decision": "filtered", "never": "email"})[1].checks

    assert (short.params["is"], short.params["never"]) == (["denied", "hidden"], True)
    assert (long.params["without"], long.params["never"]) == (["email"], ["email"])


def answered(text: str, outcome: Outcome = "ok") -> Result:
    """Return the answer to a call; a text that is JSON is its structured result."""
    structured = json.loads(text) if text.startswith("{") else None
    call = ToolCall(
        tool="search", arguments={}, outcome=outcome, text=text, structured=structured, reply=1
    )
    return Result(call=call)


@pytest.mark.parametrize(
    ("one", "two", "three", "words"),
    [
        ('{"searches_left": 9}', '{"searches_left": 8}', '{"searches_left": 0}', "counts"),
        ('{"searches_left": 9}', '{"searches_left": 8}', '{"searches_left": 7}', None),
        ('{"searches_so_far": 1}', '{"searches_so_far": 2}', '{"searches_so_far": 11}', None),
        ("no", "no", f"last: {CANARY} bobby", "tells"),
    ],
)
def test_a_counter_of_what_is_left_and_the_text_of_another_are_shared(
    one: str, two: str, three: str, words: str | None
) -> None:
    said = describe_change(answered(one), answered(two), answered(three), "bobby")

    assert (said or "").split()[:1] == ([words] if words else [])


def test_who_is_shut_out_by_anothers_calls_shares_a_lock_and_who_shut_themselves_out_does_not() -> (
    None
):
    wrong, locked = (
        answered(text, "denied") for text in ("Access denied: wrong code", "Locked: too many")
    )

    assert "shut" in (describe_change(wrong, wrong, locked, "bobby") or "")
    assert describe_change(wrong, locked, locked, "bobby") is None
