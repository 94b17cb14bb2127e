"""A search in a log, or of runs, goes on only while somebody waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
import uvicorn
from starlette.requests import Request
from starlette.types import Message

from harness.web import viewer_endpoints
from harness.web.catalog import Catalog
from harness.web.jobs import RunQueue
from harness.web.requests import run_while_awaited
from harness.web.server import make_app
from harness.web.settings import Settings
from tests.reports.logs import a_log, a_run
from tests.web.support import WAIT_S

RUN = "20260501T000000Z-searched-a"
SEARCHES = [f"/evaluations/{RUN}/search?word=one", "/evaluations?suite=shop"]


@dataclass
class Endless:
    """Work that only ends when it is told to, or with the test."""

    begun: threading.Event = field(default_factory=threading.Event)
    given_up: threading.Event = field(default_factory=threading.Event)
    test_over: threading.Event = field(default_factory=threading.Event)

    def __call__(self, go_on: Callable[[], None]) -> None:
        self.begun.set()
        try:
            while not self.test_over.is_set():
                go_on()
        except BaseException:
            self.given_up.set()
            raise


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endless]:
    search = Endless()
    monkeypatch.setattr(viewer_endpoints, "_search_log", lambda _log, _words, go_on: search(go_on))
    monkeypatch.setattr(Catalog, "find", lambda _self, _wanted, _limit, go_on: search(go_on))
    yield search
    search.test_over.set()


async def nothing_comes() -> Message:
    await anyio.sleep_forever()
    raise AssertionError


async def until(event: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(event.wait, WAIT_S)


@asynccontextmanager
async def asked(runs: Path, path: str, search: Endless) -> AsyncIterator[tuple[RunQueue, Any]]:
    """Serve ``runs``, and ask for ``path`` until the search has begun."""
    a_log(runs / RUN / "log.jsonl", a_run("one"))
    settings = Settings(runs=runs)
    async with RunQueue(settings) as board, anyio.create_task_group() as tasks:
        config = uvicorn.Config(make_app(board, settings), port=0, log_level="error")
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        tasks.start_soon(server.main_loop)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        async with httpx2.AsyncClient(base_url=f"http://{host}:{port}", timeout=WAIT_S) as client:
            asking = asyncio.ensure_future(client.get(path))
            try:
                await until(search.begun)
                yield board, asking
            finally:
                search.test_over.set()
                asking.cancel()
                server.should_exit = True
                await server.shutdown()


@pytest.mark.anyio
@pytest.mark.parametrize("path", SEARCHES)
async def test_a_search_ends_when_its_client_has_gone(
    tmp_path: Path, search: Endless, path: str
) -> None:
    async with asked(tmp_path, path, search) as (_, asking):
        asking.cancel()
        await until(search.given_up)


@pytest.mark.anyio
@pytest.mark.parametrize("path", SEARCHES)
async def test_a_search_ends_when_the_page_stops_and_its_client_is_told(
    tmp_path: Path, search: Endless, path: str
) -> None:
    async with asked(tmp_path, path, search) as (board, asking):
        await board.close()
        await until(search.given_up)
        answer = await asking
        assert (answer.status_code, answer.json()["error"]) == (503, "The page is being stopped.")


@pytest.mark.anyio
async def test_work_ends_when_the_task_that_waits_for_it_is_cancelled(
    search: Endless,
) -> None:
    """The way of uvicorn, which knows nothing of anyio's scopes."""
    request = Request({"type": "http"}, receive=nothing_comes)
    async with RunQueue(Settings()) as board:
        waiting = asyncio.ensure_future(run_while_awaited(request, board, search))
        await until(search.begun)
        waiting.cancel()
        await until(search.given_up)
        with pytest.raises(asyncio.CancelledError):
            await waiting


@pytest.mark.anyio
async def test_what_work_returns_or_raises_is_what_its_caller_gets() -> None:
    request = Request({"type": "http"}, receive=nothing_comes)

    def broken(_: Callable[[], None]) -> None:
        raise LookupError("no such log")

    async with RunQueue(Settings()) as board:
        assert await run_while_awaited(request, board, lambda _: "found") == "found"
        with pytest.raises(LookupError, match="no such log"):
            await run_while_awaited(request, board, broken)
