"""Tools that contradict themselves are found, and those that do not are left alone."""

from __future__ import annotations

from typing import Any

import pytest

from harness.descriptions.linting.findings import lint_tools
from harness.types import Tool, ToolList
from tests.descriptions.linting.test_lint import good, of_rule, taking

STATUS = {"type": "string", "enum": ["open", "shipped", "in progress"]}


def status(description: str, **more: Any) -> Tool:
    return taking("status", {**STATUS, "description": description, **more})


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        # the enum and the type
        ("enum-contradicts-type", taking("level", {"type": "integer", "enum": ["1", "2"]})),
        ("enum-contradicts-type", taking("tags", {"type": "array", "enum": ["new", "old"]})),
        ("enum-contradicts-type", taking("code", {"enum": ["ab"], "pattern": "^[0-9]+$"})),
        (
            "enum-contradicts-type",
            taking("level", {"anyOf": [{"type": "integer", "enum": ["1"]}, {"type": "null"}]}),
        ),
        (
            "enum-contradicts-type",
            taking("tags", {"type": "array", "items": {"type": "integer", "enum": ["new"]}}),
        ),
        # examples and defaults
        ("refused-example", taking("level", {"type": "integer", "examples": ["5"]})),
        ("refused-example", taking("level", {"type": "integer", "example": 1.5})),
        ("refused-example", status("State.", default="pending")),
        ("refused-example", taking("flag", {"type": "boolean", "default": "false"})),
        (
            "refused-example",
            good(
                input_schema={
                    "type": "object",
                    "properties": {"level": {"$ref": "#/$defs/level", "default": 7}},
                    "$defs": {"level": {"type": "integer", "maximum": 5}},
                }
            ),
        ),
        (
            "refused-example",
            good(
                input_schema={
                    "type": "object",
                    "properties": {"level": {"type": "integer"}},
                    "required": ["level"],
                    "examples": [{"levels": 1}],
                }
            ),
        ),
        # the enum and the text
        ("enum-contradicts-text", status("One of: open, shipped, cancelled.")),
        ("enum-contradicts-text", status("State of the order (open, shipped or cancelled).")),
        ("enum-contradicts-text", status("State. Set to 'cancelled' to find those.")),
        ("enum-contradicts-text", status('State; defaults to "all".')),
        (
            "enum-contradicts-text",
            good(
                description="Find orders. Set status to 'gamma' for the legacy mode.",
                input_schema={"type": "object", "properties": {"status": STATUS}},
            ),
        ),
        # the type and the text
        (
            "type-contradicts-text",
            taking("all", {"type": "integer", "description": "Set to true/false as needed."}),
        ),
        (
            "type-contradicts-text",
            taking("all", {"type": "string", "description": "Either true or false."}),
        ),
        # parameters that there are not
        (
            "unknown-parameter",
            good(description="Find orders. The `limit` parameter says how many."),
        ),
        ("unknown-parameter", good(description="Find orders. Use the page_size argument.")),
        (
            "unknown-parameter",
            good(description="Find orders.\n\nArgs:\n    order_id: Which.\n    limit: How many.\n"),
        ),
    ],
)
def test_a_contradiction_is_found(rule: str, broken: Tool) -> None:
    assert of_rule(rule, good()) == []
    assert len(of_rule(rule, broken)) == 1


@pytest.mark.parametrize(
    "sound",
    [
        taking("level", {"type": "integer", "enum": [1, 2], "default": 1, "examples": [2]}),
        taking("level", {"type": "string", "enum": ["a", None]}),
        taking("level", {"type": "string", "default": None}),
        taking("level", {"enum": ["a", 1], "anyOf": [{"type": "string"}, {"type": "integer"}]}),
        taking("level", {"type": ["string", "null"], "enum": ["a", None], "default": None}),
        taking("level", {"$ref": "https://example.com/level.json", "default": 1}),
        status("One of: open, shipped or in progress."),
        status("State, such as open, shipped, etc."),
        status("State of the order; ignored if `order_id` is given. Use 'open' for what is new."),
        status("Sort the status, open or shipped."),
        status("Filter by state (open, shipped, or in progress)."),
        status("Whether it is open, shipped, or under way."),
        taking(
            "query",
            {"type": "string", "description": "Terms to look for. Takes fork:true or false."},
        ),
        status('State, as in {"status": "gone", "default": "lost"}.'),
        good(
            description='Find orders, as in {"status": "gone", "filter": {"status": "lost"}}.',
            input_schema={"type": "object", "properties": {"status": STATUS}},
        ),
        good(
            description='Find orders. "kind": "object"; "type" = "array".',
            input_schema={
                "type": "object",
                "properties": {"states": {"type": "array", "items": STATUS}},
            },
        ),
        good(
            description='Find orders. With status="8f31".',
            input_schema={
                "type": "object",
                "properties": {"status": {"anyOf": [STATUS, {"type": "string"}]}},
            },
        ),
        good(
            description="Find orders. Set status to 'lost' in the filter.",
            input_schema={
                "type": "object",
                "properties": {
                    "status": STATUS,
                    "filter": {"type": "object", "properties": {"status": {"type": "string"}}},
                },
            },
        ),
        taking("flag", {"type": ["string", "boolean"], "description": "true or false."}),
        taking("flag", {"type": "string", "enum": ["true"], "description": "true or false."}),
        good(description="Show one order. The `order_id` parameter is that of search_orders."),
        good(description="Show one order. Returns `total`, an argument for refunds."),
        good(
            description="Show one order.\n\nArgs:\n    order_id: Which.\n\nReturns:\n    note: x\n"
        ),
        good(description="Show one.\n\nArgs:\n  order_id: Which.\n  Note: It must exist.\n"),
        good(description="Show one order, as in:\n- action: 'open_all'\n  parameters: none"),
        good(
            description="Takes the `limit` parameter as well.",
            input_schema={"type": "object", "additionalProperties": True},
        ),
    ],
)
def test_what_agrees_is_left_alone(sound: Tool) -> None:
    found = {finding.rule for finding in lint_tools(ToolList(tools=(sound,)))}
    assert found.isdisjoint(
        {
            "enum-contradicts-type",
            "refused-example",
            "enum-contradicts-text",
            "type-contradicts-text",
            "unknown-parameter",
        }
    )


def test_a_contradiction_is_told_with_the_value_and_the_reason() -> None:
    (found,) = of_rule("enum-contradicts-type", taking("level", {"type": "integer", "enum": ["1"]}))
    assert found.parameters == ("level",)
    assert "level ('1': '1' is not of type 'integer')" in found.message
    (found,) = of_rule("enum-contradicts-text", status("One of: open, shipped, cancelled."))
    assert "'cancelled'" in found.message
    assert "'in progress'" in found.message


def test_an_enum_of_a_million_values_is_no_work_without_end() -> None:
    huge = taking("level", {"type": "string", "enum": [f"v{n}" for n in range(100_000)]})
    assert of_rule("enum-contradicts-type", huge) == []


def test_a_parameter_of_another_tool_that_is_named_is_not_missing() -> None:
    text = "Show one order. Use find_orders with a `page` parameter for all."
    other = good(name="find_orders")
    assert of_rule("unknown-parameter", good(description=text), other) == []
    assert len(of_rule("unknown-parameter", good(description=text))) == 1
