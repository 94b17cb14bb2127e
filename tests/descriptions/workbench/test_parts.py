"""The parts of a tool list, and lists without one of them."""

from __future__ import annotations

import pytest

from harness.descriptions.workbench.arms import Part, iterate_parts, remove_part
from harness.runner.variants.shown_tools import ShownTools
from harness.types import Tool, ToolList

TOOLS = (
    Tool(
        name="find",
        title="Find orders",
        description="Find orders. Not for invoices.",
        input_schema={
            "type": "object",
            "required": ["status"],
            "properties": {
                "status": {"type": "string", "description": "Its state", "enum": ["open", "shut"]},
                "limit": {"type": "integer", "default": 5, "examples": [3]},
            },
        },
    ),
    Tool(name="tool_1", description="", input_schema={"type": "object"}),
)


def test_every_word_that_a_model_reads_is_part_of_a_part() -> None:
    assert [part.label for part in iterate_parts(TOOLS)] == [
        "find: name",
        "find: title",
        "find: sentence 1",
        "find: sentence 2",
        "find: name of status",
        "find: text of status",
        "find: enum of status",
        "find: name of limit",
        "find: examples of limit",
        "find: default of limit",
        "tool_1: name",
    ]


@pytest.mark.parametrize("part", list(iterate_parts(TOOLS)), ids=lambda part: part.label)
def test_without_a_part_its_words_are_gone_and_the_others_are_there(part: Part) -> None:
    shown = ShownTools(remove_part(part, TOOLS), ToolList(tools=TOOLS)).tools.tools
    left = [other.text for other in iterate_parts(shown)]
    expected = [other.text for other in iterate_parts(TOOLS) if other != part]
    assert [text for text in left if text in expected] == expected
    assert part.text not in left


def test_a_name_that_says_nothing_is_never_that_of_another_tool() -> None:
    [name] = [part for part in iterate_parts(TOOLS) if part.label == "find: name"]
    names = [
        tool.name
        for tool in ShownTools(remove_part(name, TOOLS), ToolList(tools=TOOLS)).tools.tools
    ]
    assert len(set(names)) == len(TOOLS)


def test_a_part_has_a_price() -> None:
    assert all(part.tokens >= 1 for part in iterate_parts(TOOLS))
