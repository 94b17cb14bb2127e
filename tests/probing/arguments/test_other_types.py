"""Arguments of another type than the schema's."""

from __future__ import annotations

from typing import Any

import pytest

from harness.probing.arguments.argument_change import propose_other_types

NULL = "null as 'city'"


def tried(part: dict[str, Any]) -> set[str]:
    schema = {"type": "object", "properties": {"city": part}}
    return {bend.words for bend in propose_other_types(schema, {"city": "Lisbon"}, {})}


def test_null_is_tried_where_the_schema_does_not_allow_it() -> None:
    assert NULL in tried({"type": "string"})
    assert NULL in tried({"type": "array", "items": {"type": "string"}})
    assert NULL in tried({"type": "string", "default": "Porto"})


@pytest.mark.parametrize(
    "part",
    [
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": ["string", "null"]},
        {"type": "string", "default": None},
    ],
)
def test_null_is_no_forgery_where_the_schema_allows_it(part: dict[str, Any]) -> None:
    found = tried(part)
    assert NULL not in found
    assert "a list with it alone as 'city'" in found
