"""Which tools, parameters and allowed values a suite exercises."""

from __future__ import annotations

from pathlib import Path

from harness.descriptions.workbench.studies.coverage import STUDY
from tests.descriptions.workbench.benches import bench, case, measured, tool

TOOLS = [
    tool(
        "find",
        status={"type": "string", "enum": ["open", "shut", "lost"]},
        tags={"type": "array", "items": {"enum": ["a", "b"]}},
        urgent={"type": "boolean", "enum": [True, False]},
        limit={"type": "integer"},
    ),
    tool("get", id={"type": "string"}),
    tool("drop"),
]
CASES = [
    case("one", must_call=[{"tool": "find", "args": {"status": {"$one_of": ["open", "shut"]}}}]),
    case("two", must_call=[{"tool": "find", "args": {"tags": ["b"], "urgent": True}}, "get"]),
    case("three", must_not_call=["drop"]),
]


def test_what_no_check_wants_is_listed_tool_by_tool(tmp_path: Path) -> None:
    result = STUDY.read(bench(CASES, TOOLS), measured(tmp_path))
    assert result.headline == (
        "2 of 3 tools, 3 of 5 parameters, 4 of 7 allowed values are wanted by a check."
    )
    assert result.lines == (
        'find: 2 cases; never with limit; never with status = "lost", tags = "a", urgent = false',
        "get: 1 case; never with id",
        "drop: no case",
    )
    [finding] = result.findings
    assert "drop" in finding.text
    assert finding.certain
    assert result.notes == ("1 of 3 cases want no call by any check.",)


def test_what_the_run_really_called_stands_beside_what_was_wanted(tmp_path: Path) -> None:
    calls = measured(
        tmp_path,
        (None, {"one": [("f", "drop"), ("p", "find", {"status": "lost", "limit": 3})]}),
    )
    result = STUDY.read(bench(CASES, TOOLS), calls)
    assert "2 of 3 tools, 2 of 5 parameters, 1 of 7 allowed values were used" in result.headline
    find, get, drop = result.facts["tools"]
    assert (find["wanted_by"], find["called_by"]) == (["one", "two"], ["one"])
    assert (get["called_by"], drop["called_by"]) == ([], ["one"])
    status = find["parameters"][0]
    assert status["members"] == {'"open"': 1, '"shut"': 1, '"lost"': 0}
    assert status["members_called"] == {'"open"': 0, '"shut"': 0, '"lost"': 1}


def test_a_suite_that_wants_every_tool_has_nothing_to_report(tmp_path: Path) -> None:
    result = STUDY.read(bench([case("one", must_call=["get"])], [TOOLS[1]]), measured(tmp_path))
    assert result.findings == ()
    assert result.notes == ()


def test_a_value_that_a_check_excludes_or_wants_left_out_is_not_exercised(tmp_path: Path) -> None:
    excluded = {"$type": "string", "$not": "open"}
    args = {"status": excluded, "limit": {"$absent": True}, "tags": {"$contains": "a"}}
    cases = [case("one", must_call=[{"tool": "find", "args": args}])]
    [find, *_] = STUDY.read(bench(cases, TOOLS), measured(tmp_path)).facts["tools"]
    used = {one["name"]: (one["cases"], one["members"]) for one in find["parameters"]}
    assert used["status"] == (("one",), {'"open"': 0, '"shut"': 0, '"lost"': 0})
    assert used["limit"] == ((), {})
    assert used["tags"] == (("one",), {'"a"': 1, '"b"': 0})
