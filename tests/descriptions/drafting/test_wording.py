"""Prompts as people would say them, with every argument in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.descriptions.drafting.wording import format_value, write_prompt
from harness.models.tool_text.example_arguments import build_example_arguments
from harness.types import Tool
from tests.descriptions.drafting.toolsets import CANCEL_ORDER, GET_ORDER, simple_tools, tool


def said(one: Tool) -> str:
    return write_prompt(one, build_example_arguments(one).examples)


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("Returns all open orders.", "Please give me all open orders."),
        ("Get the weather. Fast and free.", "Please get the weather."),
        ("Lists every warehouse: name, city, stock", "Please list every warehouse."),
        ("Use this tool to restart the machine.", "Please restart the machine."),
        ("This tool can be used to compare prices", "Please compare prices."),
        ("Echoes the text", "Please echo the text."),
        ("Recursively search all folders", "Please search all folders."),
        ("Customer lookup service", "Please help me with this: customer lookup service."),
        ("", "Please get the stock level."),
        ("\x07Get\nthe\u202e colour", "Please get the colour."),
    ],
)
def test_a_description_becomes_a_request(description: str, words: str) -> None:
    assert said(tool("get_stock_level", description)) == words


def test_an_id_stands_where_the_description_speaks_of_its_thing() -> None:
    assert said(CANCEL_ORDER) == "Please cancel order ORD_1234 for good."


def test_what_the_description_says_of_the_id_is_not_said_again() -> None:
    assert said(GET_ORDER) == "Please give me order ORD_1234."


def test_other_arguments_follow_by_their_names() -> None:
    made = tool(
        "send",
        "Send a message.",
        {"channel": {"enum": ["news", "ops"]}, "text": {"type": "string"}},
        required="channel text",
    )
    assert said(made) == 'Please send a message, with the channel news and the text "Good morning".'


def test_a_name_that_says_nothing_is_replaced_by_its_description() -> None:
    number = {"type": "number", "description": "First number"}
    assert said(tool("add", "Adds numbers", {"a": number}, required="a")).endswith(
        "with the first number 12."
    )
    assert said(tool("add", "Adds numbers", {"a": {"type": "number"}}, required="a")).endswith(
        "with a = 12."
    )


def test_a_long_sentence_is_cut() -> None:
    assert len(said(tool("get", "Get " + "one thing and another " * 50))) < 140


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("CUST_00042", "CUST_00042"),
        ("Maria Keller", "Maria Keller"),
        ("*.txt", '"*.txt"'),
        ("good morning", '"good morning"'),
        ('say "hi"', '`say "hi"`'),
        (["a b", "x_1"], '"a b" and x_1'),
        (12.5, "12.5"),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_values_are_written_as_people_write_them(value: Any, words: str) -> None:
    assert format_value(value) == words


@given(simple_tools())
def test_a_prompt_is_one_line_with_every_argument_in_it(simple: Tool) -> None:
    arguments = build_example_arguments(simple).examples
    words = write_prompt(simple, arguments)
    assert words.startswith("Please ")
    assert words.isprintable()
    for example in arguments:
        if isinstance(example.value, str):
            assert example.value in words
        else:
            assert format_value(example.value) in words
