"""A variant applied to a list: what the model sees, and the way back to the server's names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.runner.variants.shown_tools import ShownTools
from harness.types import ParameterEdit, Tool, ToolEdit, ToolList, Variant

SEARCH = Tool(
    name="search_orders",
    title="Search",
    description="Find orders. Newest first. Use get_order for one.",
    input_schema={
        "type": "object",
        "properties": {
            "status": {"type": "string", "description": "State", "enum": ["open", "closed"]},
            "limit": {"type": "integer", "default": 10, "examples": [5]},
            "internal": {"type": "boolean"},
        },
        "required": ["status", "internal"],
    },
)
LEGACY = Tool(name="legacy_lookup", input_schema={"type": "object"})
GET = Tool(name="get_order", input_schema={"type": "object"}, description="Return one order.")
SERVER = ToolList(tools=(SEARCH, LEGACY, GET), digest="d")


def shown(decoys: tuple[Tool, ...] = (), **edits: Any) -> ShownTools:
    return ShownTools(Variant(name="v", **edits), SERVER, decoys)


def names(view: ShownTools) -> list[str]:
    return [tool.name for tool in view.tools.tools]


def test_what_no_edit_names_is_shown_as_it_is() -> None:
    view = shown()
    assert view.tools.tools == SERVER.tools
    assert view.map_to_server("search_orders", {"status": "open"}) == (
        "search_orders",
        {"status": "open"},
    )


def test_a_renamed_tool_and_parameter_come_back_in_the_servers_names() -> None:
    edit = ToolEdit(name="find_orders", parameters={"status": ParameterEdit(name="state")})
    view = shown(tools={"search_orders": edit})
    assert names(view) == ["find_orders", "legacy_lookup", "get_order"]
    properties = view.tools.tools[0].input_schema["properties"]
    assert list(properties) == ["state", "limit", "internal"]
    assert view.tools.tools[0].input_schema["required"] == ["state", "internal"]
    call = ("search_orders", {"status": "open", "limit": 3})
    assert view.map_to_server("find_orders", {"state": "open", "limit": 3}) == call
    assert view.map_to_model(*call) == ("find_orders", {"state": "open", "limit": 3})


def test_a_tool_or_parameter_that_is_taken_out_is_not_shown() -> None:
    edit = ToolEdit(parameters={"internal": None})
    view = shown(tools={"legacy_lookup": None, "search_orders": edit})
    assert names(view) == ["search_orders", "get_order"]
    assert view.tools.tools[0].input_schema["required"] == ["status"]
    assert "internal" not in view.tools.tools[0].input_schema["properties"]
    assert not view.is_shown("legacy_lookup")


def test_every_part_of_a_parameter_is_edited_or_taken_out() -> None:
    new = ParameterEdit(description="Of the order", enum=("open",), examples=("open",))
    gone = ParameterEdit(description="", default=(), examples=())
    view = shown(tools={"search_orders": ToolEdit(parameters={"status": new, "limit": gone})})
    properties = view.tools.tools[0].input_schema["properties"]
    assert properties["status"] == {
        "type": "string",
        "description": "Of the order",
        "enum": ["open"],
        "examples": ["open"],
    }
    assert properties["limit"] == {"type": "integer"}
    changed = ToolEdit(parameters={"limit": ParameterEdit(default=(None,))})
    (tool, *_) = shown(tools={"search_orders": changed}).tools.tools
    assert tool.input_schema["properties"]["limit"]["default"] is None


def test_description_title_and_sentences_are_edited_or_taken_out() -> None:
    view = shown(tools={"search_orders": ToolEdit(title="", without_sentences=(2,))})
    assert view.tools.tools[0].title is None
    assert view.tools.tools[0].description == "Find orders. Use get_order for one."
    view = shown(tools={"search_orders": ToolEdit(description="")})
    assert view.tools.tools[0].description == ""


def test_the_server_s_own_list_is_never_changed() -> None:
    before = repr(SERVER)
    shown(tools={"search_orders": ToolEdit(parameters={"status": ParameterEdit(description="")})})
    assert repr(SERVER) == before


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two tools named 'get_order'"):
        shown(tools={"search_orders": ToolEdit(name="get_order")})
    with pytest.raises(UsageError, match="two parameters named 'limit'"):
        shown(tools={"search_orders": ToolEdit(parameters={"status": ParameterEdit(name="limit")})})


def test_names_may_be_swapped() -> None:
    swapped = {
        "search_orders": ToolEdit(name="get_order"),
        "get_order": ToolEdit(name="search_orders"),
    }
    view = shown(tools=swapped)
    assert names(view) == ["get_order", "legacy_lookup", "search_orders"]
    assert view.map_to_server("get_order", {})[0] == "search_orders"
    assert view.map_to_model("get_order", {})[0] == "search_orders"


def test_a_shuffle_is_the_same_for_the_same_seed_and_loses_nothing() -> None:
    orders = {tuple(names(shown(order=seed))) for seed in range(20)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(tool.name for tool in SERVER.tools)}
    assert names(shown(order=7)) == names(shown(order=7))


def test_named_tools_come_first_under_the_servers_names() -> None:
    view = shown(order=("get_order",), tools={"get_order": ToolEdit(name="fetch")})
    assert names(view) == ["fetch", "search_orders", "legacy_lookup"]


def test_decoys_are_mixed_in_and_the_tools_keep_their_order() -> None:
    decoys = tuple(Tool(name=f"decoy_{n}", input_schema={}) for n in range(5))
    view = shown(decoys)
    assert view.decoys == {decoy.name for decoy in decoys}
    assert [name for name in names(view) if name not in view.decoys] == [
        tool.name for tool in SERVER.tools
    ]
    assert len(view.tools.tools) == 8
    assert view.map_to_server("decoy_0", {"x": 1}) == ("decoy_0", {"x": 1})


def test_a_decoy_never_takes_the_name_of_a_tool() -> None:
    view = shown((Tool(name="get_order", input_schema={}, description="I lead nowhere."),))
    assert view.decoys == frozenset()
    assert view.tools.tools == SERVER.tools


def test_equal_views_have_equal_digests_and_others_do_not() -> None:
    assert shown().tools.digest == shown().tools.digest
    edits = {"search_orders": ToolEdit(description="")}
    assert shown(tools=edits).tools.digest != shown().tools.digest


WORD = st.from_regex(r"[a-z]{1,6}", fullmatch=True)


@given(
    tools=st.dictionaries(WORD, st.lists(WORD, unique=True, max_size=4), min_size=1, max_size=5),
    data=st.data(),
)
def test_every_call_comes_back_as_the_server_knows_it(
    tools: dict[str, list[str]], data: st.DataObject
) -> None:
    """Names may be any permutation of each other: the way back is always the one that was shown."""
    listed = ToolList(
        tools=tuple(
            Tool(name=name, input_schema={"properties": {key: {} for key in keys}})
            for name, keys in tools.items()
        )
    )
    renamed = dict(zip(tools, data.draw(st.permutations(list(tools))), strict=True))
    keys = {
        name: dict(zip(own, data.draw(st.permutations(own)), strict=True))
        for name, own in tools.items()
    }
    edits = {
        name: ToolEdit(
            name=renamed[name],
            parameters={old: ParameterEdit(name=new) for old, new in keys[name].items()},
        )
        for name in tools
    }
    view = ShownTools(Variant(name="v", tools=edits), listed)
    for name, own in tools.items():
        arguments = {key: place for place, key in enumerate(own)}
        assert view.map_to_server(*view.map_to_model(name, arguments)) == (name, arguments)


def test_a_prefix_is_before_every_name_and_comes_off_again() -> None:
    edit = ToolEdit(name="find_orders", parameters={"status": ParameterEdit(name="state")})
    other = Tool(name="send.mail", input_schema={"type": "object"})
    view = shown((other,), prefix="mcp__shop__", tools={"search_orders": edit})
    assert sorted(names(view)) == [
        "mcp__shop__find_orders",
        "mcp__shop__get_order",
        "mcp__shop__legacy_lookup",
        "mcp__shop__send_mail",
    ]
    assert view.decoys == {"mcp__shop__send_mail"}
    call = ("search_orders", {"status": "open"})
    assert view.map_to_server("mcp__shop__find_orders", {"state": "open"}) == call
    assert view.map_to_model(*call) == ("mcp__shop__find_orders", {"state": "open"})
    assert view.map_to_server("get_order", {}) == ("get_order (not shown)", {})


def test_a_prefix_changes_no_order() -> None:
    decoys = tuple(Tool(name=f"decoy_{number}", input_schema={}) for number in range(5))
    plain = names(shown(decoys, order=7))
    assert names(shown(decoys, order=7, prefix="a__")) == [f"a__{name}" for name in plain]


def test_two_names_that_a_prefix_makes_one_are_refused() -> None:
    tools = tuple(Tool(name=name, input_schema={}) for name in ("get.order", "get_order"))
    with pytest.raises(UsageError, match="two tools named 'p_get_order'"):
        ShownTools(Variant(name="v", prefix="p_"), ToolList(tools=tools, digest="d"))
