"""Ways to reach the server: in memory for breadth, as a real process where the process matters."""

import functools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, RequestParamsMeta, TextContent

from servers.common.governed import GovernedServer
from servers.common.identity import USER_CONTEXT_META_KEY
from servers.data_governance.results import PERSONAL_FIELDS
from servers.data_governance.seed import generate
from servers.data_governance.server import POLICIES, make_server
from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python

ROOT = Path(__file__).parents[3]
WAIT_S = BOUND_S

Mode = Literal["auto", "legacy"]

ADMIN = {"role": "admin"}
ANALYST = {"role": "analyst", "permissions": ["orders:read"]}
WRITER = {"role": "analyst", "permissions": ["customers:write"]}
USER = {"role": "user", "permissions": ["customers:write", "pii:read"]}
NOBODY = None

READING = {
    "get_customer_details",
    "search_customers",
    "get_customer_purchase_history",
    "search_orders",
}


class Caller:
    """A connected client that speaks for any user."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self, user: Any) -> set[str]:
        return {tool.name for tool in (await self._client.list_tools(meta=meta(user))).tools}

    async def call(self, user: Any, tool: str, **arguments: Any) -> CallToolResult:
        return await self._client.call_tool(tool, arguments, meta=meta(user))

    async def text(self, user: Any, tool: str, **arguments: Any) -> str:
        return text_of(await self.call(user, tool, **arguments))

    async def data(self, user: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(user, tool, **arguments)
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        return dict(result.structured_content or {})


def meta(user: Any) -> RequestParamsMeta | None:
    return None if user is NOBODY else cast("RequestParamsMeta", {USER_CONTEXT_META_KEY: user})


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


@functools.cache
def unchanging_server() -> GovernedServer:
    """Return the server that all tests share which change nothing."""
    return make_server(POLICIES, {})


@asynccontextmanager
async def shared() -> AsyncIterator[Caller]:
    async with Client(unchanging_server(), read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)


@asynccontextmanager
async def in_memory(
    policies: Path = POLICIES, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Caller]:
    async with Client(
        make_server(policies, environ or {}), read_timeout_seconds=WAIT_S, cache=None
    ) as client:
        yield Caller(client)


@asynccontextmanager
async def as_process(
    *arguments: str,
    mode: Mode = "auto",
    env: dict[str, str] | None = None,
    cwd: Path = ROOT,
    module: str = "servers.data_governance",
) -> AsyncIterator[Caller]:
    server = StdioServerParameters(
        command=warm_python(), args=["-m", module, *arguments], env=env, cwd=cwd
    )
    async with Client(
        stdio_client(server), mode=mode, read_timeout_seconds=WAIT_S, cache=None
    ) as client:
        yield Caller(client)


def personal_values() -> set[str]:
    """Return every personal value of every customer."""
    columns = (
        "customer_id",
        "name",
        "email",
        "phone",
        "address",
        "city",
        "country",
        "date_of_birth",
        "national_id",
    )
    personal = [columns.index(field) for field in PERSONAL_FIELDS]
    return {str(row[index]) for row in generate().customers for index in personal}
