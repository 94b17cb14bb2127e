"""It measures descriptions: better ones get better choices, and none get poor ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.types import Tool, ToolList
from tests.models.lexical.conversations import score, talk
from tests.models.lexical.prompts import DEVELOPED_ON, HELD_OUT, Prompt
from tests.models.lexical.toolsets import TOOLSETS, text, tool

ID = {"customer_id": text("Customer id, e.g. CUST_00042")}
ORDERS = "List what a customer has ordered, with dates and amounts."
CONTACT = "Look up a customer's address, phone and email."


def pair(first: str, second: str, names: tuple[str, str]) -> ToolList:
    return ToolList(
        tools=(tool(names[0], first, ID, "customer_id"), tool(names[1], second, ID, "customer_id")),
    )


def without_descriptions(tools: ToolList) -> ToolList:
    return ToolList(tools=tuple(_bare(one) for one in tools.tools))


def _bare(one: Tool) -> Tool:
    def strip(schema: object) -> object:
        if isinstance(schema, dict):
            return {
                key: strip(value)
                for key, value in schema.items()
                if key != "description" or "type" not in schema
            }
        return schema

    schema = strip(one.input_schema)
    assert isinstance(schema, dict)
    return replace(one, description="", title=None, input_schema=schema)


@pytest.mark.parametrize(
    "names", [("tool_a", "tool_b"), ("customer_info", "customer_data"), ("get_1", "get_2")]
)
@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("What did CUST_00042 order, and for what amounts?", ORDERS),
        ("What is the address of CUST_00042?", CONTACT),
    ],
)
def test_the_choice_follows_descriptions_that_are_swapped(
    names: tuple[str, str], prompt: str, meant: str
) -> None:
    for tools in (pair(ORDERS, CONTACT, names), pair(CONTACT, ORDERS, names)):
        described = {one.name: one.description for one in tools.tools}
        assert [described[name] for name, _ in talk(tools, prompt).calls] == [meant]


@pytest.mark.parametrize("prompts", [DEVELOPED_ON, HELD_OUT], ids=["developed_on", "held_out"])
def test_the_score_drops_when_all_descriptions_are_blank(prompts: tuple[Prompt, ...]) -> None:
    blank = {domain: without_descriptions(tools) for domain, tools in TOOLSETS.items()}
    with_them, without = score(prompts, TOOLSETS), score(prompts, blank)
    assert without[0] <= with_them[0] - 4
    assert without[1] <= with_them[1] - 8
