"""What the kinds of a case's checks declare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base.errors import HarnessError
from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import (
    KINDS,
    ExpectedFirstCalls,
    every_check,
    expected_tools,
    find_judge_needs,
    tool_names,
    valid_calls,
    walk_checks,
    wanted_calls,
    wanted_first,
    wanted_tool,
)
from harness.judging.checks.witness.conditions import find_names
from harness.suites.readers import read_suite
from harness.types import Case, Check, Location, Turn
from tests.descriptions.workbench.benches import case, checks
from tests.judging.checks.scenes import scene

AT = Location(file="shop.yml", line=7)


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        ("must_call", "a", [("a", False)]),
        ("must_not_call", {"tool": "a", "allow_absent": True}, [("a", True)]),
        ("must_not_call", {"tool": "a", "allow_absent": False}, [("a", False)]),
        ("must_call_any", ["a", {"tool": "b", "allow_absent": True}], [("a", False), ("b", True)]),
        ("must_call_in_order", ["a", "b", "a"], [("a", False), ("b", False), ("a", False)]),
        ("graded", {"expected": ["a", "b"]}, [("a", False), ("b", False)]),
        (
            "end_state",
            {"tool": "a", "same_state_as": [{"tool": "b"}]},
            [("a", False), ("b", False)],
        ),
        ("end_state", {"tool": "a", "allow_absent": True, "path": "x", "value": 1}, [("a", True)]),
        ("any_of", [{"must_call": ["a"]}, {"must_not_call": ["b"]}], [("a", False), ("b", False)]),
        ("answer_contains", ["a"], []),
        ("max_replies", 3, []),
    ],
)
def test_every_tool_that_a_check_names_is_found(
    kind: str, value: Any, named: list[tuple[str, bool]]
) -> None:
    checks = [check.with_location(AT) for _, check in VOCABULARY.parse(kind, value)]
    found = [name for check in checks for name in tool_names(check)]
    assert [(name.tool, name.allow_absent) for name in found] == named
    assert {name.at for name in found} <= {AT}


@pytest.mark.parametrize(
    ("kind", "value", "names"),
    [
        ("must_call", ["a"], [("a", ())]),
        ("must_call", [{"tool": "a", "args": {"x": 1, "y": {"$gt": 1}}}], [("a", ("x", "y"))]),
        ("must_not_call", [{"tool": "a", "args": {"$equals": {"x": 1}}}], [("a", ("x",))]),
        (
            "must_not_call",
            [{"tool": "a", "args": {"$path": {"x.y": 1, "$": {"$any": True}}}}],
            [("a", ("x",))],
        ),
        ("must_call_in_order", ["a", {"tool": "b", "args": {"x": 1}}], [("a", ()), ("b", ("x",))]),
        ("tool_result", {"tool": "a", "args": {"x": 1}, "path": "y"}, [("a", ("x",))]),
        ("tool_result", {"path": "y"}, []),
        (
            "any_of",
            [{"must_call": [{"tool": "a", "args": {"x": 1}}]}, {"not": {"only_call": ["b"]}}],
            [("a", ("x",)), ("b", ())],
        ),
        ("answer_contains", ["a"], []),
    ],
)
def test_the_arguments_that_a_check_names_are_found(
    kind: str, value: Any, names: list[Any]
) -> None:
    ((_, check),) = VOCABULARY.parse(kind, value)
    assert [(tool, tuple(find_names(args))) for tool, args in valid_calls(check)] == names


SUITE = """\
suite: groups
server: {command: x}
tests:
  - name: one
    prompt: hi
    assertions:
      any_of:
        of:
          - must_call: [{tool: a, args: {x: 1}}]
            not: {answer_contains: [secret]}
          - all_of: [{must_call: [b]}, {refuses: true}]
        severity: warn
      not: {must_error: {tool: a}}
      must_call: [c]
