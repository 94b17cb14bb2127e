"""The rules on a server's instructions."""

from __future__ import annotations

import pytest

from harness.descriptions.linting.findings import lint_tools
from harness.descriptions.linting.rules.instructions import SHOWN_CHARACTERS
from harness.types import Tool, ToolList

LISTED = Tool(
    name="find_orders",
    description="Find the orders of a customer.",
    input_schema={"type": "object", "properties": {"customer_id": {"type": "string"}}},
)


def find_messages(rule: str, text: str) -> list[str]:
    tools = ToolList(tools=(LISTED,), instructions={"shop": text})
    return [one.message for one in lint_tools(tools) if one.rule == rule]


def test_what_a_host_cuts_off_is_a_finding() -> None:
    fits = "x" * SHOWN_CHARACTERS
    assert find_messages("instructions-cut", fits) == []
    (message,) = find_messages("instructions-cut", f"{fits}Never delete\nan order.")
    assert "2,048. What is cut begins: “Never delete an order.”" in message


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("First call `find_order`.", "find_order"),
        ("The `list_all` tool is slow; use `find_orders`.", "list_all"),
        ("Use the `find_orders` tool.", None),
        ("Call `find_orders` with `customer_id` `C-1`.", None),
        ("Use `customer_id` where you can.", None),
        ("A status is `open` or `closed`.", None),
        ("Call us at `555`.", None),
    ],
)
def test_a_tool_that_is_not_offered_is_a_finding(text: str, missing: str | None) -> None:
    found = find_messages("instructions-unknown-tool", text)
    assert [one.partition("not offered: ")[2] for one in found] == (
        [f"{missing}."] if missing else []
    )


def test_a_server_without_instructions_has_no_finding_of_them() -> None:
    found = {one.rule for one in lint_tools(ToolList(tools=(LISTED,)))}
    assert not [rule for rule in found if rule.startswith("instructions")]
