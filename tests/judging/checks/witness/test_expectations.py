from __future__ import annotations

from typing import Any

import pytest

from harness.judging.checks.kinds.metrics import as_matcher
from harness.judging.checks.witness.expectations import find_mismatches
from harness.types import Tool

TOOL = Tool(
    name="order",
    input_schema={
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9]{4}$"},
            "count": {"type": "integer", "minimum": 1, "maximum": 10},
            "state": {"enum": ["open", "shipped"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "filter": {"$ref": "#/$defs/Filter"},
            "fast": {"type": "boolean"},
            "kind": {"const": "order"},
        },
        "required": ["id"],
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {"step": {"type": "integer", "multipleOf": 3}},
                "required": ["step"],
            }
        },
    },
)


@pytest.mark.parametrize(
    ("args", "words", "meant"),
    [
        ({"id": 1042}, "'id' as 1042: 1042 is not of type 'string'", 'Write "1042"'),
        ({"id": "42"}, "'42' does not match '^[0-9]{4}$'", None),
        ({"count": "5"}, "'5' is not of type 'integer'", "Write 5, as the tool takes a number."),
        ({"count": 11}, "11 is greater than the maximum of 10", None),
        ({"count": {"$gt": 10}}, "'count' as more than 10: its schema there is {\"type\": ", None),
        ({"count": {"$matches": "^5$"}}, 'as matching "^5$"', None),
        ({"state": "Open"}, "is not one of ['open', 'shipped']", 'Write "open"'),
        ({"state": {"$one_of": ["new", "old"]}}, 'as one of ["new", "old"]', None),
        ({"note": 5}, "5 is not ", 'Write "5"'),
        ({"tags": "sale"}, "is not of type 'array'", 'Write ["sale"], as the tool takes a list.'),
        ({"tags": {"$contains": 5}}, "'tags[0]' as 5", 'Write "5"'),
        ({"tags": ["a", "b", "c"]}, "too long", None),
        ({"tags": {"$length": 3}}, "'tags' as of length 3", None),
        ({"filter": {"step": 4}}, "4 is not a multiple of 3", None),
        ({"filter": {"$path": {"step": {"$gt": 3, "$lt": 6}}}}, "'filter.step' as more than", None),
        (
            {"filter": {"step": 3, "stepp": 1}},
            "has no argument 'filter.stepp'",
            "Did you mean 'step'?",
        ),
        ({"fast": "true"}, "is not of type 'boolean'", "Write true"),
        ({"fast": "True"}, "is not of type 'boolean'", "Write true"),
        ({"fast": 1}, "is not of type 'boolean'", "Write true"),
        ({"fast": None}, "is not of type 'boolean'", "Leave it out; write {$absent: true}"),
        ({"count": True}, "is not of type 'integer'", "Write 1,"),
        ({"tags": "a, b"}, "is not of type 'array'", 'Write ["a", "b"], as the tool takes a list.'),
        ({"kind": "invoice"}, "'order' was expected", None),
        ({"id": {"$absent": True}}, "'id' as absent", None),
        ({"$equals": {"count": 1}}, "'id' is a required property", None),
        ({"$path": {"filter.step": 4}}, "'filter.step' as 4", None),
    ],
)
def test_it_is_said_what_the_schema_demands_and_what_was_meant(
    args: dict[str, Any], words: str, meant: str | None
) -> None:
    (found,) = find_mismatches(TOOL, args)
    assert words in found.message
    assert found.message.startswith(("no valid call of 'order' has ", "the tool 'order' has no "))
    assert (found.meant is None) if meant is None else meant in str(found.meant)


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"id": "1042", "count": 5.0, "state": "open", "note": None, "tags": ["a"]},
        {"filter": {"step": {"$gte": 4}}, "count": {"$not": 5}},
        {"$equals": {"id": "1042"}},
        {"id": {"$matches": "4"}, "fast": {"$absent": True}},
        {"tags": {"$every": {"$length": {"$gt": 3}}}},
    ],
)
def test_of_what_a_valid_call_has_nothing_is_said(args: dict[str, Any]) -> None:
    assert not find_mismatches(TOOL, args)


def test_arguments_are_an_object_even_if_the_schema_does_not_say_so() -> None:
    tool = Tool(name="order", input_schema={"properties": {"id": {"type": "string"}}})
    assert find_mismatches(tool, {"id": 1042})
    assert not find_mismatches(tool, {"id": "1042"})


def test_a_graded_call_is_held_against_the_schema_as_it_is_graded() -> None:
    graded: list[dict[str, Any]] = [
        {"state": "OPEN"},
        {"count": 5.0000001},
        {"filter": {}},
        {"tags": ["A"]},
    ]
    for args in graded:
        assert not find_mismatches(TOOL, as_matcher(args))
    (found,) = find_mismatches(TOOL, as_matcher({"id": 1042}))
    assert found.meant == 'Write "1042", as the tool takes a string.'
    assert find_mismatches(TOOL, as_matcher({"filter": {"step": "x"}}))


EMAIL = {"type": "string", "format": "email", "pattern": r"^(?!\.)[^@]+@[a-z.]+$"}


@pytest.mark.parametrize("args", [{"mail": 5}, {"count": "5"}, {"mail": ["a@b.c"]}, {"to": "a"}])
def test_a_pattern_with_look_ahead_hides_nothing_else_of_the_schema(args: dict[str, Any]) -> None:
    properties = {"mail": EMAIL, "count": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["mail"]}
    assert find_mismatches(Tool(name="order", input_schema=schema), args)
    assert not find_mismatches(
        Tool(name="order", input_schema=schema), {"mail": "a@b.c", "count": 5}
    )
    one_of = {"oneOf": [EMAIL, {"type": "string", "minLength": 9}]}  # a longer one may be no mail
    either = Tool(name="order", input_schema={"properties": {"mail": one_of}})
    assert not find_mismatches(either, {"mail": "a.long.text"})


def test_null_is_valid_where_a_schema_is_nullable_as_in_openapi() -> None:
    state = {"type": "string", "enum": ["open"], "nullable": True}
    tool = Tool(name="order", input_schema={"type": "object", "properties": {"state": state}})
    assert not find_mismatches(tool, {"state": None})
    assert find_mismatches(tool, {"state": 5})
