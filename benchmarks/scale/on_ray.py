"""What Ray itself takes for a call, on the side of who calls and of who is called."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import ray

from harness.base.limiting.limiter import LimitedTarget
from harness.runner.engines.limits import SharedLimiter
from harness.runner.engines.on_ray.cluster import connect_cluster
from harness.runner.engines.on_ray.worker import LimiterActor, make_limiter_factory

CALLS = 1_280
IN_FLIGHT = 64
_LONGEST_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RayParts:
    """Seconds of one processor."""

    call: float
    """Driver: a call of a worker."""
    asked: float
    """Limiter: a slot that is asked for and given back."""
    free: float
    """Limiter: a slot while nobody has to ask."""


class Answering:
    """Takes a parcel and returns one, as a worker does, and works at nothing."""

    def __init__(self, size: int) -> None:
        """Return ``size`` bytes."""
        self._parcel = os.urandom(size)

    async def run(self, _parcel: bytes) -> bytes:
        """Return at once."""
        return self._parcel


class Counting(LimiterActor):
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


async def _slots(limiter: SharedLimiter) -> None:
    async def some() -> None:
        for _ in range(CALLS // IN_FLIGHT):
            async with limiter.hold_slot() as slot:
                slot.succeeded = True

    await asyncio.gather(*(some() for _ in range(IN_FLIGHT)))


async def _limited(limits: Any, most: float) -> float:
    """Return the processor's seconds of the limiter for a slot; without ``most`` nobody asks."""
    limiter = make_limiter_factory(limits)(
        LimitedTarget(name=f"{most}", longest_s=_LONGEST_S, most=most)
    )
    before = await limits.used.remote()
    await _slots(limiter)
    return float(await limits.used.remote() - before) / CALLS


async def _measured(parcel: int, result: int, rounds: int) -> RayParts:
    kind: Any = ray.remote(num_cpus=0)(Answering)
    actors = [kind.options(max_concurrency=1_000).remote(result) for _ in range(2)]
    shared: Any = ray.remote(num_cpus=0)(Counting)
    limits = shared.options(max_concurrency=100_000).remote()
    calls, asked, free = [], [], []
    await _calls(actors, os.urandom(parcel))  # the processes start
    for _ in range(rounds):
        began = time.process_time()
        await _calls(actors, os.urandom(parcel))
        calls.append((time.process_time() - began) / CALLS)
        asked.append(await _limited(limits, CALLS))
        free.append(await _limited(limits, math.inf))
    return RayParts(call=min(calls), asked=min(asked), free=min(free))


def ray_parts(parcel: int, result: int, rounds: int = 3) -> RayParts:
    """Measure on a Ray of this machine.

    ``parcel`` and ``result`` are the sizes of what is sent and returned, in bytes.
    """
    with connect_cluster(None, 2):
        return anyio.run(_measured, parcel, result, rounds)
