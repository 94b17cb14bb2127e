"""What Ray itself takes for a call, on the side of who calls and of who is called."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Any

import anyio
import ray

from harness.limiting.limiter import Limited
from harness.runner.engines.on_ray.cluster import cluster
from harness.runner.engines.on_ray.worker import CommonLimits

CALLS = 4_000
IN_FLIGHT = 64
_LONGEST_S = 60.0


class Answering:
    """Takes a parcel and returns one, as a worker does, and works at nothing."""

    def __init__(self, size: int) -> None:
        """Return ``size`` bytes."""
        self._parcel = os.urandom(size)

    async def run(self, _parcel: bytes) -> bytes:
        """Return at once."""
        return self._parcel


class Counting(CommonLimits):
    """The shared limits, which say how much of a processor they have used."""

    async def used(self) -> float:
        """Return the seconds of a processor since the start of their process."""
        return time.process_time()


async def _calls(actors: Sequence[Any], parcel: bytes) -> None:
    async def some(actor: Any, number: int) -> None:
        for _ in range(number):
            await actor.run.remote(parcel)

    each = CALLS // IN_FLIGHT
    await asyncio.gather(*(some(actors[one % len(actors)], each) for one in range(IN_FLIGHT)))


async def _slots(limits: Any) -> None:
    limited = Limited(name="m", longest_s=_LONGEST_S)

    async def some(who: int) -> None:
        for number in range(CALLS // IN_FLIGHT):
            lease = f"{who}-{number}"
            await limits.acquire.remote(limited, lease, _LONGEST_S)
            limits.release.remote(lease, succeeded=True, throttled=False)

    await asyncio.gather(*(some(who) for who in range(IN_FLIGHT)))


async def _measured(parcel: int, result: int, rounds: int) -> tuple[float, float]:
    kind: Any = ray.remote(num_cpus=0)(Answering)
    actors = [kind.options(max_concurrency=1_000).remote(result) for _ in range(2)]
    limits: Any = ray.remote(num_cpus=0, max_concurrency=100_000)(Counting).remote()
    calls, slots = [], []
    await _calls(actors, os.urandom(parcel))  # the processes start
    await _slots(limits)
    for _ in range(rounds):
        began = time.process_time()
        await _calls(actors, os.urandom(parcel))
        calls.append(time.process_time() - began)
        before = await limits.used.remote()
        await _slots(limits)
        slots.append(await limits.used.remote() - before)
    return min(calls) / CALLS, min(slots) / CALLS


def ray_parts(parcel: int, result: int, rounds: int = 3) -> tuple[float, float]:
    """Return the processor's seconds of a call at the driver, and of a slot at the limiter.

    ``parcel`` and ``result`` are the sizes of what is sent and returned, in bytes.
    """
    with cluster(None, 2):
        return anyio.run(_measured, parcel, result, rounds)
