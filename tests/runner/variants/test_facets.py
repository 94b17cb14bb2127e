"""The enum of an optional parameter is in an alternative, and is edited there."""

from __future__ import annotations

from typing import Any

import pytest

from harness.descriptions.workbench.arms import iterate_tool_parts, remove_part
from harness.runner.variants.edits import Facet, get_facet, replace_facet
from harness.runner.variants.shown_tools import ShownTools
from harness.types import ParameterEdit, Tool, ToolEdit, ToolList, Variant

OPTIONAL = {
    "anyOf": [{"type": "string", "enum": ["open", "closed"]}, {"type": "null"}],
    "default": None,
    "description": "State.",
}
TOOL = Tool(
    name="search",
    description="Find orders.",
    input_schema={"type": "object", "properties": {"status": OPTIONAL}},
)


def status(variant: Variant) -> dict[str, Any]:
    shown = ShownTools(variant, ToolList(tools=(TOOL,))).tools.tools[0]
    return dict(shown.input_schema["properties"]["status"])


def test_an_enum_is_replaced_where_it_stands() -> None:
    edit = ToolEdit(parameters={"status": ParameterEdit(enum=("open",))})
    shown = status(Variant(name="v", tools={"search": edit}))
    assert shown == {
        **OPTIONAL,
        "anyOf": [{"type": "string", "enum": ["open"]}, {"type": "null"}],
    }


def test_the_parts_of_a_tool_have_the_enum_and_it_can_be_taken_out() -> None:
    (part,) = [part for part in iterate_tool_parts([TOOL]) if part.kind == "enum"]
    assert part.text == '["open", "closed"]'
    assert status(remove_part(part, [TOOL]))["anyOf"] == [{"type": "string"}, {"type": "null"}]


@pytest.mark.parametrize(
    ("schema", "key", "value", "expected"),
    [
        ({"type": "string"}, "enum", (["a"],), {"type": "string", "enum": ["a"]}),
        ({"type": "string", "enum": ["a"]}, "enum", (), {"type": "string"}),
        ({"default": None, "anyOf": [{"default": 1}]}, "default", (2,), {"default": 2}),
        ({"anyOf": "broken"}, "examples", ([1],), {"anyOf": "broken", "examples": [1]}),
    ],
)
def test_a_value_is_put_in_its_place(
    schema: dict[str, Any], key: Facet, value: tuple[Any, ...], expected: dict[str, Any]
) -> None:
    changed = replace_facet(schema, key, value)
    assert changed == {**{k: v for k, v in schema.items() if k == "anyOf"}, **expected}
    assert get_facet(changed, key) == (value[0] if value else None)
