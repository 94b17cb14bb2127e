"""What a server sends beside the texts and structured content of results, for the search of leaks.

Of a result that is its ``_meta``, what content blocks hold beside their text, and what was notified
while the call was under way. Of a session it is what `surroundings` reads: instructions, resources,
prompts, and what the list of tools says beside names, descriptions and schemas. It is recorded only
for sessions that are watched (`harness.sessions.Session.watch`), and within `MOST_CHARS`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from harness.errors import ServerError
from harness.json_bounds import shortcoming
from harness.sessions.transports.http_errors import HttpFault
from harness.types import Aside, JsonObject

MOST_CHARS = 20_000
"""Characters that are kept of what came beside one result, and of one session's surroundings."""
MOST_READ = 20
"""Resources and prompts that are read."""
_PAGES = 3
_SECONDS = 10.0
_OF_A_RESULT = frozenset({"content", "structuredContent", "isError", "resultType"})
_OF_A_TOOL = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})
_RENDERED = frozenset({"type", "text", "mimeType"})
"""Keys of a block whose values stand in `harness.types.ToolCall.text`."""
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

Request = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


def bounded(asides: Iterable[Aside]) -> tuple[Aside, ...]:
    """Return ``asides`` up to `MOST_CHARS`; the last one says that it was cut."""
    kept: list[Aside] = []
    left = MOST_CHARS
    for aside in asides:
        if len(aside.text) > left:
            cut = f"{aside.text[:left]} [… cut by harness: {len(aside.text):,} characters in all]"
            return (*kept, Aside(place=aside.place, text=cut))
        left -= len(aside.text)
        kept.append(aside)
    return tuple(kept)


def asides_of(result: JsonObject) -> Iterator[Aside]:
    """Yield what a ``tools/call`` result holds beside what its record has.

    Values that nest too deeply are left out, as everywhere in a record.
    """
    for key, value in result.items():
        if key not in _OF_A_RESULT:
            yield from _aside(f"{key} of the result", value)
    blocks = result.get("content")
    for number, block in enumerate(blocks if isinstance(blocks, list) else (), start=1):
        if isinstance(block, Mapping):
            for key, value in block.items():
                if key == "resource" and isinstance(value, Mapping):
                    inner = {name: part for name, part in value.items() if name not in _RENDERED}
                    yield from _aside(f"the resource in block {number}", inner)
                elif key not in _RENDERED:
                    yield from _aside(f"{key} of block {number}", value)


def _aside(place: str, value: Any) -> Iterator[Aside]:
    if value not in (None, "", [], {}) and shortcoming(value) is None:
        yield Aside(place=place, text=value if isinstance(value, str) else _COMPACT.encode(value))


class Heard:
    """Hears what a server says unasked, and tells whoever has a request under way.

    Nothing says whose it is: where requests of several users are under way, nobody is told.
    """

    def __init__(self) -> None:
        """Begin without any listener."""
        self._listeners: list[tuple[object, list[Aside]]] = []

    def note(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Hear one message of the server."""
        if not self._listeners or len({id(user) for user, _ in self._listeners}) > 1:
            return
        kind = method.removeprefix("notifications/")
        for aside in _aside(f"a message of the server ({kind})", dict(params or {})):
            for _, heard in self._listeners:
                if sum(len(one.text) for one in heard) < MOST_CHARS:
                    heard.append(aside)

    @contextmanager
    def during(self, user: object) -> Iterator[list[Aside]]:
        """Give what is heard while a request of ``user`` is under way."""
        own: tuple[object, list[Aside]] = (user, [])
        self._listeners.append(own)
        try:
            yield own[1]
        finally:
            self._listeners[:] = [one for one in self._listeners if one is not own]


# ── What a session shows before any call ─────────────────────────────────────────────────────


async def surroundings(
    request: Request, instructions: str | None, capabilities: Mapping[str, Any]
) -> tuple[Aside, ...]:
    """Return what a server shows beside its tools, as far as it was read within `_SECONDS`.

    Resources are read and prompts without required arguments are got, `MOST_READ` of each. What is
    refused is kept as the refusal that it is.
    """
    found: list[Aside] = []
    with anyio.move_on_after(_SECONDS):
        if capabilities.get("logging") is not None:
            await _result(request, "logging/setLevel", {"level": "debug"})
        if instructions:
            found.append(Aside(place="the server's instructions", text=instructions))
        async for tool in _listed(request, "tools"):
            more = {key: value for key, value in tool.items() if key not in _OF_A_TOOL}
            found += _aside(f"the list of tools: more on {tool.get('name')}", more)
        if capabilities.get("resources") is not None:
            found += await _resources(request)
        if capabilities.get("prompts") is not None:
            found += await _prompts(request)
    return bounded(found)


async def _resources(request: Request) -> list[Aside]:
    found: list[Aside] = []
    listed = [one async for one in _listed(request, "resources")]
    for resource in listed:
        found += _aside("the list of resources", resource)
    async for template in _listed(request, "resources/templates", "resourceTemplates"):
        found += _aside("the list of resource templates", template)
    for resource in listed[:MOST_READ]:
        uri = resource.get("uri")
        content = await _result(request, "resources/read", {"uri": uri})
        found += _aside(f"the resource {uri}", content)
    return found


async def _prompts(request: Request) -> list[Aside]:
    found: list[Aside] = []
    listed = [one async for one in _listed(request, "prompts")]
    for prompt in listed:
        found += _aside("the list of prompts", prompt)
    for prompt in [one for one in listed if not _asks_for_more(one)][:MOST_READ]:
        content = await _result(request, "prompts/get", {"name": prompt.get("name")})
        found += _aside(f"the prompt {prompt.get('name')}", content)
    return found


def _asks_for_more(prompt: Mapping[str, Any]) -> bool:
    arguments = prompt.get("arguments")
    return isinstance(arguments, list) and any(
        isinstance(one, Mapping) and one.get("required") for one in arguments
    )


async def _listed(request: Request, what: str, key: str = "") -> AsyncIterator[Mapping[str, Any]]:
    """Yield what a list of the server holds, page by page."""
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await _result(request, f"{what}/list", {} if cursor is None else {"cursor": cursor})
        items = page.get(key or what)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                yield item
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return


async def _result(request: Request, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the raw result of a request, or the error as a result."""
    try:
        return await request(method, params)
    except MCPError as error:
        return {"error": error.message, "data": error.data}
    except (HttpFault, ServerError, OSError):
        return {}  # a call will say that the server is gone
