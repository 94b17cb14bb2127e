"""Data that an identity sees beside the tools: instructions, resources, prompts, annotations.

They are read only for watched sessions (`harness.sessions.Session.watch`), once for each identity
and connection. What is listed and was not read is an aside, too, and says why (`Aside.unread`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND

from harness.base import ServerError
from harness.sessions.beside import an_aside, bounded
from harness.sessions.transports.frames import is_closed, is_no_answer
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.pages import has_bad_cursor, next_cursor
from harness.sessions.transports.rejected_requests import is_rejection
from harness.types import Aside

MOST_READ = 20
"""Most resources, and most prompts, that are read."""
MOST_NAMED = 50
"""Most of the further ones that are named; of the rest only the number is."""
_PAGES = 3
_SECONDS = 10.0
_SHARE = 0.5
"""The share of the time that one request may take, so that one that hangs hides only itself."""
_OF_A_TOOL = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})
_TOOLS, _PROMPTS = "the list of tools", "the list of prompts"
_RESOURCES, _TEMPLATES = "the list of resources", "the list of resource templates"
_LISTS = {"resources": (_RESOURCES, _TEMPLATES), "prompts": (_PROMPTS,)}
"""Capability → the lists that it is for."""
_CONTENT = {"resources/read": "contents", "prompts/get": "messages"}
"""Request → the key of its answer's content."""

Request = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


async def surroundings(
    request: Request, instructions: str | None, capabilities: Mapping[str, Any]
) -> tuple[Aside, ...]:
    """Return the data beside the server's tools that were read within `_SECONDS`, and the rest.

    Resources are read, and prompts without required arguments, `MOST_READ` of each. A refusal is
    kept as a refusal.
    """
    reading = _Reading(request)
    with anyio.move_on_after(_SECONDS):
        await reading.read(instructions, capabilities)
    return bounded([*reading.found, *reading.left()])


