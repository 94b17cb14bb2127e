from dataclasses import replace

import pytest

from harness.runlog import Header
from harness.runlog.diff import find_differences, tool_differences
from harness.suites.axes import describe_values
from harness.types import Decoys, Tool, ToolEdit, ToolList, Variant

LOOK = Tool(name="look", input_schema={"type": "object"}, description="Looks.")


def a_list(digest: str, *tools: Tool) -> dict[str, ToolList]:
    return {digest: ToolList(tools=tools, digest=digest)}


def test_equal_lists_do_not_differ() -> None:
    assert list(tool_differences(a_list("1", LOOK), a_list("1", LOOK))) == []


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ((), ["tool look is gone"]),
        ((LOOK, Tool(name="new", input_schema={})), ["tool new is new"]),
        ((Tool(name="look", input_schema={"type": "object"}),), ["tool look: description changed"]),
        (
            (Tool(name="look", input_schema={}, destructive=True),),
            ["tool look: annotations, description, input schema changed"],
        ),
    ],
)
def test_what_changed_of_a_tool_is_said(tools: tuple[Tool, ...], words: list[str]) -> None:
    assert list(tool_differences(a_list("1", LOOK), a_list("2", *tools))) == words


def test_a_tool_that_another_user_sees_in_another_form_is_one_tool() -> None:
    other = Tool(name="look", input_schema={}, description="Looks.")
    before = a_list("1", LOOK) | a_list("2", other)
    assert list(tool_differences(before, a_list("1", LOOK))) == [
        "tool look: who is shown it changed"
    ]


def test_a_variant_is_told_by_its_name_and_what_it_touches() -> None:
    edits = Variant(
        name="crowd",
        tools={"look": ToolEdit(name="see")},
        order=7,
        add=(Decoys(count=64),),
        prefix="mcp__crm__",
        max_result_tokens=2_000,
    )
    before, after, other = (
        Header(
            run_id="r",
            started_at="",
            harness_version="",
            planned=1,
            axes=describe_values(points),
        )
        for points in ([], [{"variant": edits}], [{"variant": replace(edits, order=8)}])
    )
    (words,) = find_differences(before, after)
    told = (
        "crowd (edits look; another order; 64 decoys; names with 'mcp__crm__'; "
        "results cut at 2,000 tokens; digest "
    )
    assert words.startswith(f"variant {told}")
    assert words.endswith("is new")
    (words,) = find_differences(after, other)
    assert words.startswith(f"variant was {told}")
    assert f", is {told}" in words
