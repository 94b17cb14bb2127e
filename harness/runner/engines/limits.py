"""Limits that the workers of a run share: one limiter for each model and server.

`RunLimiters` holds the limiters, in one place. `SharedLimiter` stands in for one of them in a
worker.

As long as nobody was told to send less, nobody has to ask for a slot: a worker only waits to hear
when that ends. From then on it asks before each request, and what it has under way counts. What a
worker holds it holds for a time only, so that a worker that dies gives it back.

Messages of a worker may arrive in another order than it sent them: Ray keeps none for an actor with
async methods. So the end of a request that is not known yet is kept until its begin arrives.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import field
from typing import Any

import anyio

from harness.base import LimitedTarget, Limiter, Slot, WaitTooLong
from harness.types import dataclass

SPARE_S = 10.0
"""Seconds that a slot may be held beyond the longest request, before it is taken back."""
NEWS_S = 10.0
"""Seconds after which a worker that need not ask waits anew to hear when that ends."""
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotGrant:
    """The answer to a worker that asked for a slot."""

    waited_s: float
    """Seconds that it waited."""
    too_long: tuple[float, float] | None = None
    """Why it got none: the wait to come, and what is left until its deadline."""
    free: bool = False
    """Whether it needs none: nobody has to ask, until `Limits.is_untouched`."""


@dataclass(slots=True)
class _Lease:
    """A slot that a worker holds, or waits for."""

    ends_at: float
    scope: anyio.CancelScope
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    slot: Slot | None = None


@dataclass(frozen=True, slots=True)
class _EarlyRelease:
    """The end of a request whose begin has not arrived yet."""

    kept_until: float
    succeeded: bool
    throttled: bool


class RunLimiters:
    """All limiters of a run, by the name of what they limit."""

    def __init__(self) -> None:
        """Start without a limiter."""
        self._limiters: dict[str, Limiter] = {}
        self._leases: dict[str, _Lease] = {}
        self._early: dict[str, _EarlyRelease] = {}
        self._changed: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)

    async def acquire(self, limited: LimitedTarget, lease: str, left_s: float) -> SlotGrant:
        """Wait for a slot of ``limited``, at most ``left_s``, and lend it for a request's time."""
        if self._early.pop(lease, None):  # the worker no longer waits
            return SlotGrant(waited_s=0.0, too_long=(math.inf, 0.0))
        if self._get_limiter(limited).is_untouched:
            return SlotGrant(waited_s=0.0, free=True)
        asked_at = anyio.current_time()
        with anyio.CancelScope(deadline=asked_at + left_s) as scope:
            # While it waits it does not expire: its scope has a deadline.
            held = self._leases[lease] = _Lease(math.inf, scope)
            try:
                held.slot = await held.stack.enter_async_context(
                    self._get_limiter(limited).hold_slot()
                )
            except WaitTooLong as late:
                self._leases.pop(lease, None)
                return SlotGrant(waited_s=late.waited_s, too_long=(late.wait_s, late.left_s))
            held.ends_at = anyio.current_time() + limited.longest_s + SPARE_S
            return SlotGrant(waited_s=held.slot.waited_s)
        # Only a cancelled scope leads here: by its deadline, or by `release`.
        self._leases.pop(lease, None)
        waited_s = anyio.current_time() - asked_at
        return SlotGrant(waited_s=waited_s, too_long=(math.inf, max(0.0, left_s - waited_s)))

    async def release(self, lease: str, *, succeeded: bool, throttled: bool) -> None:
        """Give back what a worker holds, or no longer waits for."""
        held = self._leases.pop(lease, None)
        if held is None:
            # Its begin may be on the way; what was lost with a worker is forgotten.
            kept_until = anyio.current_time() + SPARE_S
            self._early[lease] = _EarlyRelease(kept_until, succeeded, throttled)
            return
        if held.slot is None:
            held.scope.cancel("the worker no longer waits for it")
            return
        held.slot.succeeded, held.slot.throttled = succeeded, throttled
        await held.stack.aclose()
        self._notify_waiting()

    async def is_untouched(self, limited: LimitedTarget) -> bool:
        """Wait until everybody has to ask, at most `NEWS_S`; return whether nobody has to."""
        if self._get_limiter(limited).is_untouched:
            with anyio.move_on_after(NEWS_S):
                await self._changed[limited.name].wait()
        return self._get_limiter(limited).is_untouched

    def adopt_soon(self, limited: LimitedTarget, leases: Sequence[str]) -> None:
        """Count what a worker has begun without asking, and gives back as if it had asked."""
        limiter, now = self._get_limiter(limited), anyio.current_time()
        # All begin before one of them ends, since they were under way together.
        slots = {lease: limiter.begin_request() for lease in leases}
        for lease, slot in slots.items():
            if early := self._early.pop(lease, None):
                slot.succeeded, slot.throttled = early.succeeded, early.throttled
                limiter.end_request(slot)
                continue
            held = _Lease(now + limited.longest_s + SPARE_S, anyio.CancelScope(), slot=slot)
            held.stack.callback(limiter.end_request, slot)
            self._leases[lease] = held
        self._notify_waiting()

    def pause_soon(self, limited: LimitedTarget, seconds: float) -> None:
        """Let nobody begin a request to ``limited`` for so many seconds."""
        self._get_limiter(limited).pause(seconds)
        self._notify_waiting()

    def _notify_waiting(self) -> None:
        """Tell those who wait for it that everybody has to ask now."""
        for name, limiter in self._limiters.items():
            if not limiter.is_untouched and name in self._changed:
                self._changed.pop(name).set()

    def _get_limiter(self, limited: LimitedTarget) -> Limiter:
        if limited.name not in self._limiters:
            self._limiters[limited.name] = Limiter(limited.most)
        return self._limiters[limited.name]

    async def reclaim_expired(self) -> None:
        """Take back what is held for too long, until cancelled."""
        while True:
            await self.take_back()
            await anyio.sleep(_LOOK_S)

    async def take_back(self) -> None:
        """End the leases whose time is over: their workers have died."""
        now = anyio.current_time()
        self._early = {key: end for key, end in self._early.items() if end.kept_until > now}
        for lease in [key for key, held in self._leases.items() if held.ends_at <= now]:
            await self.release(lease, succeeded=False, throttled=False)


