"""Ways to reach the server."""

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp_types import ElicitResult

from servers.common.governed import GovernedServer
from servers.sales.server import make_server
from tests.servers.data_governance.support import WAIT_S, Caller

ANYBODY = None
"""Who asks makes no difference here."""
TOOLS = {
    "search_products",
    "analyze_sales",
    "search_customers",
    "find_inactive_customers",
    "get_churn_risk",
    "list_projects",
    "get_project",
    "delete_project",
    "list_followup_tasks",
    "create_followup_task",
}


@functools.cache
def unchanging_server() -> GovernedServer:
    """Return the server that all tests share which change nothing."""
    return make_server()


@asynccontextmanager
async def shared() -> AsyncIterator[Caller]:
    async with Client(unchanging_server(), read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)


async def agree(context: Any, params: Any) -> ElicitResult:
    """Answer a question of the server as a user who agrees."""
    return ElicitResult(action="accept", content={"confirm": True})


@asynccontextmanager
async def fresh() -> AsyncIterator[Caller]:
    async with Client(
        make_server(), read_timeout_seconds=WAIT_S, cache=None, elicitation_callback=agree
    ) as client:
        yield Caller(client)
