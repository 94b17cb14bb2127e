"""Data that an identity sees beside the tools: instructions, resources, prompts, annotations.

They are read only for watched sessions (`harness.sessions.Session.watch`), once for each identity
and connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from harness.errors import ServerError
from harness.sessions.beside import an_aside, bounded
from harness.sessions.transports.http_errors import HttpFault
from harness.types import Aside

MOST_READ = 20
"""Most resources, and most prompts, that are read."""
_PAGES = 3
_SECONDS = 10.0
_OF_A_TOOL = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})

Request = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


async def surroundings(
    request: Request, instructions: str | None, capabilities: Mapping[str, Any]
) -> tuple[Aside, ...]:
    """Return the data beside the server's tools that were read within `_SECONDS`.

    Resources are read, and prompts without required arguments, `MOST_READ` of each. A refusal is
    kept as a refusal.
    """
    found: list[Aside] = []
    with anyio.move_on_after(_SECONDS):
        if capabilities.get("logging") is not None:
            await _result(request, "logging/setLevel", {"level": "debug"})
        if instructions:
            found.append(Aside(place="the server's instructions", text=instructions))
        async for tool in _listed(request, "tools"):
            more = {key: value for key, value in tool.items() if key not in _OF_A_TOOL}
            found += an_aside(f"the list of tools: more on {tool.get('name')}", more)
        if capabilities.get("resources") is not None:
            found += await _resources(request)
        if capabilities.get("prompts") is not None:
            found += await _prompts(request)
    return bounded(found)


async def _resources(request: Request) -> list[Aside]:
    found: list[Aside] = []
    listed = [one async for one in _listed(request, "resources")]
    for resource in listed:
        found += an_aside("the list of resources", resource)
    async for template in _listed(request, "resources/templates", "resourceTemplates"):
        found += an_aside("the list of resource templates", template)
    for resource in listed[:MOST_READ]:
        uri = resource.get("uri")
        content = await _result(request, "resources/read", {"uri": uri})
        found += an_aside(f"the resource {uri}", content)
    return found


async def _prompts(request: Request) -> list[Aside]:
    found: list[Aside] = []
    listed = [one async for one in _listed(request, "prompts")]
    for prompt in listed:
        found += an_aside("the list of prompts", prompt)
    for prompt in [one for one in listed if not _asks_for_more(one)][:MOST_READ]:
        content = await _result(request, "prompts/get", {"name": prompt.get("name")})
        found += an_aside(f"the prompt {prompt.get('name')}", content)
    return found


def _asks_for_more(prompt: Mapping[str, Any]) -> bool:
    arguments = prompt.get("arguments")
    return isinstance(arguments, list) and any(
        isinstance(one, Mapping) and one.get("required") for one in arguments
    )


async def _listed(request: Request, what: str, key: str = "") -> AsyncIterator[Mapping[str, Any]]:
    """Yield the entries of a list of the server, page by page."""
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
        return {}  # the next call will report that the server is gone
