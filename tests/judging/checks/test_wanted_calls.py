"""The calls that a case expects are read from its checks: demands, never prohibitions."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.checks.wanted_calls import (
    ExpectedFirstCalls,
    expected_tools,
    wanted_calls,
    wanted_first,
    wanted_tool,
)
from harness.types import Case, Turn
from tests.descriptions.workbench.benches import case, checks

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
