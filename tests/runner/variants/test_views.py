"""Tool lists of a run as variants show them: copies of a tool among its decoys."""

from __future__ import annotations

from typing import Any

from harness.runner.variants.views import VariantViews
from harness.types import Decoys, Tool, ToolEdit, ToolList, Variant

SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}}
SEARCH = Tool(name="search", title="Search", description="Find orders.", input_schema=SCHEMA)
GET = Tool(name="get", description="Return one order.", input_schema={"type": "object"})
SERVER = ToolList(tools=(SEARCH, GET), digest="d")


def shown(*added: Decoys, **edits: Any) -> dict[str, Tool]:
    view = VariantViews().get_view(Variant(name="v", add=added, **edits), SERVER)
    return {tool.name: tool for tool in view.tools.tools}


def test_copies_differ_from_their_tool_by_the_name_alone() -> None:
    tools = shown(Decoys(source="copy:search", count=3))
    assert set(tools) == {"search", "get", "search_b", "search_c", "search_d"}
    for copy in ("search_b", "search_c", "search_d"):
        assert (tools[copy].description, tools[copy].title) == ("Find orders.", "Search")
        assert tools[copy].input_schema == SCHEMA


def test_copies_may_have_a_description_of_their_own() -> None:
    tools = shown(Decoys(source="copy:search", count=1, description="Look up orders."))
    assert tools["search_b"].description == "Look up orders."
    assert tools["search"].description == "Find orders."
    assert (
        shown(Decoys(source="copy:search", count=1, description=""))["search_b"].description == ""
    )


def test_copies_keep_the_servers_words_when_the_tool_itself_is_edited() -> None:
    tools = shown(
        Decoys(source="copy:search", count=2),
        tools={"search": ToolEdit(name="search_c", description="The best.")},
    )
    assert set(tools) == {"search_c", "get", "search_b", "search_d"}
    assert tools["search_c"].description == "The best."
    assert tools["search_d"].description == "Find orders."


def test_two_sets_of_copies_of_one_tool_have_names_of_their_own() -> None:
    tools = shown(
        Decoys(source="copy:search", count=1),
        Decoys(source="copy:search", count=2, description="Other."),
    )
    assert set(tools) == {"search", "get", "search_b", "search_c", "search_d"}
    assert tools["search_d"].description == "Other."


def test_a_user_without_the_tool_gets_no_copies_of_it() -> None:
    assert set(shown(Decoys(source="copy:gone", count=2))) == {"search", "get"}


def test_by_the_seeds_of_its_order_a_tool_stands_at_any_place_among_its_copies() -> None:
    alone = ToolList(tools=(SEARCH,), digest="alone")
    places = set()
    for seed in range(40):
        variant = Variant(name="v", order=seed, add=(Decoys(source="copy:search", count=3),))
        tools = VariantViews().get_view(variant, alone).tools.tools
        places.add([tool.name for tool in tools].index("search"))
    assert places == {0, 1, 2, 3}


def test_one_seed_puts_two_tools_in_the_same_order_in_every_list() -> None:
    tools = [Tool(name=f"t{number}", input_schema={}) for number in range(12)]
    orders = []
    for count in (12, 7):
        listed = ToolList(tools=tuple(tools[:count]), digest=str(count))
        view = VariantViews().get_view(Variant(name="v", order=3), listed)
        orders.append([one.name for one in view.tools.tools])
    assert [name for name in orders[0] if name in orders[1]] == orders[1]
    assert orders[1] != sorted(orders[1])


def test_a_renamed_tool_keeps_its_place_in_a_shuffle() -> None:
    edit = {"search": ToolEdit(name="find")}
    for seed in range(6):
        names = list(shown(order=seed))
        renamed = list(shown(order=seed, tools=edit))
        assert renamed == [{"search": "find"}.get(name, name) for name in names]


def test_decoys_do_not_change_the_order_of_the_server_s_own_tools() -> None:
    tools = tuple(Tool(name=f"t{number}", input_schema={}) for number in range(8))
    listed = ToolList(tools=tools, digest="eight")
    orders = []
    for count in (1, 32):
        variant = Variant(name=f"v{count}", order=5, add=(Decoys(count=count),))
        view = VariantViews().get_view(variant, listed)
        orders.append([one.name for one in view.tools.tools if one.name not in view.decoys])
    assert orders[0] == orders[1] != [tool.name for tool in tools]