class _Reading:
    """What was read so far for one identity."""

    def __init__(self, request: Request) -> None:
        self.found: list[Aside] = []
        self._request = request
        self._pending: dict[str, None] = {}

    def left(self) -> Iterator[Aside]:
        """Yield what the time was too short for."""
        for place in self._pending:
            yield Aside(place=place, unread=f"harness reads for {_SECONDS:g} s at most")

    async def read(self, instructions: str | None, capabilities: Mapping[str, Any]) -> None:
        """Read everything that the server says it has."""
        if instructions:
            self.found.append(Aside(place="the server's instructions", text=instructions))
        offered = [kind for kind in _LISTS if capabilities.get(kind) is not None]
        self._pending |= dict.fromkeys(
            [_TOOLS, *(place for kind in offered for place in _LISTS[kind])]
        )
        if capabilities.get("logging") is not None:
            with suppress(MCPError, HttpFault, ServerError, OSError, TimeoutError):
                await self._answer("logging/setLevel", {"level": "debug"})
        async for tool in self._listed(_TOOLS, "tools/list", "tools"):
            more = {key: value for key, value in tool.items() if key not in _OF_A_TOOL}
            self.found += an_aside(f"{_TOOLS}: more on {tool.get('name')}", more)
        if "resources" in offered:
            listed = await self._kept(_RESOURCES, "resources/list", "resources")
            await self._read_each("resource", listed, "resources/read", "uri")
            await self._kept(_TEMPLATES, "resources/templates/list", "resourceTemplates")
        if "prompts" in offered:
            listed = await self._kept(_PROMPTS, "prompts/list", "prompts")
            await self._read_each("prompt", listed, "prompts/get", "name")

    async def _kept(self, place: str, method: str, key: str) -> list[Mapping[str, Any]]:
        """Return the entries of a list, each of which is an aside."""
        listed = [entry async for entry in self._listed(place, method, key)]
        for entry in listed:
            self.found += an_aside(place, entry)
        return listed

    async def _read_each(
        self, kind: str, listed: list[Mapping[str, Any]], method: str, key: str
    ) -> None:
        """Read the first entries of a list; the others are left out, and named."""
        entries = {f"the {kind} {entry.get(key)}": entry for entry in listed}
        full = {place: entry for place, entry in entries.items() if not _asks_for_more(entry)}
        read, further = [*full][:MOST_READ], [*full][MOST_READ:]
        self.found += (
            Aside(place=place, unread="it needs arguments")
            for place in entries
            if place not in full
        )
        few = f"harness reads the first {MOST_READ} of a list"
        self.found += (Aside(place=place, unread=few) for place in further[:MOST_NAMED])
        if (more := len(further) - MOST_NAMED) > 0:
            self.found.append(Aside(place=f"{more:,} more {kind}s", unread=few))
        self._pending |= dict.fromkeys(read)
        for place in read:
            params = {key: full[place].get(key)}
            result = await self._result(place, method, params, _CONTENT[method])
            self.found += an_aside(place, result)
            self._pending.pop(place)

    async def _listed(self, place: str, method: str, key: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the entries of a list of the server, page by page."""
        self._pending[place] = None
        cursor: str | None = None
        page_place = place
        for number in range(1, _PAGES + 1):
            params = {} if cursor is None else {"cursor": cursor}
            page = await self._result(page_place, method, params, key)
            items = page.get(key, ())
            for item in items:
                if isinstance(item, Mapping):
                    yield item
            if odd := sum(not isinstance(item, Mapping) for item in items):
                some = f"{odd:,} of the entries in {page_place}"
                self.found.append(Aside(place=some, unread="no object"))
            cursor, page_place = next_cursor(page), f"{place} from page {number + 1}"
            if has_bad_cursor(page):
                self.found.append(Aside(place=page_place, unread="its cursor is no text"))
            if cursor is None:
                break
        else:
            self.found.append(
                Aside(place=page_place, unread=f"harness reads {_PAGES} pages of a list")
            )
        self._pending.pop(place, None)

    async def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        with anyio.fail_after(_SECONDS * _SHARE):
            return await self._request(method, params)

    async def _result(
        self, place: str, method: str, params: Mapping[str, Any], key: str
    ) -> Mapping[str, Any]:
        """Return the raw result of a request, with a list under ``key``.

        Without one, return nothing, and why is an aside.
        """
        try:
            result = await self._answer(method, params)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and method.endswith("/list"):
                return {}  # there is no such list
            self.found.append(_unanswered(place, method, error))
        except HttpFault as fault:
            said = "without an answer" if fault.status is None else f"with HTTP {fault.status}"
            why = f"the request for it ended {said}"
            self.found.append(Aside(place=place, unread=why, refused=fault.refuses))
        except TimeoutError:
            why = f"the request for it got no answer within {_SECONDS * _SHARE:g} s"
            self.found.append(Aside(place=place, unread=why))
        except (ServerError, OSError):
            self.found.append(Aside(place=place, unread="the request for it got no answer"))
        else:
            lack = _lack_of(result, key)
            if lack is None:
                return result
            asides = [*an_aside(place, result)] or [Aside(place=place)]
            self.found += (replace(aside, unread=lack) for aside in asides)
        return {}


def _lack_of(result: Mapping[str, Any], key: str) -> str | None:
    """Return why ``result`` is not what was asked for, a list under ``key``; ``None`` if it is."""
    if result.get("resultType", "complete") != "complete":
        return "the server asks for more input first"
    return None if isinstance(result.get(key), list) else f"the answer has no list {key!r}"


def _unanswered(place: str, method: str, error: MCPError) -> Aside:
    """Return the aside of something for which the server gave an error."""
    if is_closed(error) or is_no_answer(error.data):
        return Aside(place=place, text=error.message, unread="the request for it got no answer")
    (aside,) = an_aside(place, {"error": error.message, "data": error.data})
    if is_rejection(error, method):
        why = f"the server rejected the request as harness wrote it (code {error.code})"
        return replace(aside, unread=why)
    why = f"the server answers with an error (code {error.code})"
    return replace(aside, unread=why, refused=True)


def _asks_for_more(prompt: Mapping[str, Any]) -> bool:
    arguments = prompt.get("arguments")
    return isinstance(arguments, list) and any(
        isinstance(one, Mapping) and one.get("required") for one in arguments
    )
