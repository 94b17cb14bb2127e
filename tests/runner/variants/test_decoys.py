from __future__ import annotations

from jsonschema import Draft202012Validator

from harness.runner.variants.views import choose_decoys, load_built_in_decoys, near_decoys
from harness.types import Decoys, Tool, ToolList

TOOLS = ToolList(
    tools=(
        Tool(name="search_orders", input_schema={}, description="Find orders."),
        Tool(name="lookup", input_schema={}),
        Tool(name="get-page", input_schema={}),
    )
)


def test_the_pack_holds_150_different_tools_that_a_client_would_take() -> None:
    pack = load_built_in_decoys()
    assert len({tool.name for tool in pack}) == len(pack) == 150
    assert len({tool.description for tool in pack}) == len(pack)
    for tool in pack:
        Draft202012Validator.check_schema(tool.input_schema)
        assert set(tool.input_schema.get("required", ())) <= set(tool.input_schema["properties"])
        assert all(part["description"] for part in tool.input_schema["properties"].values())


def test_a_near_decoy_sounds_like_the_tool_and_is_for_something_else() -> None:
    near = {tool.name: tool.description for tool in near_decoys(TOOLS)}
    assert near["search_archived_orders"].startswith("Find orders. Only what was moved")
    assert "lookup_draft" in near
    assert "get-draft-page" in near
    assert len(near) == 8 * 3
    assert not near.keys() & {tool.name for tool in TOOLS.tools}


def test_equal_seeds_choose_the_same_decoys_and_more_of_them_keep_the_first() -> None:
    pack = load_built_in_decoys()
    eight = choose_decoys(Decoys(count=8, seed=7), pack)
    assert choose_decoys(Decoys(count=32, seed=7), pack)[:8] == eight
    assert choose_decoys(Decoys(count=8, seed=8), pack) != eight
    assert len(choose_decoys(Decoys(count=500), pack)) == 150
