"""Data that an identity sees beside the tools: instructions, resources, prompts, annotations.

They are read only for watched sessions (`harness.sessions.Session.watch`), once for each identity
and connection. What is listed and was not read is an aside, too, and says why
(`SideContent.unread`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND

from harness.base import ServerError, digest_json
from harness.sessions.refusals import is_rejection
from harness.sessions.session import get_next_cursor, has_bad_cursor
from harness.sessions.side_channels import limit_side_channels, wrap_side_channel
from harness.sessions.transports.frames import is_closed, is_no_answer
from harness.sessions.transports.http_errors import HttpFault
from harness.types import PUBLIC, JsonObject, SideContent

MOST_READ = 20
"""Most resources, and most prompts, that are read."""
MOST_NAMED = 50
"""Most of the further ones that are named; of the rest only the number is."""
_PAGES = 3
_SECONDS = 10.0
_SHARE = 0.5
"""The share of the time that one request may take, so that one that hangs hides only itself."""
# What a model is shown of a tool is not beside it.
_OF_A_TOOL = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})
_TOOLS, _PROMPTS = "the list of tools", "the list of prompts"
_RESOURCES, _TEMPLATES = "the list of resources", "the list of resource templates"
_LISTS = {"resources": (_RESOURCES, _TEMPLATES), "prompts": (_PROMPTS,)}
"""Capability → the lists that it is for."""
_CONTENT = {"resources/read": "contents", "prompts/get": "messages"}
"""Request → the key of its answer's content."""

Request = Callable[[str, JsonObject], Awaitable[dict[str, Any]]]


async def read_side_channels(
    request: Request, instructions: str | None, capabilities: JsonObject
) -> tuple[SideContent, ...]:
    """Return the data beside the server's tools that were read within `_SECONDS`, and the rest.

    Resources are read, and prompts without required arguments, `MOST_READ` of each. A refusal is
    kept as a refusal.
    """
    reading = _SideChannelReader(request)
    with anyio.move_on_after(_SECONDS):
        await reading.read_all(instructions, capabilities)
    return limit_side_channels([*reading.found, *reading.iterate_unread()])


