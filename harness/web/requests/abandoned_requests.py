"""Work in a thread that ends when nobody waits for its answer any more."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request

from harness.web.jobs import RunQueue

T = TypeVar("T")


class _RequestAbandoned(Exception):
    """Nobody waits any more; raised in the thread."""


async def run_while_awaited(
    request: Request, board: RunQueue, work: Callable[[Callable[[], None]], T]
) -> T:
    """Return what ``work`` returns, which is called in a thread with a function ``go_on``.

    ``work`` calls ``go_on`` often. That raises once the client has gone, the page stops or this
    call is cancelled, and so ends the work: a thread cannot be cancelled from outside.

    Raises:
        HTTPException: it was given up; only a page that stops has somebody left to tell.
        Exception: whatever ``work`` raises.
    """
    given_up = threading.Event()

    def raise_if_abandoned() -> None:
        if given_up.is_set():
            raise _RequestAbandoned

    async def abandon_after(end: Callable[[], Awaitable[None]]) -> None:
        await end()
        given_up.set()

    async def client_gone() -> None:
        # The server says nothing of a client that has gone, unless it is asked for the next
        # message.
        while (await request.receive())["type"] != "http.disconnect":
            pass

    try:
        async with anyio.create_task_group() as watchers:
            watchers.start_soon(abandon_after, client_gone)
            watchers.start_soon(abandon_after, board.closing.wait)
            try:
                # anyio waits for its threads even when it is cancelled, so the thread has to end by
                # itself.
                found = await anyio.to_thread.run_sync(work, raise_if_abandoned)
            finally:
                given_up.set()  # cancelled natively, this task no longer waits for its thread
                watchers.cancel_scope.cancel()
    except ExceptionGroup as group:  # task groups wrap exceptions
        problem = group.exceptions[0]
        if isinstance(problem, _RequestAbandoned):
            raise HTTPException(503, "The page is being stopped.") from problem
        raise problem from None
    return found
