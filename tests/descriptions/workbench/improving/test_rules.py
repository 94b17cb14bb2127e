"""The rules: what each proposes for a tool whose questions fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.descriptions.workbench.arms import iterate_tool_parts
from harness.descriptions.workbench.improving.proposal import (
    CaseFailure,
    ExpectedCall,
    Proposal,
    ProposerInput,
    combine_proposals,
    find_mistake,
)
from harness.descriptions.workbench.improving.rules import RULES, find_choices, propose_by_rules
from harness.types import Tool, ToolEdit


def tool(name: str, description: str, **properties: Mapping[str, Any]) -> Tool:
    return Tool(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": properties},
    )


def failure(prompt: str, wanted: str, called: str | None = None, **arguments: Any) -> CaseFailure:
    return CaseFailure(
        prompt=prompt,
        expected=ExpectedCall(tool=wanted, arguments=arguments),
        called=called,
        arguments={},
    )


def proposed(rule: str, known: ProposerInput) -> Mapping[str, ToolEdit]:
    found = {one.name: one for one in propose_by_rules(known)}
    return found[rule].tools if rule in found else {}


ORDERS = tool("list_orders", "Lists orders.")
STOCK = tool("list_stock", "Lists what is in stock. Do not use it for orders.")


def test_a_tool_that_is_called_by_mistake_names_the_one_to_use() -> None:
    known = ProposerInput(
        tools=(ORDERS, STOCK), failures=(failure("x", "list_orders", "list_stock"),)
    )
    edit = proposed("name the sibling", known)["list_stock"]
    assert edit.description is not None
    assert edit.description.endswith("Use list_orders instead when this is wanted: Lists orders.")


def test_words_that_failing_questions_use_are_added_but_no_names_ids_or_values() -> None:
    failures = (
        failure("Which parcels has Baker?", "list_orders", customer="Baker"),
        failure("Any parcels for acme in May, ORD-17?", "list_orders", customer="acme"),
    )
    known = ProposerInput(tools=(ORDERS, STOCK), failures=failures)
    edit = proposed("words of the questions", known)["list_orders"]
    assert edit.description == "Lists orders. Also for questions that speak of: parcels."


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("State: one of open, shipped or closed", ("open", "shipped", "closed")),
        ("One of 'in transit', 'lost'.", ("in transit", "lost")),
        ("Either asc or desc.", ("asc", "desc")),
        ("Sort order (asc|desc)", ("asc", "desc")),
        ("Id of the customer or supplier", ()),
        ("One of the customer's orders", ()),
        ("The state", ()),
    ],
)
def test_choices_are_read_from_prose_only_where_it_lists_nothing_else(
    text: str, listed: tuple[str, ...]
) -> None:
    assert find_choices(text) == listed


def test_choices_become_an_enum_unless_there_is_one_or_they_break_the_schema() -> None:
    said = "One of open or closed."
    shop = tool(
        "list_orders",
        "",
        state={"type": "string", "description": said},
        kind={"type": "string", "description": said, "enum": ["open"]},
        code={"type": "string", "description": said, "pattern": "^[0-9]+$"},
        count={"type": "integer", "description": said},
    )
    known = ProposerInput(tools=(shop,), failures=(failure("x", "list_orders"),))
    parameters = proposed("choices as enum", known)["list_orders"].parameters
    assert list(parameters) == ["state"]
    assert parameters["state"] is not None
    assert parameters["state"].enum == ("open", "closed")


def test_examples_come_from_what_seen_failures_expect_else_from_the_schema() -> None:
    shop = tool(
        "list_orders",
        "",
        customer={"type": "string"},
        order={"type": "string", "pattern": "^ORD-[0-9]{3}$"},
        since={"type": "string", "format": "date"},
        note={"type": "string"},
    )
    known = ProposerInput(
        tools=(shop,),
        failures=(failure("x", "list_orders"),),
        values={("list_orders", "customer"): ("Baker", "Miller", "Smith")},
    )
    parameters = proposed("examples", known)["list_orders"].parameters
    found = {name: edit.examples for name, edit in parameters.items() if edit is not None}
    assert found == {
        "customer": ("Baker", "Miller"),
        "order": ("ORD-123",),
        "since": ("2025-03-14",),
    }


def test_formats_and_bounds_are_said_in_words_unless_the_text_says_them() -> None:
    shop = tool(
        "list_orders",
        "",
        since={"type": "string", "format": "date", "description": "First day"},
        until={"type": "string", "format": "date", "description": "Last day, YYYY-MM-DD"},
        limit={"type": "integer", "minimum": 1, "maximum": 50, "description": "Most rows."},
    )
    known = ProposerInput(tools=(shop,), failures=(failure("x", "list_orders"),))
    parameters = proposed("formats in words", known)["list_orders"].parameters
    said = {name: edit.description for name, edit in parameters.items() if edit is not None}
    assert said == {
        "since": "First day. A date written as YYYY-MM-DD.",
        "limit": "Most rows. From 1 to 50.",
    }


def test_what_a_tool_is_not_for_moves_to_the_front() -> None:
    known = ProposerInput(
        tools=(ORDERS, STOCK), failures=(failure("x", "list_orders", "list_stock"),)
    )
    edits = proposed("limits first", known)
    assert list(edits) == ["list_stock"]
    assert edits["list_stock"].description == ("Do not use it for orders. Lists what is in stock.")


def test_sentences_that_did_nothing_are_dropped_but_never_all() -> None:
    idle = tool("list_orders", "Lists orders. Made with care. Sorted.")
    parts = [part for part in iterate_tool_parts([idle]) if part.kind == "sentence"]
    known = ProposerInput(
        tools=(idle,),
        failures=(failure("x", "list_orders"),),
        effects=((parts[0], 0.2), (parts[1], 0.0), (parts[2], -0.1)),
    )
    assert proposed("drop sentences", known)["list_orders"].description == "Lists orders."
    all_idle = ProposerInput(
        tools=(idle,), failures=known.failures, effects=tuple((part, 0.0) for part in parts)
    )
    assert proposed("drop sentences", all_idle) == {}


def test_proposals_are_combined_without_losing_a_sentence() -> None:
    first = Proposal(
        name="a", why="a", tools={"list_orders": ToolEdit(description="Lists orders. One.")}
    )
    second = Proposal(
        name="b", why="b", tools={"list_orders": ToolEdit(description="Lists orders. Two.")}
    )
    third = Proposal(name="c", why="c", tools={"list_orders": ToolEdit(title="Orders")})
    joined = combine_proposals("all", [first, second, third], (ORDERS,))
    assert joined.tools["list_orders"].description == "Lists orders. One. Two."
    assert joined.tools["list_orders"].title == "Orders"
    assert combine_proposals("all", [joined, first], (ORDERS,)).tools == joined.tools


def test_every_rule_proposes_only_what_can_be_tried() -> None:
    shop = tool(
        "list_orders",
        "Lists orders. Never for stock.",
        state={"type": "string", "description": "One of open or closed"},
        since={"type": "string", "format": "date"},
    )
    part = next(part for part in iterate_tool_parts([shop]) if part.kind == "sentence")
    known = ProposerInput(
        tools=(shop, STOCK),
        failures=(failure("Show parcels", "list_orders", "list_stock"),),
        effects=((part, -0.5),),
    )
    found = {one.name: one for one in propose_by_rules(known)}
    assert found.keys() == RULES.keys()
    assert {find_mistake(one, known.tools) for one in found.values()} == {None}
