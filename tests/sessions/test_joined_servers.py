"""Tools of several servers in one list: each has a name of its own, and a call of it goes home."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.sessions.joined_servers import JoinedTools
from harness.types import Tool, ToolList

NAMES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map("__".join)
SERVERS = st.dictionaries(NAMES, st.lists(NAMES, max_size=4, unique=True), min_size=1, max_size=4)


def joined(servers: dict[str, list[str]]) -> JoinedTools:
    lists = [
        ToolList(tools=tuple(Tool(name=name, input_schema={}) for name in tools))
        for tools in servers.values()
    ]
    return JoinedTools(list(servers), lists)


def offered(servers: dict[str, list[str]]) -> list[str]:
    return [tool.name for tool in joined(servers).offered.tools]


def test_a_name_that_two_servers_have_tells_the_server_and_every_other_stays() -> None:
    assert offered({"a": ["search", "get"], "b": ["search", "put"]}) == [
        "a__search",
        "get",
        "b__search",
        "put",
    ]


def test_a_tool_that_is_called_as_if_it_were_anothers_tells_its_own_server() -> None:
    servers = {"a": ["search"], "b": ["search", "a__search"]}
    assert offered(servers) == ["a__search", "b__search", "b__a__search"]
    assert [joined(servers).home(name) for name in offered(servers)] == [
        (0, "search"),
        (1, "search"),
        (1, "a__search"),
    ]
    assert offered({"a": ["b__c", "x"], "a__b": ["c", "x"], "z": ["b__c", "c"]})[0::2][:2] == [
        "a__b__c",
        "a__b__c__2",
    ]


@given(SERVERS)
def test_no_two_tools_have_one_name_and_every_call_goes_home(servers: dict[str, list[str]]) -> None:
    tools = joined(servers)
    every = [(place, name) for place, names in enumerate(servers.values()) for name in names]
    names = [tool.name for tool in tools.offered.tools]
    assert len(set(names)) == len(names)
    assert [tools.home(name) for name in names] == every
    told = {problem.tool for problem in tools.offered.problems}
    assert told == {name for name, (_, own) in zip(names, every, strict=True) if name != own}
