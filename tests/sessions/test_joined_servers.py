"""Tools of several servers in one list: unique names, and each call reaches its own server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import RequestRefused
from harness.sessions.joined_servers import JoinedSession, JoinedTools
from harness.types import JsonObject, Tool, ToolList
from tests.support import MemorySession

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
    assert [joined(servers).find_server(name) for name in offered(servers)] == [
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
    assert [tools.find_server(name) for name in names] == every
    told = {problem.tool for problem in tools.offered.problems}
    assert told == {name for name, (_, own) in zip(names, every, strict=True) if name != own}


class Listing(MemorySession):
    """Lists on pages of one tool each, and has no prompts."""

    def __init__(self, *tools: str) -> None:
        super().__init__()
        self._own = tools

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        if method != "tools/list":
            raise RequestRefused("none", code=-32601, said="none", data=None)
        page = int(params.get("cursor", 0))
        more = {"nextCursor": str(page + 1)} if page + 1 < len(self._own) else {}
        return {"tools": [{"name": self._own[page], "title": "kept"}], **more}


@pytest.mark.anyio
async def test_a_list_that_is_asked_for_is_that_of_all_servers() -> None:
    servers = {"a": ["search", "get"], "b": ["search", "put"]}
    sessions = [Listing(*tools) for tools in servers.values()]
    session = JoinedSession(list(servers), sessions, joined(servers))
    listed = await session.send_request("tools/list", {})
    assert [tool["name"] for tool in listed["tools"]] == offered(servers)
    assert {tool["title"] for tool in listed["tools"]} == {"kept"}
    assert await session.send_request("prompts/list", {}) == {"prompts": []}
