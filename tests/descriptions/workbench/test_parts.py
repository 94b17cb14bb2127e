"""The parts of a tool list, and lists without one of them."""

from __future__ import annotations

import pytest

from harness.descriptions.workbench.arms import (
    Part,
    ServerTexts,
    collect_texts,
    count_tokens,
    iterate_parts,
    iterate_tool_parts,
    remove_part,
)
from harness.runner.variants.edits import edit_instructions
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
    assert [part.label for part in iterate_tool_parts(TOOLS)] == [
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


@pytest.mark.parametrize("part", list(iterate_tool_parts(TOOLS)), ids=lambda part: part.label)
def test_without_a_part_its_words_are_gone_and_the_others_are_there(part: Part) -> None:
    shown = ShownTools(remove_part(part, TOOLS), ToolList(tools=TOOLS)).tools.tools
    left = [other.text for other in iterate_tool_parts(shown)]
    expected = [other.text for other in iterate_tool_parts(TOOLS) if other != part]
    assert [text for text in left if text in expected] == expected
    assert part.text not in left


def test_a_name_that_says_nothing_is_never_that_of_another_tool() -> None:
    [name] = [part for part in iterate_tool_parts(TOOLS) if part.label == "find: name"]
    names = [
        tool.name
        for tool in ShownTools(remove_part(name, TOOLS), ToolList(tools=TOOLS)).tools.tools
    ]
    assert len(set(names)) == len(TOOLS)


def test_a_part_has_a_price() -> None:
    assert all(part.tokens >= 1 for part in iterate_tool_parts(TOOLS))


SAID = {"shop": "Ask first. Prices are in euros.", "bank": "Never guess."}


def test_instructions_are_parts_as_a_whole_and_by_sentences() -> None:
    parts = list(iterate_parts(ServerTexts(tools=TOOLS, instructions=(SAID,))))
    of_server = [part for part in parts if part.tool is None]
    assert [part.label for part in of_server] == [
        "the server's instructions: all",
        "the server's instructions: sentence 1",
        "the server's instructions: sentence 2",
        "the server's instructions: sentence 3",
    ]
    assert parts[4:] == list(iterate_tool_parts(TOOLS))
    # The whole is no further text.
    assert count_tokens(of_server) == sum(part.tokens for part in of_server[1:])


@pytest.mark.parametrize(
    "instructions",
    [({"shop": "Ask first."},), ({"shop": "Ask. First."}, {"shop": "Ask."})],
    ids=["one sentence", "other ones for another caller"],
)
def test_instructions_without_numbers_that_mean_one_sentence_are_removed_as_a_whole(
    instructions: tuple[dict[str, str], ...],
) -> None:
    [part] = iterate_parts(ServerTexts(instructions=instructions))
    assert part.label == "the server's instructions: all"
    assert count_tokens([part]) == part.tokens


def test_without_a_part_of_the_instructions_its_words_are_gone_and_the_others_are_there() -> None:
    whole, *sentences = iterate_parts(ServerTexts(instructions=(SAID,)))
    assert edit_instructions(remove_part(whole, ()).instructions, SAID) == {}
    for part in sentences:
        left = " ".join(edit_instructions(remove_part(part, ()).instructions, SAID).values())
        assert part.text not in left
        assert all(other.text in left for other in sentences if other != part)


def test_callers_with_equal_texts_are_collected_once() -> None:
    lists = [ToolList(tools=TOOLS, instructions=said) for said in (SAID, {}, dict(SAID))]
    assert collect_texts(lists) == ServerTexts(tools=TOOLS, instructions=(SAID,))
