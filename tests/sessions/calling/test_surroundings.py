"""Whatever a server lists beside its tools is read, or is named with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, HEADER_MISMATCH, METHOD_NOT_FOUND

from harness.base.errors import OutOfResources
from harness.sessions import side_channel_reader as module
from harness.sessions.side_channel_reader import MOST_NAMED, MOST_READ, read_side_channels
from harness.sessions.transports.http_errors import HttpFault
from harness.types import SideContent
from tests.clock import BOUND_S

ABLE: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
FAILURES: Mapping[str, Exception] = {
    "error": MCPError(-32603, "the shelf is closed"),
    "denied": MCPError(-32001, "Access denied"),
    "rejected": MCPError(HEADER_MISMATCH, "access denied: a header differs"),
    "closed": MCPError(CONNECTION_CLOSED, "Connection closed"),
    "no method": MCPError(METHOD_NOT_FOUND, "no such method"),
    "403": HttpFault("answered HTTP 403", status=403),
    "500": HttpFault("answered HTTP 500", status=500),
    "nothing": HttpFault("broke off"),
    "out": OutOfResources("no files"),
}
DECIDED = {"error", "denied", "no method", "403"}
"""Those that are the server's own answer."""
ENDINGS = st.sampled_from(["ok", "input", *FAILURES])


class Library:
    """Lists these resources and prompts, and ends each request as they say."""

    def __init__(self, endings: Mapping[str, str], pages: int = 1, hangs: str = "") -> None:
        self._endings = endings
        self._pages = pages
        self._hangs = hangs

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        name = str(params.get("uri", params.get("name", method)))
        if name == self._hangs:
            await anyio.sleep_forever()
        ending = self._endings.get(name, "ok")
        if ending in FAILURES:
            raise FAILURES[ending]
        if ending == "input":
            return {"resultType": "input_required", "inputRequests": {}}
        what, _, verb = method.rpartition("/")
        if verb != "list":
            key = "contents" if what == "resources" else "messages"
            return {key: [{"text": f"words of {name}"}]}
        key = {"resources/templates": "resourceTemplates"}.get(what, what)
        entries = [
            {"uri" if what == "resources" else "name": one}
            for one in self._endings
            if one[0] == what[0] and "/" not in one
        ]
        page = int(params.get("cursor", 1))
        following = {"nextCursor": str(page + 1)} if page < self._pages else {}
        return {key: entries if page == 1 and what in ("resources", "prompts") else [], **following}

    def read(self) -> tuple[SideContent, ...]:
        async def all_of_it() -> tuple[SideContent, ...]:
            with anyio.fail_after(BOUND_S):
                return await read_side_channels(self.request, "Hello", ABLE)

        return anyio.run(all_of_it)


def of(asides: tuple[SideContent, ...], place: str) -> list[SideContent]:
    return [one for one in asides if one.place == place]


@given(st.dictionaries(st.sampled_from(["r1", "r2", "r3", "p1", "p2"]), ENDINGS))
def test_each_entry_is_read_or_says_why_not(endings: dict[str, str]) -> None:
    asides = Library(endings).read()
    for name, ending in endings.items():
        (one,) = of(asides, f"the {'resource' if name[0] == 'r' else 'prompt'} {name}")
        assert (one.unread is None) == (ending == "ok")
        assert one.refused == (ending in DECIDED)
        assert "closed" not in (one.unread or "")  # the words of the server stay in the text


@given(st.sampled_from(["resources/list", "resources/templates/list", "prompts/list"]), ENDINGS)
def test_a_list_that_cannot_be_read_is_named(method: str, ending: str) -> None:
    asides = Library({method: ending}).read()
    unread = [one.place for one in asides if one.unread is not None]
    place = f"the list of {method.removesuffix('/list').replace('s/templates', ' templates')}"
    assert unread == ([] if ending in ("ok", "no method") else [place])


def test_what_is_beyond_the_first_is_named_up_to_a_number() -> None:
    asides = Library({f"r{number}": "ok" for number in range(MOST_READ + MOST_NAMED + 7)}).read()
    left = [one for one in asides if one.unread is not None]
    assert len(left) == MOST_NAMED + 1
    assert left[-1].place == "7 more resources"
    read = [one for one in asides if one.place.startswith("the resource ") and one.unread is None]
    assert len(read) == MOST_READ


