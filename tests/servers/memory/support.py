"""Ways to reach the server."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from servers.memory.server import make_server
from tests.servers.data_governance.support import WAIT_S, Caller

ANN = {"user": "ann"}
BEN = {"user": "ben", "role": None}


@asynccontextmanager
async def remembering(store: str, file: Path | None = None) -> AsyncIterator[Caller]:
    server = make_server(Namespace(store=store, file=file))
    async with Client(server, read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)
