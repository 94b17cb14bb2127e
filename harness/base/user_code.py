"""Calls a user's own code, which may block, never return, or raise anything.

It runs in threads of its own, so that it holds up no other trial and can be given up at any time:
they are daemons, which delay neither the end of a run nor that of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel

_Outcome: TypeAlias = tuple[Any, BaseException | None]
"""What was returned, and what was raised."""
_PATIENCE_S = 2.0
"""Seconds in which the loop of users' coroutines must answer once one of them was given up."""
_LOCK = threading.Lock()
_GIVEN_UP = threading.Event()
_loops: list[asyncio.AbstractEventLoop] = []


async def call_user_code(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``function`` returns or, if that is awaitable, what it yields in the end.

    Raises:
        Exception: whatever ``function`` raises. What would end the program or the task that awaits
            it, such as ``KeyboardInterrupt``, is named by a `RuntimeError`.
        SystemExit: ``function`` raised it.
    """
    done = anyio.Event()
    outcomes: list[_Outcome] = []
    coroutines: list[Future[_Outcome]] = []
    # A thread that anyio did not start reaches the event loop only with its token.
    token = anyio.lowlevel.current_token()

    def run_function() -> None:
        try:
            returned = function(*arguments)
            if inspect.isawaitable(returned):
                # In one loop for all, because clients that coroutines share belong to a loop.
                coroutines.append(asyncio.run_coroutine_threadsafe(_settle(returned), _get_loop()))
                outcomes.append(coroutines[0].result())
            else:
                outcomes.append((returned, None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            outcomes.append((None, error))
        with contextlib.suppress(RuntimeError):  # the event loop has ended, and nobody waits
            anyio.from_thread.run_sync(done.set, token=token)

    # A new thread has none of the trial's context variables by itself.
    threading.Thread(
        target=contextvars.copy_context().run,
        args=(run_function,),
        name="user's code",
        daemon=True,
    ).start()
    try:
        await done.wait()
    finally:
        for coroutine in coroutines:
            if coroutine.cancel():
                _GIVEN_UP.set()
    returned, failure = outcomes[0]
    if failure is not None:
        raise _make_harmless(failure)
    return returned


async def _settle(awaited: Awaitable[Any]) -> _Outcome:
    """Return the outcome of ``awaited``; some errors would end the loop if they were raised."""
    try:
        return await awaited, None
    except BaseException as error:  # noqa: BLE001 - raised again in the loop of the caller
        return None, error


def _get_loop() -> asyncio.AbstractEventLoop:
    """Return the loop of users' coroutines, which runs in a thread of its own."""
    with _LOCK:
        # A coroutine that blocks keeps its loop; the others get a new one.
        if _GIVEN_UP.is_set() and not _answers(_loops[0]):
            _loops.clear()
        _GIVEN_UP.clear()
        if not _loops:
            _loops.append(asyncio.new_event_loop())
            threading.Thread(
                target=_loops[0].run_forever, name="users' coroutines", daemon=True
            ).start()
        return _loops[0]


def _answers(loop: asyncio.AbstractEventLoop) -> bool:
    answered = threading.Event()
    loop.call_soon_threadsafe(answered.set)
    return answered.wait(_PATIENCE_S)


def _make_harmless(error: BaseException) -> BaseException:
    # A coroutine cannot raise the first two; the others stand for events of harness's own.
    if isinstance(error, StopIteration | StopAsyncIteration) or not isinstance(
        error, Exception | SystemExit
    ):
        said = RuntimeError(f"raised {type(error).__name__}")
        return said.with_traceback(error.__traceback__)
    return error
