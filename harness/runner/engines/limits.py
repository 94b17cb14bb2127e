"""Limits that the workers of a run share: one limiter for each model and server.

`Limits` holds the limiters, in one place. `SharedLimiter` stands in for one of them in a worker,
and asks there before each request. What a worker holds it holds for a time only, so that a worker
that dies gives it back.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from harness.limiting.limiter import Limited, Limiter, Slot, WaitTooLong

SPARE_S = 10.0
"""Seconds that a slot may be held beyond the longest request, before it is taken back."""
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The answer to a worker that asked for a slot."""

    waited_s: float
    """Seconds that it waited."""
    too_long: tuple[float, float] | None = None
    """Why it got none: the wait to come, and what is left until its deadline."""


@dataclass(slots=True)
class _Lease:
    """A slot that a worker holds, or waits for."""

    ends_at: float
    scope: anyio.CancelScope
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    slot: Slot | None = None


class Limits:
    """All limiters of a run, by the name of what they limit."""

    def __init__(self) -> None:
        """Start without a limiter."""
        self._limiters: dict[str, Limiter] = {}
        self._leases: dict[str, _Lease] = {}

    async def acquire(self, limited: Limited, lease: str, left_s: float) -> Granted:
        """Wait for a slot of ``limited``, at most ``left_s``, and lend it for a request's time."""
        asked_at = anyio.current_time()
        with anyio.CancelScope(deadline=asked_at + left_s) as scope:
            held = self._leases[lease] = _Lease(math.inf, scope)
            try:
                held.slot = await held.stack.enter_async_context(self._limiter(limited).slot())
            except WaitTooLong as late:
                self._leases.pop(lease, None)
                return Granted(waited_s=late.waited_s, too_long=(late.wait_s, late.left_s))
            held.ends_at = anyio.current_time() + limited.longest_s + SPARE_S
            return Granted(waited_s=held.slot.waited_s)
        self._leases.pop(lease, None)
        waited_s = anyio.current_time() - asked_at
        return Granted(waited_s=waited_s, too_long=(math.inf, max(0.0, left_s - waited_s)))

    async def release(self, lease: str, *, succeeded: bool, throttled: bool) -> None:
        """Give back what a worker holds, or no longer waits for."""
        held = self._leases.pop(lease, None)
        if held is None:
            return
        if held.slot is None:
            held.scope.cancel("the worker no longer waits for it")
            return
        held.slot.succeeded, held.slot.throttled = succeeded, throttled
        await held.stack.aclose()

    def pause_soon(self, limited: Limited, seconds: float) -> None:
        """Let nobody begin a request to ``limited`` for so many seconds."""
        self._limiter(limited).pause(seconds)

    def _limiter(self, limited: Limited) -> Limiter:
        return self._limiters.setdefault(limited.name, Limiter(limited.most))

    async def watch(self) -> None:
        """Take back what is held for too long, until cancelled."""
        while True:
            await self.take_back()
            await anyio.sleep(_LOOK_S)

    async def take_back(self) -> None:
        """End the leases whose time is over: their workers have died."""
        now = anyio.current_time()
        for lease in [key for key, held in self._leases.items() if held.ends_at <= now]:
            await self.release(lease, succeeded=False, throttled=False)


class Counter(Protocol):
    """Where a worker asks: `Limits` in the same process, or a way to those of another one."""

    def acquire(self, limited: Limited, lease: str, left_s: float) -> Awaitable[Granted]:
        """See `Limits.acquire`."""
        ...

    async def release(self, lease: str, *, succeeded: bool, throttled: bool) -> None:
        """See `Limits.release`."""
        ...

    def pause_soon(self, limited: Limited, seconds: float) -> None:
        """See `Limits.pause_soon`; nothing that is asked here later comes before it."""
        ...


class SharedLimiter:
    """A `harness.limiting.limiter.RequestLimiter` whose slots all workers share."""

    def __init__(self, limited: Limited, counter: Counter) -> None:
        """``counter`` is where slots of ``limited`` are lent."""
        self._limited = limited
        self._counter = counter

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Hold a slot while one request is under way; see `Limiter.slot`."""
        lease, slot = uuid.uuid4().hex, Slot(0)
        left_s = anyio.current_effective_deadline() - anyio.current_time()
        try:
            granted = await self._counter.acquire(self._limited, lease, left_s)
            if granted.too_long is not None:
                raise WaitTooLong(*granted.too_long, granted.waited_s)
            slot.waited_s = granted.waited_s
            yield slot
        finally:
            with anyio.CancelScope(shield=True):
                await self._counter.release(
                    lease, succeeded=slot.succeeded, throttled=slot.throttled
                )

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds, from no worker."""
        self._counter.pause_soon(self._limited, seconds)