class _SideChannelReader:
    """What was read so far for one identity."""

    def __init__(self, request: Request) -> None:
        self.found: list[SideContent] = []
        self._request = request
        # A dict is a set that keeps the order in which the server lists things.
        self._pending: dict[str, None] = {}

    def iterate_unread(self) -> Iterator[SideContent]:
        """Yield what the time was too short for."""
        for place in self._pending:
            yield SideContent(place=place, unread=f"harness reads for {_SECONDS:g} s at most")

    def _skip(self, place: str, why: str, *, refused: bool = False) -> None:
        self.found.append(SideContent(place=place, unread=why, refused=refused))

    async def read_all(self, instructions: str | None, capabilities: JsonObject) -> None:
        """Read everything that the server says it has."""
        if instructions:
            self.found.append(SideContent(place="the server's instructions", text=instructions))
        offered = [kind for kind in _LISTS if capabilities.get(kind) is not None]
        # Noted before anything is read, so that what the time is too short for can be named.
        lists = (place for kind in offered for place in _LISTS[kind])
        self._pending |= dict.fromkeys([_TOOLS, *lists])
        if capabilities.get("logging") is not None:
            # Log messages may leak, too. A server that fails here only sends fewer of them.
            with suppress(MCPError, HttpFault, ServerError, OSError, TimeoutError):
                await self._request_in_time("logging/setLevel", {"level": "debug"})
        async for tool in self._iterate_entries(_TOOLS, "tools/list", "tools"):
            more = {key: value for key, value in tool.items() if key not in _OF_A_TOOL}
            self.found += wrap_side_channel(f"{_TOOLS}: more on {tool.get('name')}", more)
        if "resources" in offered:
            listed = await self._record_entries(_RESOURCES, "resources/list", "resources")
            await self._read_entries("resource", listed, "resources/read", "uri")
            await self._record_entries(_TEMPLATES, "resources/templates/list", "resourceTemplates")
        if "prompts" in offered:
            listed = await self._record_entries(_PROMPTS, "prompts/list", "prompts")
            await self._read_entries("prompt", listed, "prompts/get", "name")

    async def _record_entries(self, place: str, method: str, key: str) -> list[JsonObject]:
        """Return the entries of a list, each of which is an aside."""
        listed = [entry async for entry in self._iterate_entries(place, method, key)]
        for entry in listed:
            self.found += wrap_side_channel(place, entry)
        return listed

    async def _read_entries(
        self, kind: str, listed: list[JsonObject], method: str, key: str
    ) -> None:
        """Read the first entries of a list; the others are left out, and named."""
        entries = {f"the {kind} {entry.get(key)}": entry for entry in listed}
        full = [place for place, entry in entries.items() if not _has_required_arguments(entry)]
        read, further = full[:MOST_READ], full[MOST_READ:]
        for place in entries:
            if place not in full:
                self._skip(place, "it needs arguments")
        few = f"harness reads the first {MOST_READ} of a list"
        for place in further[:MOST_NAMED]:
            self._skip(place, few)
        if (more := len(further) - MOST_NAMED) > 0:
            self.found.append(SideContent(place=f"{more:,} more {kind}s", unread=few))
        self._pending |= dict.fromkeys(read)
        for place in read:
            params = {key: entries[place].get(key)}
            result = await self._request_list(place, method, params, _CONTENT[method])
            self.found += wrap_side_channel(place, result)
            self._pending.pop(place)

    async def _iterate_entries(
        self, place: str, method: str, key: str
    ) -> AsyncIterator[JsonObject]:
        """Yield the entries of a list of the server, page by page."""
        self._pending[place] = None
        cursor: str | None = None
        page_place = place
        for number in range(1, _PAGES + 1):
            params = {} if cursor is None else {"cursor": cursor}
            page = await self._request_list(page_place, method, params, key)
            items = page.get(key, ())
            for item in items:
                if isinstance(item, Mapping):
                    yield item
            if odd := sum(not isinstance(item, Mapping) for item in items):
                some = f"{odd:,} of the entries in {page_place}"
                self._skip(some, "no object")
            # A later page has a place of its own: if it fails, the pages before it were still read.
            cursor, page_place = get_next_cursor(page), f"{place} from page {number + 1}"
            if has_bad_cursor(page):
                self._skip(page_place, "its cursor is no text")
            if cursor is None:
                break
        else:
            self._skip(page_place, f"harness reads {_PAGES} pages of a list")
        self._pending.pop(place, None)

    async def _request_in_time(self, method: str, params: JsonObject) -> dict[str, Any]:
        with anyio.fail_after(_SECONDS * _SHARE):
            return await self._request(method, params)

    async def _request_list(
        self, place: str, method: str, params: JsonObject, key: str
    ) -> JsonObject:
        """Return the raw result of a request, with a list under ``key``.

        Without one, return nothing, and why is an aside.
        """
        try:
            result = await self._request_in_time(method, params)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and method.endswith("/list"):
                return {}  # there is no such list
            self.found.append(_build_unanswered(place, method, error))
        except HttpFault as fault:
            said = "without an answer" if fault.status is None else f"with HTTP {fault.status}"
            why = f"the request for it ended {said}"
            self._skip(place, why, refused=fault.is_refusal)
        except TimeoutError:
            why = f"the request for it got no answer within {_SECONDS * _SHARE:g} s"
            self._skip(place, why)
        except (ServerError, OSError):
            self._skip(place, "the request for it got no answer")
        else:
            lack = _find_lack(result, key)
            if lack is None:
                await self._note_scope(place, method, params, key, result)
                return result
            asides = [*wrap_side_channel(place, result)] or [SideContent(place=place)]
            self.found += (replace(aside, unread=lack) for aside in asides)
        return {}

    async def _note_scope(
        self, place: str, method: str, params: JsonObject, key: str, result: JsonObject
    ) -> None:
        """Note content that any cache may give to others, unless it varies by itself."""
        # With a time of 0 nothing is given to others without asking the server.
        if result.get("cacheScope") != "public" or result.get("ttlMs") == 0:
            return
        with suppress(MCPError, HttpFault, ServerError, OSError, TimeoutError, RecursionError):
            again = await self._request_in_time(method, params)
            digest = digest_json(result[key])
            if digest == digest_json(again.get(key)):
                # In front, because what comes last may be cut.
                self.found.insert(0, SideContent(place=f"{PUBLIC}{place}", text=digest))


def _find_lack(result: JsonObject, key: str) -> str | None:
    """Return why ``result`` is not what was asked for, a list under ``key``; ``None`` if it is."""
    if result.get("resultType", "complete") != "complete":
        return "the server asks for more input first"
    return None if isinstance(result.get(key), list) else f"the answer has no list {key!r}"


def _build_unanswered(place: str, method: str, error: MCPError) -> SideContent:
    """Return the aside of something for which the server gave an error."""
    if is_closed(error) or is_no_answer(error.data):
        why = "the request for it got no answer"
        return SideContent(place=place, text=error.message, unread=why)
    # Exactly one, because this value is never empty.
    (aside,) = wrap_side_channel(place, {"error": error.message, "data": error.data})
    if is_rejection(error, method):
        why = f"the server rejected the request as harness wrote it (code {error.code})"
        return replace(aside, unread=why)
    why = f"the server answers with an error (code {error.code})"
    return replace(aside, unread=why, refused=True)


def _has_required_arguments(prompt: JsonObject) -> bool:
    arguments = prompt.get("arguments")
    return isinstance(arguments, list) and any(
        isinstance(argument, Mapping) and argument.get("required") for argument in arguments
    )