"""


@pytest.fixture
def nested_case(tmp_path: Path) -> Case:
    path = tmp_path / "groups.yml"
    path.write_text(SUITE, "utf-8")
    return read_suite(path, VOCABULARY).cases[0]


def test_every_check_is_visited_once_each_group_before_its_members(nested_case: Case) -> None:
    assert [check.kind for check in every_check(nested_case)] == [
        *("any_of", "must_call", "not", "answer_contains", "all_of", "must_call", "refuses"),
        *("not", "must_error", "must_call"),
    ]


def test_a_check_inside_a_group_stands_where_the_suite_has_the_group(nested_case: Case) -> None:
    for check in nested_case.checks:
        assert {one.at for one in check.walk()} == {check.at}


def test_a_change_reaches_every_check_of_a_group(nested_case: Case) -> None:
    at = Location(file="x", line=7)
    moved = nested_case.checks[0].transform(lambda check: replace(check, at=at))
    assert {check.at for check in moved.walk()} == {at}
    assert moved.dump_params() == nested_case.checks[0].dump_params()


def test_params_that_another_kind_calls_options_are_no_group() -> None:
    check = Check(kind="answer_contains", params={"text": "x", "options": ["strict", {"deep": 1}]})
    case = Case(name="c", prompt="p", checks=(check,))
    assert list(every_check(case)) == list(walk_checks([check])) == [check]
    assert [*valid_calls(check), *tool_names(check), *find_judge_needs([check])] == []


def test_a_group_in_which_nothing_stands_never_passes() -> None:
    check = Check(kind="all_of", params={"options": [[{"kind": "must_call", "params": {}}]]})
    with pytest.raises(HarnessError, match="all_of has no options"):
        anyio.run(KINDS.get("all_of").evaluate, check, scene())


ORDER: dict[str, Any] = {"tool": "get_order", "args": {"id": 7}}


@pytest.mark.parametrize(
    ("assertions", "calls"),
    [
        ({"must_call": [ORDER, "list_orders"]}, [("get_order", {"id": 7}), ("list_orders", {})]),
        ({"must_call_in_order": ["a", "b"]}, [("a", {}), ("b", {})]),
        ({"must_call_any": ["a", "b"]}, [("a", {}), ("b", {})]),
        ({"must_succeed": ["a"], "must_be_denied": ["b"]}, [("a", {}), ("b", {})]),
        ({"tool_result": [{"tool": "a", "path": "x"}]}, [("a", {})]),
        ({"any_of": [{"must_call": ["a"]}, {"must_call": ["b"]}]}, [("a", {}), ("b", {})]),
        ({"must_not_call": ["a"], "not": {"must_call": ["b"]}}, []),
        ({"tool_result": [{"path": "x"}], "answer_contains": ["y"]}, []),
    ],
)
def test_demands_are_wanted_and_prohibitions_are_not(
    assertions: dict[str, Any], calls: list[tuple[str, dict[str, Any]]]
) -> None:
    assert list(wanted_calls(case("c", **assertions))) == calls


@pytest.mark.parametrize(
    ("assertions", "first"),
    [
        ({"must_call_in_order": ["a", "b"]}, ("a",)),
        ({"must_call_in_order": ["b", "a"], "must_call": ["a", "b"]}, ("b",)),
        ({"must_call": ["a", "b"]}, ("a", "b")),
        ({"must_call": ["a", {"tool": "a", "args": {"x": 1}}]}, ("a",)),
        ({"must_call_any": ["a", "b"]}, ("a", "b")),
        ({"must_succeed": ["a"], "must_not_call": ["b"]}, ("a",)),
        ({"all_of": [{"must_call": ["a"]}]}, ("a",)),
        ({"any_of": [{"must_call": ["a"]}, {"must_call": ["b"]}]}, ("a", "b")),
        ({"only_call": []}, ()),
        ({"max_calls": 0}, ()),
    ],
)
def test_the_tool_that_is_wanted_first_is_that_of_the_first_step(
    assertions: dict[str, Any], first: tuple[str, ...]
) -> None:
    found = wanted_first(case("c", **assertions))
    assert found is not None
    assert found.tools == first
    assert wanted_tool(case("c", **assertions)) == (first[0] if len(first) == 1 else None)


@pytest.mark.parametrize(
    "assertions",
    [
        {"refuses": True},
        {"max_calls": 3},
        {"only_call": ["a"]},
        {"not": {"must_call": ["a"]}, "answer_contains": ["x"]},
        {"must_call": [{"tool": "a", "severity": "warn"}], "refuses": True},
    ],
)
def test_checks_that_name_no_wanted_call_leave_it_open(assertions: dict[str, Any]) -> None:
    assert wanted_first(case("c", **assertions)) is None
    assert wanted_tool(case("c", **assertions)) is None


def test_in_a_conversation_the_first_turn_that_has_checks_counts() -> None:
    turns = (
        Turn(prompt="Hello"),
        Turn(prompt="A", checks=tuple(checks({"must_call": ["a"]}))),
        Turn(prompt="B", checks=tuple(checks({"must_call": ["b"]}))),
    )
    found = wanted_first(Case(name="c", prompt="Hello", checks=(), turns=turns))
    assert found == ExpectedFirstCalls(("a",))


def test_no_call_is_right_only_where_none_is_wanted() -> None:
    assert ExpectedFirstCalls(()).matches_tool(None)
    assert not ExpectedFirstCalls(()).matches_tool("a")
    assert ExpectedFirstCalls(("a",)).matches_tool("a")
    assert not ExpectedFirstCalls(("a",)).matches_tool(None)


@pytest.mark.parametrize(
    ("assertions", "tools"),
    [
        ({"must_call": ["a"], "must_be_denied": ["b"]}, {"a", "b"}),
        ({"decision": {"is": "denied", "tool": "a"}}, {"a"}),
        ({"decision": {"is": ["denied", "hidden"], "tool": "a"}}, {"a"}),
        ({"decision": {"without": ["email"], "tool": "a"}}, {"a"}),
        ({"decision": {"is": ["hidden", "not_attempted"], "tool": "a"}}, set()),
        ({"must_not_call": ["a"], "not": {"decision": {"is": "denied", "tool": "b"}}}, set()),
        ({"only_call": ["a"], "answer_contains": ["a"]}, set()),
    ],
)
def test_a_case_expects_the_tools_that_it_demands_or_decides_about(
    assertions: dict[str, Any], tools: set[str]
) -> None:
    assert expected_tools(case("c", **assertions)) == tools
