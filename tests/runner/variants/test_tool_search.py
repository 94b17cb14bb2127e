"""A tool search instead of a long list: its results, and the tools that it loads."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.tool_search import SearchedTools
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    Tool,
    ToolEdit,
    ToolList,
    ToolRequest,
    ToolSearch,
    UserMessage,
    Variant,
)

TOOLS = ToolList(
    tools=(
        Tool(name="get_order", description="Return one order. By its id.", input_schema={}),
        Tool(name="get_customer", description="Return one customer.", input_schema={}),
        Tool(name="send_mail", description="Send a mail.", input_schema={}),
    ),
    digest="d",
)


def searched(**settings: Any) -> SearchedTools:
    return SearchedTools(ToolSearch(**settings), TOOLS)


def asked(query: str, *, search: bool = True) -> AssistantMessage:
    request = ToolRequest(id="1", tool="tool_search", arguments={"query": query}, search=search)
    return AssistantMessage(reply=Reply(tool_requests=(request,)))


def shown(variant: Variant, decoys: tuple[Tool, ...] = ()) -> ShownTools:
    return ShownTools(variant, TOOLS, decoys)


def test_a_search_finds_what_fits_the_best_first_and_no_more_than_asked() -> None:
    tools = searched(results=1)
    assert tools.search({"query": "write a mail"}).splitlines() == [
        "These tools can be called from now on:",
        "- send_mail: Send a mail.",
    ]
    assert tools.find_loaded([asked("an order of a customer")]) in (
        ("get_order",),
        ("get_customer",),
    )


def test_a_tool_is_found_by_its_name_among_others_with_the_same_prefix() -> None:
    view = shown(Variant(name="v", prefix="mcp__crm__", tool_search=ToolSearch(results=1)))
    assert view.search is not None
    assert view.search.find_loaded([asked("mcp__crm__get_customer")]) == ("mcp__crm__get_customer",)


@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"query": 7}, {"words": "mail"}])
def test_a_search_without_words_says_what_it_needs(arguments: dict[str, Any]) -> None:
    assert "write in 'query'" in searched().search(arguments)


def test_words_that_fit_nothing_load_nothing() -> None:
    tools = searched()
    assert tools.search({"query": "zeppelin"}) == "No tool matches these words. Try others."
    assert tools.find_loaded([asked("zeppelin")]) == ()


def test_what_is_loaded_follows_from_the_searches_of_the_conversation() -> None:
    tools = searched(results=1)
    said: list[Message] = [
        UserMessage(text="Hi."),
        asked("mail"),
        asked("one order"),
        asked("mail"),
    ]
    assert tools.find_loaded(said) == ("send_mail", "get_order")
    assert tools.find_loaded(said[:1]) == ()
    assert tools.find_loaded([asked("mail", search=False)]) == ()
    listed = tools.list_offered(("send_mail",)).tools
    assert [tool.name for tool in listed] == ["tool_search", "send_mail"]


def test_a_list_that_is_no_longer_than_the_bound_is_shown_as_it_is() -> None:
    assert shown(Variant(name="v", tool_search=ToolSearch(beyond=3))).search is None
    longer = shown(
        Variant(name="v", tool_search=ToolSearch(beyond=3)),
        (Tool(name="fly", input_schema={}),),
    )
    assert longer.search is not None
    assert "4 tools" in longer.search.tool.description


def test_names_are_told_beforehand_only_where_the_client_does_so() -> None:
    assert "send_mail" not in searched().tool.description
    assert "get_order, get_customer, send_mail" in searched(names=True).tool.description


def test_the_search_of_a_server_with_a_tool_of_that_name_needs_another_one() -> None:
    own = ToolList(tools=(*TOOLS.tools, Tool(name="tool_search", input_schema={})))
    with pytest.raises(UsageError, match="the name of a tool, 'tool_search'") as caught:
        ShownTools(Variant(name="v", tool_search=ToolSearch()), own)
    assert "name: find_tools" in (caught.value.meant or "")
    renamed = Variant(
        name="v", tool_search=ToolSearch(), tools={"send_mail": ToolEdit(name="tool_search")}
    )
    with pytest.raises(UsageError, match="the name of a tool"):
        shown(renamed)
    other = ShownTools(Variant(name="v", tool_search=ToolSearch(name="find_tools")), own)
    assert other.is_search("find_tools")
    assert not other.is_search("tool_search")


def test_a_decoy_never_takes_the_name_of_the_search() -> None:
    decoy = Tool(name="tool_search", input_schema={})
    view = shown(Variant(name="v", tool_search=ToolSearch()), (decoy,))
    assert view.decoys == frozenset()
