"""What the suites say must come of a call is held against that very call."""

from __future__ import annotations

from typing import Any

from harness.probing.planned_calls import Expectations
from harness.types import (
    Caller,
    Case,
    Check,
    Tool,
)

TOOLS = {
    "get": Tool(
        name="get", input_schema={"type": "object", "properties": {"id": {"type": "string"}}}
    ),
    "all": Tool(name="all", input_schema={"type": "object"}),
}
ANN = {"role": "user"}


def expectations(*params: dict[str, Any], kind: str = "decision") -> Expectations:
    checks = tuple(Check(kind=kind, params=each) for each in params)
    return Expectations(
        [Case(name="c", prompt="p", checks=checks, caller=Caller(user_context=ANN))], TOOLS
    )


def words(found: tuple[Check, ...]) -> list[Any]:
    return [check.params.get("is") for check in found]


def test_a_decision_is_about_its_very_call_and_identity() -> None:
    found = expectations({"tool": "get", "args": {"id": "1"}, "is": ["denied"]})
    assert words(found.find_checks(ANN, "get", {"id": "1"})) == [["denied"]]
    assert words(found.find_checks(ANN, "get", {"id": "2"})) == []
    assert words(found.find_checks(ANN, "all", {})) == []
    assert words(found.find_checks(None, "get", {"id": "1"})) == []


def test_a_decision_without_arguments_fits_no_call_but_of_a_tool_that_takes_none() -> None:
    found = expectations(
        {"tool": "get", "args": {}, "is": ["denied"]}, {"tool": "all", "args": {}, "is": ["denied"]}
    )
    assert words(found.find_checks(ANN, "get", {})) == []
    assert words(found.find_checks(ANN, "all", {})) == [["denied"]]


def test_a_decision_on_exactly_no_arguments_is_about_the_call_without_any() -> None:
    found = expectations({"tool": "get", "args": {"$equals": {}}, "is": ["denied"]})
    assert words(found.find_checks(ANN, "get", {})) == [["denied"]]
    assert words(found.find_checks(ANN, "get", {"id": "1"})) == []


def test_a_decision_on_exactly_these_arguments_is_about_that_call_alone() -> None:
    found = expectations({"tool": "get", "args": {"$equals": {"id": "1"}}, "is": ["denied"]})
    assert words(found.find_checks(ANN, "get", {"id": "1"})) == [["denied"]]
    assert words(found.find_checks(ANN, "get", {"id": "1", "full": True})) == []
    open_id = expectations({"tool": "get", "args": {"id": {"$any": True}}, "is": ["denied"]})
    assert words(open_id.find_checks(ANN, "get", {"id": "1"})) == []


def test_that_a_tool_is_hidden_holds_for_every_call_of_it_and_for_the_list() -> None:
    found = expectations({"tool": "get", "args": {}, "is": ["hidden", "not_attempted"]})
    assert words(found.find_checks(ANN, "get", {"id": "7"})) == [["hidden", "not_attempted"]]
    assert found.list_hidden_tools(ANN) == ["get"]
    assert found.list_hidden_tools(None) == []


def test_what_is_about_the_model_is_left_out() -> None:
    assert (
        expectations({"tool": "all", "args": {}, "is": ["not_attempted"]}).find_checks(
            ANN, "all", {}
        )
        == ()
    )
    assert (
        expectations({"tool": "all", "args": {}}, kind="must_not_call").find_checks(ANN, "all", {})
        == ()
    )
    assert expectations({"is": ["denied"]}).find_checks(ANN, "all", {}) == ()
