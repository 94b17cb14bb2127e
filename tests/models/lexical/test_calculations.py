"""Sums that a prompt spells out, and the tools that take them."""

from __future__ import annotations

import pytest

from harness.models.lexical.dates import find_calculations
from harness.types import ToolList, UserMessage
from tests.models.lexical.conversations import reply
from tests.models.lexical.toolsets import number, text, tool

CALCULATOR = ToolList(
    tools=(
        tool("calculate", "Evaluates the given expression.", {"expression": text()}, "expression"),
    )
)
OPERATIONS = ToolList(
    tools=(
        tool(
            "compute",
            "Carry out a calculation with two numbers",
            {
                "a": number(),
                "b": number(),
                "operation": text(enum=["add", "subtract", "multiply", "divide"]),
            },
            "a b operation",
        ),
    )
)


@pytest.mark.parametrize(
    ("said", "expression"),
    [
        ("What is 17 * 23?", "17 * 23"),
        ("what is 6×7", "6 * 7"),
        ("How much is 1,200 divided by 8?", "1200 / 8"),
        ("Work out (2 + 3) * 4.5, please.", "(2 + 3) * 4.5"),
        ("2 to the power of 8", "2 ** 8"),
        ("100 minus 42 plus 7", "100 - 42 + 7"),
        ("What is 15% of 80?", "15 / 100 * 80"),
        ("10/4 = ?", "10 / 4"),
    ],
)
def test_a_sum_is_read_in_signs_and_in_words(said: str, expression: str) -> None:
    assert [one.expression for one in find_calculations(said)] == [expression]


@pytest.mark.parametrize(
    "said",
    [
        "from 2024-01-05 to 2024-02-05",
        "call +1 619 555-0148",
        "pages 3-5",
        "it ran 3 times a week",
        "version 2.1.0/3",
        "the files *.py and 2*.txt",
        "a (broken + 3",
    ],
)
def test_dates_ranges_and_versions_are_no_sums(said: str) -> None:
    assert list(find_calculations(said)) == []


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("What is 17 * 23?", {"a": 17, "b": 23, "operation": "multiply"}),
        ("How much is 90 minus 18?", {"a": 90, "b": 18, "operation": "subtract"}),
    ],
)
def test_two_operands_and_the_operation_go_where_they_belong(
    said: str, arguments: dict[str, object]
) -> None:
    (call,) = reply([UserMessage(text=said)], OPERATIONS).tool_requests
    assert call.arguments == arguments


def test_a_question_that_is_nothing_but_a_sum_finds_the_calculator() -> None:
    (call,) = reply([UserMessage(text="What is 17 * 23?")], CALCULATOR).tool_requests
    assert call.arguments == {"expression": "17 * 23"}


def test_a_sum_that_nobody_spells_out_is_a_limit() -> None:
    said = reply([UserMessage(text="Calculate the tax on what I earn.")], CALCULATOR)
    assert said.beyond == "work out what is to be calculated, which expression takes"


def test_no_calculator_is_no_reason_to_call_something_else() -> None:
    shop = ToolList(
        tools=(tool("add_item", "Add an item to the basket", {"name": text()}, "name"),)
    )
    assert reply([UserMessage(text="What is 17 + 23?")], shop).tool_requests == ()


@pytest.mark.parametrize(
    "hostile",
    ["(" * 8_000, "1+" * 4_000, "1 + " * 2_000, "-1 - " * 1_600, "(1)" * 2_600, "1 (" * 2_600],
)
def test_no_text_keeps_it_busy(hostile: str) -> None:
    """What grows with the square of the text or worse would take longer than all tests together."""
    assert [one.expression for one in find_calculations(hostile * 20)] == []
