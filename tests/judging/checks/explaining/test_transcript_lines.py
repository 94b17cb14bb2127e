"""Calls and what came of them, in words."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.checks.explaining.transcript_lines import (
    describe_outcome,
    explain_not_offered,
    find_similar_tool,
    format_call,
    format_expected_call,
    list_calls,
    shared_words,
)
from harness.types import Tool, ToolList, ToolProblem
from tests.judging.checks.scenes import call, scene


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
