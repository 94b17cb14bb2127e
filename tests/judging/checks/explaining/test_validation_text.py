"""The fields that a server's validation error is about are named in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.judging.checks.explaining.transcript_lines import describe_outcome
from harness.judging.checks.explaining.validation_text import invalid_fields
from tests.judging.checks.scenes import call

_NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer"


class _Filter(BaseModel):
    size: int
    tags: list[int]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"tags": []}, "size: Field required"),
        (
            {"size": "x", "tags": ["y"]},
            f"size: {_NO_INTEGER}; tags.0: {_NO_INTEGER}",
        ),
    ],
)
def test_fields_are_read_from_what_pydantic_writes(value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(_Filter).validate_python(value)
    assert invalid_fields(f"Error executing tool find: {caught.value}") == said


ISSUES = [
    {"code": "invalid_type", "expected": "string", "path": ["filter", 0], "message": "Required"},
    {"code": "unrecognized_keys", "keys": ["x"], "path": [], "message": "Unrecognized key: x"},
]


def test_fields_are_read_from_what_zod_writes() -> None:
    text = f"MCP error -32602: Invalid arguments for tool find: {json.dumps(ISSUES, indent=2)}"
    assert invalid_fields(text) == "filter.0: Required; the arguments: Unrecognized key: x"


@pytest.mark.parametrize("kind", ["tool_error", "invalid_arguments"])
def test_a_failed_call_is_shown_with_the_field_and_not_with_the_first_lines(kind: Any) -> None:
    text = f"MCP error -32602: Invalid arguments for tool find: {json.dumps(ISSUES, indent=2)}"
    made = call("find", outcome=kind, text=text)
    assert "filter.0: Required" in describe_outcome(made)
    assert "invalid_type" not in describe_outcome(made)


@given(text=st.one_of(st.text(), st.text('[]{}":,\n 1validation error for')))
def test_any_other_text_has_no_fields_or_is_read_without_an_error(text: str) -> None:
    found = invalid_fields(text)
    assert found is None or ": " in found
