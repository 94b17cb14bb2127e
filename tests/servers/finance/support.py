"""Ways to reach the server."""

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client

from servers.common.governed import GovernedServer
from servers.finance.server import make_server
from tests.servers.data_governance.support import WAIT_S, Caller

ANYBODY = None
"""Who asks makes no difference here."""


@functools.cache
def server() -> GovernedServer:
    """Return the server that all tests share; nothing in it can be changed."""
    return make_server()


@asynccontextmanager
async def shared() -> AsyncIterator[Caller]:
    async with Client(server(), read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)
