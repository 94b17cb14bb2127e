from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.leaderboards.bfcl.functions import build_description, build_parameters, json_schema


@pytest.mark.parametrize(
    ("described", "schema"),
    [
        ({"type": "float", "description": "d"}, {"type": "number", "description": "d"}),
        ({"type": "any"}, {}),
        ({"type": ""}, {}),
        (
            {"type": "tuple", "items": {"type": "float"}},
            {"type": "array", "items": {"type": "number"}},
        ),
        (
            {"type": "string", "enum": ["a"], "default": "a"},
            {"type": "string", "enum": ["a"], "default": "a"},
        ),
        ({"type": "integer", "optional": True}, {"type": "integer"}),
        (
            {
                "type": "dict",
                "properties": {"type": {"type": "any"}},
                "additionalProperties": {"type": "float"},
            },
            {
                "type": "object",
                "properties": {"type": {}},
                "additionalProperties": {"type": "number"},
            },
        ),
    ],
)
def test_types_get_their_names_in_json_schema(
    described: dict[str, Any], schema: dict[str, Any]
) -> None:
    assert json_schema(described) == schema


described_values = st.recursive(
    st.sampled_from(["string", "integer", "float", "boolean", "any"]).map(
        lambda kind: {"type": kind}
    ),
    lambda inner: (
        inner.map(lambda one: {"type": "array", "items": one})
        | inner.map(lambda one: {"type": "tuple", "items": one})
        | st.dictionaries(st.text(), inner).map(
            lambda many: {"type": "dict", "properties": many, "required": list(many)}
        )
    ),
    max_leaves=10,
)


@given(described_values)
def test_whatever_is_described_becomes_a_valid_schema(described: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(json_schema(described))


def test_java_values_travel_as_texts_that_say_what_they_are() -> None:
    function = {
        "name": "f",
        "description": "Does it.",
        "parameters": {
            "type": "dict",
            "properties": {
                "ids": {"type": "ArrayList", "description": "Ids.", "items": {"type": "String"}},
                "key": {"type": "any", "description": "Key."},
            },
            "required": ["ids"],
        },
    }
    schema = build_parameters(function, "java")
    assert schema["required"] == ["ids"]
    assert schema["type"] == "object"
    assert {name: one["type"] for name, one in schema["properties"].items()} == {
        "ids": "string",
        "key": "string",
    }
    assert "Java ArrayList type" in schema["properties"]["ids"]["description"]
    assert "elements are of type String" in schema["properties"]["ids"]["description"]
    assert "any type of Java object" in schema["properties"]["key"]["description"]
    assert (
        build_description(function, "java")
        == "Does it. Note that the provided function is in Java 8 SDK syntax."
    )
