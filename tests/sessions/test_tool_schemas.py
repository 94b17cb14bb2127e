"""Schemas that a server sends, whatever they are."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from harness.base.validation.validators import MAX_ERROR_CHARS, MAX_ERRORS, Validation
from harness.sessions.tool_list import Examination, ToolSchemas, examine_schema
from harness.types import Tool, ToolList

pytestmark = pytest.mark.anyio

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}}
BOMB = {
    "type": "object",
    "$defs": {
        **{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)},
        "d30": {},
    },
    "$ref": "#/$defs/d0",
}


def schemas(schema: dict[str, Any], output: dict[str, Any] | None = None) -> ToolSchemas:
    return ToolSchemas(ToolList(tools=(Tool(name="t", input_schema=schema, output_schema=output),)))


async def test_errors_name_the_place() -> None:
    checked = schemas(
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    )
    assert (await checked.validate_arguments("t", {"a": [1, "x"]})).errors == (
        "at 'a.1': 'x' is not of type 'integer'",
    )
    assert await checked.validate_arguments("t", {"a": [1]}) == Validation()


def test_names_are_those_of_the_schema_and_of_the_arguments_at_any_depth() -> None:
    order = {"type": "object", "properties": {"lines": {"items": NUMBER}, "type": {}}}
    checked = schemas({"$defs": {"order": order}, "properties": {"order": {}}})
    arguments = {"order": {"lines": [{"m": 1}]}}
    assert checked.collect_names("t", arguments) == {"order", "lines", "n", "type", "m"}
    assert checked.collect_names("other", arguments) == {"order", "lines", "m"}


async def test_a_tool_that_is_not_listed_has_no_errors() -> None:
    assert await schemas({"type": "object"}).validate_arguments("other", {"a": 1}) == Validation()


async def test_errors_are_bounded_in_number_and_length() -> None:
    checked = schemas({"additionalProperties": {"enum": ["y" * 1_000]}})
    errors = (
        await checked.validate_arguments("t", {str(number): "x" * 1_000 for number in range(50)})
    ).errors
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
async def test_a_schema_that_is_none_is_reported_and_checks_nothing(schema: dict[str, Any]) -> None:
    assert (await examine_schema(schema)).problem
    checked = await schemas(schema).validate_arguments("t", {"a": 1})
    assert checked.errors == ()
    assert str(checked.gave_up).startswith("the tool's schema is not a valid JSON Schema: ")


@pytest.mark.parametrize(
    "schema", [{"$ref": "#/nowhere"}, {"$ref": "http://localhost:9/schema.json"}]
)
async def test_a_schema_that_cannot_be_applied_says_so_and_never_leaves_the_machine(
    schema: dict[str, Any],
) -> None:
    checked = await schemas(schema).validate_arguments("t", {"a": 1})
    assert checked.errors == ()  # nobody is to blame
    assert str(checked.gave_up).startswith("the schema could not be applied: ")


async def test_older_drafts_are_read_by_their_own_rules() -> None:
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    assert await examine_schema(draft7) == Examination()
    assert (await examine_schema({"items": [{"type": "integer"}]})).problem is not None


async def test_a_pattern_of_javascript_is_no_fault_of_the_schema() -> None:
    pattern = r"^(?!__.*__$)[^\p{Cc}\p{Zl}/]{1,200}$"
    assert await examine_schema({"properties": {"a": {"pattern": pattern}}}) == Examination()
    assert (
        await examine_schema({"properties": {"a": {"pattern": "^(?!x)[a"}}})
    ).problem is not None


async def test_output_is_checked_where_it_is_declared() -> None:
    checked = schemas({"type": "object"}, {"type": "object", "required": ["n"]})
    assert await checked.validate_output("t", {"n": 1}, 10) == Validation()
    assert (await checked.validate_output("t", {}, 10)).errors == ("'n' is a required property",)
    assert (await checked.validate_output("t", None, 10)).errors == (
        "the tool has an outputSchema, but its result has no structuredContent",
    )
    assert await schemas({"type": "object"}).validate_output("t", None, 10) == Validation()


async def test_a_schema_that_nobody_can_examine_is_no_problem_of_the_server() -> None:
    nested: Any = {}
    for _ in range(2_000):
        nested = {"items": nested}
    many: Any = {"anyOf": [{}] * 30_000}
    # Before Python 3.12 its JSON cannot even be written.
    words = ("it is nested too deeply", "that takes more than 150 levels")
    assert await examine_schema({"properties": {"a": nested}}) in [
        Examination(gave_up=why) for why in words
    ]
    assert await examine_schema(many) == Examination(gave_up="that takes more than 200,000 steps")
    checked = await schemas(many).validate_arguments("t", {})
    assert checked.errors == ()
    assert checked.gave_up is not None


@pytest.mark.slow
async def test_a_bomb_holds_up_nobody_else() -> None:
    finished: list[str] = []

    async def bomb() -> None:
        checked = await schemas(BOMB).validate_arguments("t", {})
        assert checked == Validation(gave_up="to validate it takes more than 400,000 steps")
        finished.append("bomb")

    async def neighbour() -> None:
        for number in range(100):
            await schemas(NUMBER).validate_arguments("t", {"n": number})
            await anyio.lowlevel.checkpoint()
        finished.append("neighbour")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bomb)
        tasks.start_soon(neighbour)
    assert finished == ["neighbour", "bomb"]


async def test_a_deadline_ends_the_wait_for_a_bomb() -> None:
    with anyio.move_on_after(0.05) as scope:
        await schemas(BOMB).validate_arguments("t", {})
    assert scope.cancelled_caught


async def test_values_that_are_written_differently_are_told_apart() -> None:
    whole = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}
    for _ in range(2):
        held = [
            (await schemas(whole).validate_arguments("t", value)).errors
            for value in ({"n": 1}, {"n": True}, {"n": "1"}, {"s": "1"}, {"s": 1})
        ]
        assert [bool(errors) for errors in held] == [False, True, True, False, True]
    assert (await schemas(NUMBER).validate_arguments("t", {"s": 1})).errors == ()


async def test_errors_repeat_a_value_in_its_own_order() -> None:
    closed = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for value in ({"y": 1, "x": 2}, {"x": 2, "y": 1}):
        assert (await schemas(closed).validate_arguments("t", {"a": value})).errors == (
            f"at 'a': {value} is not of type 'integer'",
        )
