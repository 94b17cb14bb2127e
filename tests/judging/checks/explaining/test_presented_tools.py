"""Tools and parameters in the words that a variant showed to the model."""

from __future__ import annotations

from dataclasses import replace

from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.presented_tools import (
    find_hiding_variant,
    find_seen_tool,
    format_tool_name,
    seen_properties,
    spoken_parameter,
)
from harness.judging.checks.explaining.transcript_lines import (
    explain_not_offered,
    find_similar_tool,
)
from harness.judging.checks.unprefixed_names import strip_server_prefixes
from harness.runner.variants.shown_tools import ShownTools
from harness.types import Check, ParameterEdit, Tool, ToolEdit, ToolList, Variant
from tests.judging.checks.scenes import TOOLS, call, scene

VARIANT = Variant(
    name="vague",
    prefix="mcp__shop__",
    tools={
        "get_orders": ToolEdit(
            name="orders_of",
            description="Orders.",
            parameters={"filter": ParameterEdit(name="only"), "limit": None},
        ),
        "weather": None,
    },
)


def under(variant: Variant, evidence: Evidence) -> Evidence:
    shown = ShownTools(variant, evidence.tools)
    return replace(evidence, tools=shown.offered, presented=shown.presentation)


def test_without_a_variant_the_words_are_the_servers() -> None:
    evidence = scene()
    assert find_seen_tool("get_orders", evidence) is TOOLS.get("get_orders")
    assert find_seen_tool("unheard_of", evidence) is None
    assert format_tool_name("get_orders", evidence) == "get_orders"
    assert spoken_parameter("filter.tags[0]", "get_orders", evidence) == "filter.tags[0]"
    assert "limit" in seen_properties("get_orders", evidence)
    assert find_hiding_variant("weather", evidence) is None


def test_under_a_variant_they_are_those_that_the_model_saw() -> None:
    evidence = under(VARIANT, scene())
    tool = find_seen_tool("get_orders", evidence)
    assert tool is not None
    assert (tool.name, tool.description) == ("orders_of", "Orders.")
    assert (
        format_tool_name("get_orders", evidence)
        == "mcp__shop__orders_of (get_orders on the server)"
    )
    path = spoken_parameter("filter.tags[0]", "get_orders", evidence)
    assert path == "only.tags[0] (filter.tags[0] on the server)"
    properties = seen_properties("get_orders", evidence)
    assert {"filter", "status"} <= properties.keys()
    assert properties.keys().isdisjoint({"only", "limit"})


def test_a_tool_that_the_variant_hides_is_not_said_to_be_missing_on_the_server() -> None:
    evidence = under(VARIANT, scene())
    assert (
        explain_not_offered("weather", evidence)
        == "The variant vague does not show weather to the model."
    )
    assert "on this server" in str(explain_not_offered("forecast", evidence))


def test_a_prefix_makes_no_two_tools_alike() -> None:
    evidence = scene(call("weather"))
    prefixed = under(Variant(name="client", prefix="mcp__the_shop_of_the_company__"), evidence)
    assert find_similar_tool("delete_customer", evidence) is None
    assert find_similar_tool("delete_customer", prefixed) is None


def test_tools_of_joined_servers_keep_what_the_model_saw_of_them() -> None:
    wipe = Tool(name="shop__wipe", description="Wipe.", input_schema={"type": "object"})
    tools = ToolList(tools=(wipe,), prefixes=("shop__",))
    variant = Variant(name="vague", tools={"shop__wipe": ToolEdit(name="clean")})
    evidence = under(variant, scene(call("shop__wipe"), tools=tools))
    joined = strip_server_prefixes(
        Check(kind="must_not_call", params={"tool": "wipe", "args": {}}), evidence
    )
    assert format_tool_name("wipe", joined) == "clean (wipe on the server)"
