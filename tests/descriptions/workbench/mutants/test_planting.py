"""Every operator plants one defect that a model can see, and the choice is fair and repeatable."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml
from hypothesis import given

from harness.descriptions.workbench.arms import variant_key
from harness.descriptions.workbench.mutants.kill_score import missing_test
from harness.descriptions.workbench.mutants.mutant import Mutant
from harness.descriptions.workbench.mutants.planting import (
    OPERATORS,
    build_placebos,
    has_visible_change,
    plant_mutants,
)
from harness.runner.variants.shown_tools import ShownTools
from harness.types import Tool, ToolList
from tests.descriptions.drafting.toolsets import tool_lists
from tests.descriptions.workbench.mutants.tools import EXPORT, GET, SEARCH, TOOLS


def every() -> tuple[Mutant, ...]:
    return plant_mutants(TOOLS, 1_000, 0).mutants


def shown(mutant: Mutant) -> dict[str, Tool]:
    """Return what a model is shown, by the server's name of each tool."""
    view = ShownTools(mutant.variant, ToolList(tools=TOOLS))
    return dict(zip([tool.name for tool in TOOLS], view.tools.tools, strict=True))


def one(operator: str, parameter: str | None = None, tool: str = "search_orders") -> Tool:
    """Return ``tool`` as the first mutant of ``operator`` shows it."""
    mutants = OPERATORS[operator](operator, TOOLS)
    return shown(
        next(each for each in mutants if (each.tool, each.parameter) == (tool, parameter))
    )[tool]


def schema(operator: str, parameter: str) -> Any:
    return one(operator, parameter).input_schema["properties"][parameter]


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_operator_finds_its_place(operator: str) -> None:
    mutants = list(OPERATORS[operator](operator, TOOLS))
    assert mutants
    for mutant in mutants:
        assert mutant.operator == operator
        assert has_visible_change(mutant, TOOLS)
        assert mutant.defect in mutant.label
    assert list(OPERATORS[operator](operator, [EXPORT])) is not None
    assert list(OPERATORS[operator](operator, [])) == []


def test_texts_of_tools_are_damaged_as_told() -> None:
    assert one("emptied-text").description == ""
    assert one("purpose-removed").description == "For one order use get_order instead."
    assert one("when-not-removed").description == "List the newest orders of one customer."
    assert one("wrong-claim").description.startswith("Delete the newest orders")
    assert one("contrary-word").description.startswith("List the oldest orders")
    swapped = shown(next(iter(OPERATORS["swapped-texts"]("swapped-texts", [SEARCH, GET]))))
    assert swapped["search_orders"].description == GET.description
    assert swapped["get_order"].description == SEARCH.description


def test_names_are_swapped_and_mistaken_as_told() -> None:
    swapped = shown(next(iter(OPERATORS["swapped-names"]("swapped-names", [SEARCH, GET]))))
    assert (swapped["search_orders"].name, swapped["get_order"].name) == (
        "get_order",
        "search_orders",
    )
    assert one("sibling-name", tool="get_order").name == "find_orders"
    names = list(one("opposite-parameter", "date_from").input_schema["properties"])
    assert names == ["customer", "status", "date_to", "date_from", "max_age"]
    assert "customer" not in one("required-hidden", "customer").input_schema["properties"]


def test_texts_and_values_of_parameters_are_damaged_as_told() -> None:
    assert schema("unit-removed", "max_age")["description"] == "Age at most."
    assert schema("wrong-unit", "max_age")["description"] == "Age at most, in weeks."
    assert schema("wrong-date", "date_to")["description"] == "Last day, DD/MM/YYYY."
    assert schema("wrong-default", "max_age")["default"] == 300
    assert "description" not in schema("text-removed", "status")
    wrong = schema("wrong-example", "customer")
    assert (wrong["examples"], wrong["description"]) == (["42"], "Id of the customer, such as 42.")
    assert "examples" not in schema("example-removed", "customer")
    assert schema("member-removed", "status")["anyOf"][0]["enum"] == ["shipped"]
    assert schema("member-replaced", "status")["anyOf"][0]["enum"] == ["other", "shipped"]


def test_the_choice_is_the_same_for_a_seed_in_whatever_order_the_tools_come() -> None:
    first = plant_mutants(TOOLS, 25, 7).mutants
    assert plant_mutants(TOOLS[::-1], 25, 7).mutants == first
    assert plant_mutants(TOOLS, 40, 7).mutants[:25] == first
    assert {each.label for each in plant_mutants(TOOLS, 25, 8).mutants} != {
        each.label for each in first
    }


def test_operators_and_tools_take_turns() -> None:
    mutants = plant_mutants(TOOLS, len(OPERATORS), 3).mutants
    assert Counter(each.operator for each in mutants) == dict.fromkeys(OPERATORS, 1)


def test_no_two_mutants_show_the_same_and_none_shows_what_the_server_says() -> None:
    keys = [variant_key(each.variant) for each in every()]
    assert len(set(keys)) == len(keys)
    twins = (GET, Tool(name="find_order", description=GET.description, input_schema={}))
    found = plant_mutants(twins, 1_000, 0)
    assert "swapped-texts" not in {each.operator for each in found.mutants}
    assert found.equivalent > 0
    assert found.possible == len(found.mutants) + found.equivalent


@given(tool_lists())
def test_no_tool_list_breaks_an_operator_and_every_mutant_can_be_shown_and_written(
    tools: ToolList,
) -> None:
    own = list({tool.name: tool for tool in tools.tools}.values())
    found = plant_mutants(own, 100, 0)
    for mutant in found.mutants:
        assert has_visible_change(mutant, own)
        assert yaml.safe_load(missing_test(mutant))


@pytest.mark.parametrize(("tools", "count"), [(TOOLS, 7), ([GET], 4), ([], 1)])
def test_placebos_are_told_apart_and_show_the_servers_own_words(
    tools: list[Tool], count: int
) -> None:
    found = build_placebos(tools, 7)
    assert len({variant_key(variant) for variant in found}) == len(found) == count
    for variant in found:
        assert ShownTools(variant, ToolList(tools=tuple(tools))).tools.tools == tuple(tools)
