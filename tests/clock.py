"""Time in tests.

Bounds that a busy machine keeps, and a clock that goes forward without waiting.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import anyio

BOUND_S = 60.0
"""How long what is bound to happen may take on a machine that is busy with other things."""
PATIENT_S = 600.0
"""A timeout that is not to expire: what waits for it is ended by `BOUND_S`."""
TIMEOUTS_S = (0.2, 2.0, 20.0)
"""Timeouts that are to expire: the next one where a busy machine let nothing happen in the last."""


def is_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Whether ``work`` of four times the size takes about four times the CPU time.

    Where it grows with the square of the size, it takes sixteen times as much. A busy machine may
    slow one of two measurements down, so that there are several tries.
    """
    return any(_cpu_s(work, size) < 8 * _cpu_s(work, size // 4) for _ in range(5))


def _cpu_s(work: Callable[[int], object], size: int) -> float:
    begun = time.process_time()
    work(size)
    return time.process_time() - begun


def clock_goes_forward(seconds: float) -> None:
    """Make it later by ``seconds`` for everything that waits in this event loop."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]


async def once_all_wait(seconds: float) -> None:
    """Wait until every other task waits for something, and make it later by ``seconds``."""
    await anyio.wait_all_tasks_blocked()
    clock_goes_forward(seconds)