class RemoteLimiters:
    """The way to the shared limits, which live in another actor."""

    def __init__(self, limits: Any) -> None:
        """``limits`` is the handle of that actor."""
        self._limits = limits

    async def acquire(self, limited: LimitedTarget, lease: str, left_s: float) -> SlotGrant:
        """See `RunLimiters.acquire`."""
        granted: SlotGrant = await self._limits.acquire.remote(limited, lease, left_s)
        return granted

    async def release(self, lease: str, *, succeeded: bool, throttled: bool) -> None:
        """See `RunLimiters.release`."""
        # Nobody waits for the answer: the lease ends by itself if this is lost.
        self._limits.release.remote(lease, succeeded=succeeded, throttled=throttled)

    async def is_untouched(self, limited: LimitedTarget) -> bool:
        """See `RunLimiters.is_untouched`."""
        free: bool = await self._limits.is_untouched.remote(limited)
        return free

    def adopt_soon(self, limited: LimitedTarget, leases: Sequence[str]) -> None:
        """See `RunLimiters.adopt_soon`; the caller does not wait until it is done."""
        self._limits.adopt_soon.remote(limited, leases)

    def pause_soon(self, limited: LimitedTarget, seconds: float) -> None:
        """See `RunLimiters.pause_soon`; the caller does not wait until it is done."""
        self._limits.pause_soon.remote(limited, seconds)


class SharedLimiter:
    """A `harness.base.limiting.limiter.RequestLimiter` whose slots all workers share."""

    def __init__(self, limited: LimitedTarget, counter: RunLimiters | RemoteLimiters) -> None:
        """``counter`` is where slots of ``limited`` are lent."""
        self._limited = limited
        self._counter = counter
        self._begun: set[str] = set()
        self._hearing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold_slot(self) -> AsyncIterator[Slot]:
        """Hold a slot while one request is under way; see `Limiter.hold_slot`."""
        lease, slot = uuid.uuid4().hex, Slot(0)
        try:
            # As long as it listens, nobody has to ask, and the request only counts here.
            if self._hearing is None:
                slot.waited_s = await self._acquire_slot(lease)
            else:
                self._begun.add(lease)
            yield slot
        finally:
            # First: this request is among those that are handed over, and is then given back.
            if slot.throttled:
                self._start_asking()
            if lease in self._begun:
                self._begun.discard(lease)
            else:
                # A cancelled trial must give its slot back as well.
                with anyio.CancelScope(shield=True):
                    await self._counter.release(
                        lease, succeeded=slot.succeeded, throttled=slot.throttled
                    )

    async def _acquire_slot(self, lease: str) -> float:
        """Wait for a slot, and return how long that took."""
        left_s = anyio.current_effective_deadline() - anyio.current_time()
        granted = await self._counter.acquire(self._limited, lease, left_s)
        if granted.too_long is not None:
            raise WaitTooLong(*granted.too_long, granted.waited_s)
        if granted.free:
            self._begun.add(lease)
            # No task group would do: the task outlives the request that starts it.
            self._hearing = self._hearing or asyncio.create_task(self._await_asking())
        return granted.waited_s

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds, from no worker."""
        self._start_asking()
        self._counter.pause_soon(self._limited, seconds)

    async def _await_asking(self) -> None:
        """Wait until everybody has to ask."""
        with suppress(Exception):  # whatever is wrong there, asking says it
            while await self._counter.is_untouched(self._limited):
                pass
        self._start_asking()

    def _start_asking(self) -> None:
        """Have what was begun without asking counted, and ask from now on."""
        hearing, self._hearing = self._hearing, None
        if hearing is None:
            return
        # It comes here itself at its end, and must not cancel what it is about to do.
        if hearing is not asyncio.current_task():
            hearing.cancel()
        self._counter.adopt_soon(self._limited, tuple(self._begun))
        self._begun.clear()
