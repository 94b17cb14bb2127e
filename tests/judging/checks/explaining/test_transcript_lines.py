"""Calls and what came of them, in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.judging.checks.explaining.transcript_lines import (
    describe_outcome,
    explain_not_offered,
    find_hiding_variant,
    find_seen_tool,
    find_similar_tool,
    format_call,
    format_expected_call,
    format_tool_name,
    invalid_fields,
    list_calls,
    seen_properties,
    shared_words,
    spoken_parameter,
)
from harness.judging.checks.kind import Evidence
from harness.judging.checks.kinds.groups import strip_server_prefixes
from harness.runner.variants.shown_tools import ShownTools
from harness.types import Check, ParameterEdit, Tool, ToolEdit, ToolList, ToolProblem, Variant
from tests.judging.checks.scenes import TOOLS, call, scene


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"outcome": "invalid_arguments"}, "arguments not accepted"),
        ({"outcome": "invalid_arguments", "text": " "}, "arguments not accepted"),
        ({"outcome": "invalid_arguments", "text": "no id"}, "arguments not accepted: no id"),
        (
            {"outcome": "invalid_arguments", "argument_errors": ("a is no number", "b is missing")},
            "arguments not accepted: a is no number; b is missing",
        ),
        ({"outcome": "denied", "text": "for HR"}, "refused by the server: “for HR”"),
        ({"outcome": "denied", "text": "\n"}, "refused by the server"),
        ({"outcome": "ok", "text": "fine"}, "ok"),
    ],
)
def test_what_came_of_a_call_is_told_with_what_was_said_of_it(
    made: dict[str, Any], words: str
) -> None:
    assert describe_outcome(call("get", **made)) == words


@pytest.mark.parametrize(("made", "last"), [(1, "  1."), (6, "  6."), (7, "  … and 1 more")])
def test_the_first_six_calls_are_listed_and_the_others_counted(made: int, last: str) -> None:
    heading, *lines = list_calls([call("get")] * made, "In order:")
    assert heading == "In order:"
    assert len(lines) == min(made, 7)
    assert lines[-1].startswith(last)
    assert list_calls([], "In order:") == []


def test_a_call_is_shown_with_its_arguments_up_to_a_line() -> None:
    for size, whole in ((110, True), (111, False)):  # {"q": "…"} takes nine more, and a sign
        long = {"q": "x" * size}
        for shown in (
            format_call(call("get", long)),
            format_expected_call({"tool": "get", "args": long}),
        ):
            assert len(shown) == len("get()") + 120 - whole
            assert shown.endswith('"})' if whole else "…)") or not whole


def _tool(name: str, description: str = "") -> Tool:
    return Tool(name=name, description=description, input_schema={})


PROBLEMS = (
    ToolProblem(tool="export", problem="it has no schema", usable=False),
    ToolProblem(tool="weather", problem="its name is long", usable=True),
    ToolProblem(tool="search", problem="its name is short", usable=True),
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("weather", None),
        ("export", "The server lists export, but it cannot be offered to a model: it has no"),
        ("search", "There is no tool search on this server. It offers: weather."),
        ("import", "There is no tool import on this server. It offers: weather."),
        ("weathr", "There is no tool weathr among those that this user is offered."),
    ],
)
def test_why_a_tool_could_not_be_called_is_told_of_that_tool(name: str, said: str | None) -> None:
    tools = ToolList(tools=(_tool("weather"),), problems=PROBLEMS)
    told = explain_not_offered(name, scene(tools=tools))
    assert (told or "").startswith(said or "")
    assert (told is None) is (said is None)


@pytest.mark.parametrize(
    ("expected", "called", "confused"),
    [
        (_tool("a_b"), _tool("x"), False),  # neither says anything
        (_tool("a_b", "Orders of customers."), _tool("x"), False),
        (_tool("a_b"), _tool("x", "Orders of customers."), False),
        (_tool("a_b", "Orders of customers."), _tool("x", "Customers and orders."), True),
        (_tool("a_b", "Orders of customers."), _tool("x", "Weather in Berlin."), False),
        (_tool("find_order", "x"), _tool("find_orders", "y"), True),
    ],
)
def test_tools_may_be_confused_by_their_names_or_by_the_words_of_their_descriptions(
    expected: Tool, called: Tool, confused: bool
) -> None:
    tools = ToolList(tools=(expected, called, _tool("bystander", "Orders of customers.")))
    found = find_similar_tool(expected.name, scene(call(called.name), tools=tools))
    assert found == (called if confused else None)


@pytest.mark.parametrize("shared", [1, 6, 7])
def test_the_first_six_words_that_tools_share_are_named(shared: int) -> None:
    words = [f"{letter}word" for letter in "abcdefg"[:shared]]
    left, right = _tool("one", " ".join([*words, "left"])), _tool("two", " ".join(words))
    assert shared_words(left, right) == words[:6]


def test_shared_words_are_told_as_they_are_written_and_are_no_filler() -> None:
    left = _tool("one", "This is what lists all directories and has orders.")
    right = _tool("two", "This is for one directory: its order.")
    assert shared_words(left, right) == ["directories", "orders"]


VARIANT = Variant(
    name="vague",
    prefix="mcp__shop__",
    tools={
        "get_orders": ToolEdit(
            name="orders_of",
            description="Orders.",
            parameters={"filter": ParameterEdit(name="only"), "limit": None},
        ),
        "weather": None,
    },
)


def under(variant: Variant, evidence: Evidence) -> Evidence:
    shown = ShownTools(variant, evidence.tools)
    return replace(evidence, tools=shown.offered, presented=shown.presentation)


def test_without_a_variant_the_words_are_the_servers() -> None:
    evidence = scene()
    assert find_seen_tool("get_orders", evidence) is TOOLS.get("get_orders")
    assert find_seen_tool("unheard_of", evidence) is None
    assert format_tool_name("get_orders", evidence) == "get_orders"
    assert spoken_parameter("filter.tags[0]", "get_orders", evidence) == "filter.tags[0]"
    assert "limit" in seen_properties("get_orders", evidence)
    assert find_hiding_variant("weather", evidence) is None


def test_under_a_variant_they_are_those_that_the_model_saw() -> None:
    evidence = under(VARIANT, scene())
    tool = find_seen_tool("get_orders", evidence)
    assert tool is not None
    assert (tool.name, tool.description) == ("orders_of", "Orders.")
    assert (
        format_tool_name("get_orders", evidence)
        == "mcp__shop__orders_of (get_orders on the server)"
    )
    path = spoken_parameter("filter.tags[0]", "get_orders", evidence)
    assert path == "only.tags[0] (filter.tags[0] on the server)"
    properties = seen_properties("get_orders", evidence)
    assert {"filter", "status"} <= properties.keys()
    assert properties.keys().isdisjoint({"only", "limit"})


def test_a_tool_that_the_variant_hides_is_not_said_to_be_missing_on_the_server() -> None:
    evidence = under(VARIANT, scene())
    assert (
        explain_not_offered("weather", evidence)
        == "The variant vague does not show weather to the model."
    )
    assert "on this server" in str(explain_not_offered("forecast", evidence))


def test_a_prefix_makes_no_two_tools_alike() -> None:
    evidence = scene(call("weather"))
    prefixed = under(Variant(name="client", prefix="mcp__the_shop_of_the_company__"), evidence)
    assert find_similar_tool("delete_customer", evidence) is None
    assert find_similar_tool("delete_customer", prefixed) is None


def test_tools_of_joined_servers_keep_what_the_model_saw_of_them() -> None:
    wipe = Tool(name="shop__wipe", description="Wipe.", input_schema={"type": "object"})
    tools = ToolList(tools=(wipe,), prefixes=("shop__",))
    variant = Variant(name="vague", tools={"shop__wipe": ToolEdit(name="clean")})
    evidence = under(variant, scene(call("shop__wipe"), tools=tools))
    joined = strip_server_prefixes(
        Check(kind="must_not_call", params={"tool": "wipe", "args": {}}), evidence
    )
    assert format_tool_name("wipe", joined) == "clean (wipe on the server)"


_NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer"


class _Filter(BaseModel):
    size: int
    tags: list[int]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"tags": []}, "size: Field required"),
        (
            {"size": "x", "tags": ["y"]},
            f"size: {_NO_INTEGER}; tags.0: {_NO_INTEGER}",
        ),
    ],
)
def test_fields_are_read_from_what_pydantic_writes(value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(_Filter).validate_python(value)
    assert invalid_fields(f"Error executing tool find: {caught.value}") == said


ISSUES = [
    {"code": "invalid_type", "expected": "string", "path": ["filter", 0], "message": "Required"},
    {"code": "unrecognized_keys", "keys": ["x"], "path": [], "message": "Unrecognized key: x"},
]


def test_fields_are_read_from_what_zod_writes() -> None:
    text = f"MCP error -32602: Invalid arguments for tool find: {json.dumps(ISSUES, indent=2)}"
    assert invalid_fields(text) == "filter.0: Required; the arguments: Unrecognized key: x"


@pytest.mark.parametrize("kind", ["tool_error", "invalid_arguments"])
def test_a_failed_call_is_shown_with_the_field_and_not_with_the_first_lines(kind: Any) -> None:
    text = f"MCP error -32602: Invalid arguments for tool find: {json.dumps(ISSUES, indent=2)}"
    made = call("find", outcome=kind, text=text)
    assert "filter.0: Required" in describe_outcome(made)
    assert "invalid_type" not in describe_outcome(made)


@given(text=st.one_of(st.text(), st.text('[]{}":,\n 1validation error for')))
def test_any_other_text_has_no_fields_or_is_read_without_an_error(text: str) -> None:
    found = invalid_fields(text)
    assert found is None or ": " in found
