"""Schemas that a server sends, whatever they are."""

from __future__ import annotations

from typing import Any

import pytest

from harness.sessions.schemas import MAX_ERROR_CHARS, MAX_ERRORS, ToolSchemas, schema_problem
from harness.types import Tool, ToolList


def schemas(schema: dict[str, Any], output: dict[str, Any] | None = None) -> ToolSchemas:
    return ToolSchemas(ToolList(tools=(Tool(name="t", input_schema=schema, output_schema=output),)))


def test_errors_name_the_place() -> None:
    checked = schemas({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}})
    assert checked.argument_errors("t", {"a": [1, "x"]}) == ("at 'a.1': 'x' is not of type 'integer'",)
    assert checked.argument_errors("t", {"a": [1]}) == ()


def test_a_tool_that_is_not_listed_has_no_errors() -> None:
    assert schemas({"type": "object"}).argument_errors("other", {"a": 1}) == ()


def test_errors_are_bounded_in_number_and_length() -> None:
    checked = schemas({"additionalProperties": {"type": "integer"}})
    errors = checked.argument_errors("t", {str(number): "x" * 1_000 for number in range(50)})
    assert len(errors) == MAX_ERRORS
    assert max(len(error) for error in errors) == MAX_ERROR_CHARS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "quantity"},
        {"properties": 5},
        {"pattern": "("},
        {"$schema": ["what"]},
        {"required": "name"},
    ],
)
def test_a_schema_that_is_none_is_reported_and_checks_nothing(schema: dict[str, Any]) -> None:
    assert schema_problem(schema)
    assert schemas(schema).argument_errors("t", {"a": 1}) == ()


@pytest.mark.parametrize("schema", [{"$ref": "#/nowhere"}, {"$ref": "http://localhost:9/schema.json"}, {"$ref": "#"}])
def test_a_schema_that_cannot_be_applied_says_so_and_never_leaves_the_machine(schema: dict[str, Any]) -> None:
    (error,) = schemas(schema).argument_errors("t", {"a": 1})
    assert error.startswith("the schema could not be applied: ")


def test_older_drafts_are_read_by_their_own_rules() -> None:
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    assert schema_problem(draft7) is None
    assert schema_problem({"items": [{"type": "integer"}]}) is not None


def test_output_is_checked_where_it_is_declared() -> None:
    checked = schemas({"type": "object"}, {"type": "object", "required": ["n"]})
    assert checked.output_errors("t", {"n": 1}, 10) == ()
    assert checked.output_errors("t", {}, 10) == ("'n' is a required property",)
    assert checked.output_errors("t", None, 10) == (
        "the tool has an outputSchema, and its result has no structuredContent",
    )
    assert schemas({"type": "object"}).output_errors("t", None, 10) == ()
