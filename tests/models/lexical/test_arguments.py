"""Parameters are read from schemas and filled from requests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from harness.models.lexical.arguments import Filling, fill_arguments
from harness.models.lexical.text_parsing import parse_text
from harness.models.tool_text.parameters import read_params
from harness.models.tool_text.ranking import ToolIndex
from harness.types import Tool, ToolList
from tests.models.lexical.toolsets import TOOLSETS, flag, number, text, tool, whole

TODAY = date(2026, 3, 10)


def filled(offered: Tool, request: str, **more: Any) -> Filling:
    index = ToolIndex(ToolList(tools=(offered,)))
    return fill_arguments(index.entries[0], parse_text(request, TODAY), **more)


def given(offered: Tool, request: str) -> Mapping[str, Any]:
    (arguments,) = filled(offered, request).arguments
    return arguments


def one(schema: dict[str, Any], *, name: str = "value", required: bool = True) -> Tool:
    return tool("do_it", "Do it.", {name: schema}, name if required else "")


def test_a_reference_an_alternative_and_a_part_are_resolved() -> None:
    schema = {
        "type": "object",
        "$defs": {"Kind": {"type": "string", "enum": ["a", "b"]}},
        "properties": {
            "kind": {"$ref": "#/$defs/Kind"},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            "both": {"allOf": [{"type": "string"}, {"description": "Some text"}]},
            "round": {"$ref": "#/properties/round"},
            "gone": {"$ref": "other.json"},
        },
    }
    kinds = {p.name: p.kind for p in read_params(Tool(name="t", input_schema=schema))}
    assert kinds == {
        "kind": "string",
        "maybe": "integer",
        "both": "string",
        "round": "any",
        "gone": "any",
    }


@pytest.mark.parametrize(
    ("description", "examples"),
    [
        ("Ticker, e.g. AAPL (Apple), MSFT (Microsoft)", ("AAPL", "MSFT")),
        (
            "A zone (e.g., 'America/New_York', 'Europe/London').",
            ("America/New_York", "Europe/London"),
        ),
        ("Id such as CUST_00042. It never changes.", ("CUST_00042",)),
        ("One of: open, closed or all", ("open", "closed", "all")),
        ("A decimal, e.g. 0.07 for 7%", ("0.07",)),
        ("Some text", ()),
    ],
)
def test_examples_are_read_from_a_description(description: str, examples: tuple[str, ...]) -> None:
    (param,) = read_params(one(text(description)))
    assert param.examples == examples


@pytest.mark.parametrize(
    ("schema", "request_text", "value"),
    [
        (
            text(enum=["small_business", "enterprise"]),
            "all small business customers",
            "small_business",
        ),
        (text(enum=["open", "closed"]), "the Closed ones", "closed"),
        (text(enum=["Boston", "Chicago"]), "the weather in Tokyo", None),
        (text(enum=["Boston", "Chicago"]), "the weather in 'Chicago'", "Chicago"),
        (text(enum=["1d", "5d"]), "since 2025-01-01", None),
        (whole(enum=[10, 20]), "show 500", None),
        (whole(enum=[10, 20]), "show 20", 20),
        (number(enum=[0.5, 1.5]), "take 1.5", 1.5),
        (
            {"type": "array", "items": {"type": "string", "enum": ["bug"]}},
            "label it 'urgent'",
            None,
        ),
        (
            text("1y (one year), 5d (a working week)", enum=["1y", "5d"]),
            "over a working week",
            "5d",
        ),
        (text(enum=["1d", "1mo", "6mo", "1y"]), "over the last 6 months", "6mo"),
        (text(enum=["1d", "1mo", "6mo", "1y"]), "in the past year", "1y"),
        (text("Ticker, e.g. AAPL (Apple)"), "what about apple?", "AAPL"),
        (text("Google (GOOGL) or Tesla (TSLA)"), "what about Tesla?", "TSLA"),
        (text("Zone, e.g. 'Europe/London'"), "time in London", "Europe/London"),
        (text("Id such as CUST_00042"), "show cust_00007", "CUST_00007"),
        (text(pattern="^[A-Z]{1,5}$"), "price of Ibm", "IBM"),
        (text(pattern="^(?:[cC]-)?[0-9]+$"), "see c-77", "c-77"),
        (text(format="email"), "write to Jo at jo@example.org", "jo@example.org"),
        (text(format="date-time"), "on 2025-05-01", "2025-05-01T00:00:00Z"),
        (number("Share as a fraction"), "take 25%", 0.25),
        (number("Share in percent"), "take 25%", 25),
        (number("Share", maximum=1), "take 25%", 0.25),
        (whole("Number of the issue"), "see #42", 42),
        (whole("Number of the issue"), "see 4.5", None),
        (whole("How many", maximum=10), "give me 500", None),
        (
            {"type": "array", "items": {"type": "string", "enum": ["bug", "docs"]}},
            "docs and bug",
            ["docs", "bug"],
        ),
        ({"type": "array", "items": {"type": "number"}}, "sum 1, 2.5 and 3", [1, 2.5, 3]),
        ({"type": "string", "const": "x"}, "whatever", "x"),
        ({"type": "string", "default": "d"}, "whatever", "d"),
        ({"type": "boolean"}, "whatever", False),
        (text("Something"), "whatever", None),
    ],
)
def test_a_required_parameter_gets_what_fits_it_or_nothing(
    schema: dict[str, Any], request_text: str, value: object
) -> None:
    got = given(one(schema), request_text).get("value")
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("request_text", "value"),
    [
        ("Show it including PII", True),
        ("Show the email too", True),
        ("Show it without PII", False),
        ("Do not show personal data", False),
        ("Show it", None),
    ],
)
def test_a_flag_follows_the_words_of_its_name_and_description(
    request_text: str, value: bool | None
) -> None:
    described = flag("Also return personally identifiable information: email and phone")
    assert (
        given(one(described, name="include_pii", required=False), request_text).get("include_pii")
        is value
    )


def test_a_flag_that_leaves_out_is_set_by_without() -> None:
    hide = one(flag("Leave images out"), name="exclude_images", required=False)
    assert given(hide, "Show the page without images") == {"exclude_images": True}
    assert given(hide, "Show the page with its images") == {}


def test_an_optional_parameter_is_left_out_without_evidence() -> None:
    offered = tool(
        "list_orders", "List orders.", {"note": text("Any note"), "limit": whole("Most rows")}
    )
    assert given(offered, "List the orders of Maria from building 7") == {}


@pytest.mark.parametrize(
    ("request_text", "arguments"),
    [
        ("orders over $500", {"min_amount": 500}),
        ("orders of less than $500", {"max_amount": 500}),
        ("the 5 latest orders", {"limit": 5}),
        ("at most 7 orders above $20", {"limit": 7, "min_amount": 20}),
        ("orders since 2025-05-01", {"start_date": "2025-05-01"}),
        ("orders before May 2025", {"end_date": "2025-04-30"}),
        ("orders of last year", {"start_date": "2025-01-01", "end_date": "2025-12-31"}),
    ],
)
def test_the_words_around_a_value_say_where_it_goes(
    request_text: str, arguments: dict[str, Any]
) -> None:
    offered = tool(
        "search_orders",
        "Find orders.",
        {
            "min_amount": number("Smallest amount"),
            "max_amount": number("Largest amount"),
            "start_date": text("First day", format="date"),
            "end_date": text("Last day", format="date"),
            "limit": whole("Most orders to return"),
        },
    )
    assert given(offered, request_text) == arguments


def test_from_and_to_point_to_source_and_target() -> None:
    offered = tool(
        "move",
        "Move a file.",
        {"target": text("To where"), "source": text("From where")},
        "target source",
    )
    assert given(offered, "Move from /a/b to /c/d") == {"target": "/c/d", "source": "/a/b"}


def test_numbers_of_equal_standing_are_given_in_their_order() -> None:
    offered = tool(
        "get-sum", "Adds.", {"a": number("First number"), "b": number("Second number")}, "a b"
    )
    assert given(offered, "What is 17 plus 25?") == {"a": 17, "b": 25}


def test_plain_words_fill_a_message_and_a_name() -> None:
    assert given(tool("echo", "Echo it.", {"message": text()}, "message"), "Echo hello world") == {
        "message": "hello world"
    }
    branch = tool("checkout", "Switch branches.", {"branch_name": text()}, "branch_name")
    assert given(branch, "Switch to the branch called fix-7") == {"branch_name": "fix-7"}


def test_a_search_takes_the_words_that_no_tool_uses() -> None:
    offered = tool(
        "search_products", "Find products in the catalogue.", {"query": text("Search words")}
    )
    assert given(offered, "Find products for noisy kitchens") == {"query": "noisy kitchens"}


def test_several_things_make_several_calls() -> None:
    several = filled(
        one(text("Ticker, e.g. AAPL (Apple), MSFT (Microsoft)"), name="ticker"),
        "Compare Apple and MSFT",
    )
    assert [arguments["ticker"] for arguments in several.arguments] == ["AAPL", "MSFT"]
    assert [said["ticker"] for said in several.said] == ["Apple", "MSFT"]


def test_things_that_are_not_joined_make_no_further_call() -> None:
    one_of_two = filled(
        one(text("Id such as C-1"), name="customer_id"),
        "Show C-1 because of the trouble that C-2 had",
    )
    assert [arguments["customer_id"] for arguments in one_of_two.arguments] == ["C-1"]


def test_an_object_is_filled_property_by_property() -> None:
    filters = {
        "type": "object",
        "properties": {"status": text(enum=["open", "closed"]), "city": text("City")},
    }
    assert given(one(filters, name="filters", required=False), "closed ones in Berlin") == {
        "filters": {"status": "closed", "city": "Berlin"}
    }


def test_what_is_missing_is_taken_from_the_context_or_named() -> None:
    offered = one(text("Id such as CUST_00042"), name="customer_id")
    assert [param.name for param in filled(offered, "their orders").missing] == ["customer_id"]
    before = (parse_text("Show customer CUST_00007", TODAY),)
    assert filled(offered, "their orders", context=before).arguments == (
        {"customer_id": "CUST_00007"},
    )


def test_an_optional_id_is_taken_from_the_context_only_when_pointed_to() -> None:
    offered = one(text("Id such as CUST_00042"), name="customer_id", required=False)
    before = (parse_text("Show customer CUST_00007", TODAY),)
    assert filled(offered, "all orders", context=before).arguments == ({},)
    assert filled(offered, "their orders", context=before, refers_back=True).arguments == (
        {"customer_id": "CUST_00007"},
    )


def test_all_tools_of_the_fixtures_are_read() -> None:
    for tools in TOOLSETS.values():
        for offered in tools.tools:
            assert [param.name for param in read_params(offered)] == list(
                offered.input_schema["properties"]
            )
