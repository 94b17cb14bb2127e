"""Callers of a probe side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio

AT_ONCE = 4
"""Number of concurrent callers."""


async def run_at_once(
    make_round: Callable[..., Awaitable[None]],
    rounds: Iterable[tuple[Any, ...]],
    most: int = AT_ONCE,
) -> None:
    """Make the calls of several callers concurrently, ``most`` of them at a time."""
    limiter = anyio.CapacityLimiter(most)

    async def wait_for_slot(one: tuple[Any, ...]) -> None:
        async with limiter:
            await make_round(*one)

    async with anyio.create_task_group() as group:
        for one in rounds:
            group.start_soon(wait_for_slot, one)