def test_pages_that_are_not_asked_for_are_named() -> None:
    asides = Library({}, pages=9).read()
    assert [one.place for one in asides if one.unread is not None] == [
        f"the list of {what} from page 4"
        for what in ("tools", "resources", "resource templates", "prompts")
    ]


def test_a_prompt_that_needs_arguments_is_named() -> None:
    async def request(method: str, _: Mapping[str, Any]) -> dict[str, Any]:
        needs = {"name": "letter", "arguments": [{"name": "to", "required": True}]}
        return {"prompts": [needs]} if method == "prompts/list" else {}

    asides = anyio.run(read_side_channels, request, None, {"prompts": {}})
    (one,) = of(asides, "the prompt letter")
    assert one.unread == "it needs arguments"


@pytest.mark.parametrize("hangs", ["r2", "p1", "resources/list", "tools/list", "logging/setLevel"])
def test_what_was_read_in_time_is_kept_and_the_rest_is_named(
    hangs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.05)
    monkeypatch.setattr(module, "_SHARE", 1)
    asides = Library({"r1": "ok", "r2": "ok", "r3": "ok", "p1": "ok"}, hangs=hangs).read()
    assert of(asides, "the server's instructions")
    lists = {f"the list of {what}" for what in ("resources", "resource templates", "prompts")}
    late = {one.place for one in asides if one.unread == "harness reads for 0.05 s at most"}
    expected = {
        "r2": {"the resource r2", "the resource r3", *lists - {"the list of resources"}},
        "p1": {"the prompt p1"},
        "resources/list": lists,
        "tools/list": {"the list of tools", *lists},
        "logging/setLevel": {"the list of tools", *lists},
    }
    assert late == expected[hangs]


@pytest.mark.parametrize("hangs", ["r2", "resources/list", "prompts/list", "logging/setLevel"])
def test_a_request_that_hangs_hides_only_its_own_answer(
    hangs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SHARE", 0.005)
    asides = Library({"r1": "ok", "r2": "ok", "p1": "ok"}, hangs=hangs).read()
    place = {
        "r2": "the resource r2",
        "resources/list": "the list of resources",
        "prompts/list": "the list of prompts",
        "logging/setLevel": None,
    }[hangs]
    late = {one.place: one.unread for one in asides if one.unread is not None}
    assert late == ({place: "the request for it got no answer within 0.05 s"} if place else {})


ABSENT: Mapping[str, Mapping[str, Any]] = {
    "no list": {},
    "null": {"resources": None, "prompts": None, "contents": None, "messages": None},
    "an object": {"resources": {"a": {"uri": "x"}}, "prompts": {}, "contents": {}, "messages": "x"},
    "another key": {"items": [{"uri": "x"}]},
}


@pytest.mark.parametrize("absent", ABSENT)
def test_an_answer_without_what_was_asked_for_is_not_taken_for_nothing(absent: str) -> None:
    async def request(method: str, _: Mapping[str, Any]) -> dict[str, Any]:
        if method in without or method.endswith("templates/list"):
            return {"resourceTemplates": [], **ABSENT[absent]}
        answers: dict[str, dict[str, Any]] = {
            "tools/list": {"tools": [], "nextCursor": ""},
            "resources/list": {"resources": [{"uri": "a"}], "nextCursor": ""},
            "prompts/list": {"prompts": [{"name": "b"}], "nextCursor": None},
            "resources/read": {"contents": []},
            "prompts/get": {"messages": []},
        }
        return answers[method]

    def unread() -> set[str]:
        asides = anyio.run(read_side_channels, request, None, {"resources": {}, "prompts": {}})
        return {one.place for one in asides if one.unread is not None}

    without: set[str] = set()
    assert unread() == set()
    without = {"resources/read", "prompts/get"}
    assert unread() == {"the resource a", "the prompt b"}
    without = {"resources/list", "prompts/list"}
    assert unread() == {"the list of resources", "the list of prompts"}


def test_what_cannot_be_asked_for_in_a_list_is_named() -> None:
    async def request(method: str, _: Mapping[str, Any]) -> dict[str, Any]:
        key = method.removesuffix("/list")
        return {key: ["customer://17", {"name": "greet"}], "nextCursor": 2, "messages": []}

    asides = anyio.run(read_side_channels, request, None, {"prompts": {}})
    assert {one.place: one.unread for one in asides if one.unread is not None} == {
        f"{place}the list of {what}{page}": why
        for what in ("tools", "prompts")
        for place, page, why in (
            ("1 of the entries in ", "", "no object"),
            ("", " from page 2", "its cursor is no text"),
        )
    }
