"""Numbers without a unit are found, and those whose unit is said anywhere are left alone."""

from __future__ import annotations

import pytest

from harness.types import Tool
from tests.descriptions.linting.test_lint import good, of_rule, taking


def number(name: str, description: str) -> Tool:
    return taking(name, {"type": "number", "description": description})


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("timeout", "How long to wait for an answer."),
        ("maxDelay", "Longest delay."),
        ("weight", "Weight of the parcel."),
        ("file_size", "Largest size of a file."),
        ("min_price", "Lowest price."),
        ("timeout_value", "When to give up."),
    ],
)
def test_a_number_without_a_unit_is_found(name: str, description: str) -> None:
    (found,) = of_rule("number-without-unit", number(name, description))
    assert (found.parameters, found.severity) == ((name,), "note")


@pytest.mark.parametrize(
    "sound",
    [
        number("timeout_ms", "How long to wait."),
        number("timeout_s", "How long to wait."),
        number("timeout", "Seconds to wait."),
        number("weight", "Weight (kg)."),
        number("discount_amount", "In % of the price."),
        number("volume", "Loudness from 0 (mute) to 100."),
        number("page_size", "Results on a page."),
        number("length", "Number of words."),
        number("order_count", "How many orders."),
        taking("size", {"type": "string", "description": "Size, such as L."}),
        taking("size", {"type": "integer", "enum": [1, 2], "description": "Size."}),
        good(
            description="Weigh a parcel. The weight is in grams.",
            input_schema={"type": "object", "properties": {"weight": {"type": "number"}}},
        ),
        good(
            description="Show one.\n\nArgs:\n    weight: How heavy it may be\n        in grams.\n",
            input_schema={"type": "object", "properties": {"weight": {"type": "number"}}},
        ),
        good(
            input_schema={
                "type": "object",
                "properties": {"amount": {"type": "number"}, "currency": {"type": "string"}},
            }
        ),
    ],
)
def test_a_number_whose_unit_is_said_is_left_alone(sound: Tool) -> None:
    assert of_rule("number-without-unit", sound) == []
