"""Arguments for a tool: what the schema says goes before what is made up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.base.validation.budget import Budget
from harness.base.validation.validators import Validation, validate_value
from harness.models.tool_text.example_arguments import ExampleArguments, build_example_arguments
from harness.types import Tool
from tests.descriptions.drafting.toolsets import simple_tools, tool


def drawn(schema: dict[str, Any], name: str = "value", tool_name: str = "get_order") -> Any:
    return build_example_arguments(
        tool(tool_name, "Get.", {name: schema}, required=name)
    ).values.get(name)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "enum": ["open", "closed"]}, "open"),
        ({"type": "string", "enum": ["open", "closed"], "default": "open"}, "closed"),
        ({"const": "only"}, "only"),
        ({"type": "string", "examples": ["ORD_1"], "pattern": "^ORD"}, "ORD_1"),
        ({"type": "string", "description": "Id, such as ORD_77."}, "ORD_77"),
        (
            {"type": "string", "pattern": "^ORD_[0-9]{4}$", "description": "Id, such as 77."},
            "ORD_1234",
        ),
        ({"type": "string", "default": "main"}, "main"),
        ({"type": "string", "default": "two\nlines"}, "example"),
        ({"type": "string", "format": "date"}, "2025-05-14"),
        ({"type": "integer", "minimum": 100, "maximum": 110}, 100),
        ({"type": "integer", "exclusiveMinimum": 1000}, 1001),
        ({"type": "number", "multipleOf": 0.25, "maximum": 0.5}, 0.5),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}, ["a", "b"]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 12),
        (
            {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            {"x": 12},
        ),
        ({"type": "string", "minLength": 30}, "An example text. An example te"),
    ],
    ids=str,
)
def test_a_value_comes_from_the_schema_where_it_says_one(
    schema: dict[str, Any], value: Any
) -> None:
    assert drawn(schema) == value


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("customer_id", {"type": "string"}, "CUSTOMER_1042"),
        ("id", {"type": "string"}, "ORDER_1042"),
        ("id", {"type": "integer"}, 1042),
        ("email", {"type": "string"}, "maria.keller@example.com"),
        ("filePath", {"type": "string"}, "/data/reports/summary.txt"),
        ("years", {"type": "integer"}, 10),
        ("end_date", {"type": "string", "format": "date"}, "2025-05-21"),
        ("paths", {"type": "array", "items": {"type": "string"}}, ["/data/reports/summary.txt"]),
    ],
)
def test_what_no_schema_says_is_made_up_by_the_parameters_name(
    name: str, schema: dict[str, Any], value: Any
) -> None:
    assert drawn(schema, name) == value


def test_a_path_of_a_tool_for_folders_is_a_folder() -> None:
    assert drawn({"type": "string"}, "path", "list_directory") == "/data/reports"


def test_two_parameters_are_not_made_up_alike() -> None:
    text = {"type": "string"}
    number = {"type": "number"}
    edit = tool(
        "edit",
        "Edit.",
        {"old_text": text, "new_text": text, "a": number, "b": number},
        required="old_text new_text a b",
    )
    values = build_example_arguments(edit).values
    assert values["old_text"] != values["new_text"]
    assert values["a"] != values["b"]


def test_of_optional_parameters_only_a_telling_one_is_given() -> None:
    listing = tool(
        "list",
        "List.",
        {"limit": {"type": "integer", "default": 5}, "status": {"enum": ["open", "closed"]}},
    )
    assert build_example_arguments(listing).values == {"status": "open"}
    assert (
        build_example_arguments(tool("list", "List.", {"limit": {"type": "integer"}})).values == {}
    )


def test_a_reference_is_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"status": {"$ref": "#/$defs/Status"}},
        "required": ["status"],
        "$defs": {"Status": {"enum": ["open", "closed"]}},
    }
    assert build_example_arguments(Tool(name="list", input_schema=schema)).values == {
        "status": "open"
    }


def test_one_of_two_that_the_schema_wants_is_added() -> None:
    schema = {
        "type": "object",
        "properties": {"email": {"type": "string"}, "phone": {"type": "string"}},
        "anyOf": [{"required": ["phone"]}],
    }
    assert list(build_example_arguments(Tool(name="find", input_schema=schema)).values) == ["phone"]


def test_a_parameter_that_no_value_fits_is_named_as_missing() -> None:
    arguments = build_example_arguments(
        tool("get", "Get.", {"x": {"type": "string", "pattern": "(?=a)b"}}, required="x")
    )
    assert arguments == ExampleArguments(missing=("x",))


def test_a_pattern_that_takes_for_ever_takes_no_time() -> None:
    schema = {"type": "string", "default": "a" * 40 + "!", "pattern": "^(a+)+$"}
    assert drawn(schema) == "aaaaaaaaa"


@given(simple_tools())
def test_the_arguments_for_a_simple_schema_are_valid(simple: Tool) -> None:
    arguments = build_example_arguments(simple)
    assert arguments.missing == ()
    assert validate_value(arguments.values, simple.input_schema, Budget(100_000)) == Validation()


def test_a_schema_that_takes_for_ever_is_given_up_and_says_so() -> None:
    levels = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    bomb = Tool(
        name="get",
        input_schema={
            "type": "object",
            "$defs": {**levels, "d30": {}},
            "properties": {"a": {"$ref": "#/$defs/d0"}},
            "required": ["a"],
        },
    )
    assert build_example_arguments(bomb) == ExampleArguments(missing=("a",), gave_up=True)
