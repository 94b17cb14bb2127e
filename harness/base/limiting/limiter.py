"""Limits the requests under way at one model or server, and holds cooldowns for all of them.

One `Limiter` belongs to one of them, and so to all trials of a run; where several processes run
them, each asks it through a `RequestLimiter` of its own (`LIMITER_OF`). It starts with the limit
that was configured, mostly none (the run's concurrency is the limit). A rate limit of the other
side halves it, starting from the requests under way, down to one. It grows by one each time that
the limit was used up once without another rate limit, so that an idle model never raises it; never
beyond what was configured. A cooldown holds for all trials, whichever trial got it: the next one
would get the same answer.

Nothing here waits past the deadline of the caller's cancel scope: a cooldown that outlasts it is
not begun, and waiting for a slot ends shortly before it. So a trial that sent nothing is reported
as having waited, never as slow. A caller that asks only in that last moment was slow before: then
the deadline itself ends the wait.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Protocol

import anyio

from harness.types import dataclass

_LAST_MOMENT_S = 0.25
"""Seconds before the caller's deadline in which no request is begun."""


class WaitTooLong(Exception):
    """A wait that would outlast the caller's deadline."""

    def __init__(self, wait_s: float, left_s: float, waited_s: float = 0.0) -> None:
        """``wait_s``: the wait to come, may be infinite; ``left_s``: the caller's.

        ``waited_s``: so far.
        """
        super().__init__(wait_s, left_s)
        self.wait_s = wait_s
        self.left_s = left_s
        self.waited_s = waited_s


@dataclass(slots=True, eq=False)
class Slot:
    """The right to send one request; its holder records the outcome."""

    generation: int
    """How often the limit was halved before the request was sent."""
    waited_s: float = 0.0
    """Time between asking for the slot and having it, in seconds."""
    used_up: bool = False
    """Whether this was the last slot of the limit."""
    succeeded: bool = False
    """Set by the holder: the API answered."""
    throttled: bool = False
    """Set by the holder: the API asked for fewer requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedTarget:
    """A model or a server to which requests are limited."""

    name: str
    """Equal for what has one limit; no secret can be read from it."""
    longest_s: float
    """No request to it is under way for longer, in seconds."""
    most: float = math.inf
    """Most requests under way that its configuration allows."""


class RequestLimiter(Protocol):
    """What is asked before each request: a `Limiter`, or one that other processes share."""

    def hold_slot(self) -> AbstractAsyncContextManager[Slot]:
        """Hold a slot while one request is under way (see `Limiter.hold_slot`)."""
        ...

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds (see `Limiter.pause`)."""
        ...


class Limiter:
    """An adaptive limit of concurrent requests, and a cooldown, shared by all trials."""

    def __init__(self, most: float = math.inf) -> None:
        """Start without a cooldown; the limit never exceeds ``most``."""
        self._most = self._limit = most
        self._begun: set[int] = set()
        self._slots = anyio.CapacityLimiter(most)
        self._halved = 0
        self._generation = 0
        self._credit = 0
        self._ready_at = -math.inf

    @property
    def limit(self) -> float:
        """Most requests under way; infinite until the first rate limit, if none is configured."""
        return self._limit

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has to ask: there is no limit, and there was no cooldown yet."""
        return math.isinf(self._limit) and math.isinf(self._ready_at)

    def begin_request(self) -> Slot:
        """Return a slot for a request that began before there was a limit, until it has ended.

        If the limit was halved meanwhile, this one is among those whose half is the limit.
        """
        slot = Slot(0)
        self._begun.add(id(slot))
        # Only the first limit was set without knowing of these requests.
        if self._generation == 1:
            self._halved += 1
            self._limit = max(self._limit, self._halved // 2)
        self._adjust_tokens()
        return slot

    def end_request(self, slot: Slot) -> None:
        """Take back what `begin_request` returned."""
        self._learn_limit(slot)
        self._begun.discard(id(slot))
        self._adjust_tokens()

    def _adjust_tokens(self) -> None:
        """Lend no more slots than the limit leaves beside the requests that began before it."""
        tokens = self._limit
        if not math.isinf(tokens):
            tokens = max(0, int(tokens) - len(self._begun))
        self._slots.total_tokens = tokens

    @asynccontextmanager
    async def hold_slot(self) -> AsyncIterator[Slot]:
        """Hold a slot while one request is under way, after waiting for it and for the cooldown.

        Raises:
            WaitTooLong: the cooldown outlasts the caller's deadline, or no slot came free before
                it.
        """
        slot = Slot(self._generation)
        asked_at = anyio.current_time()
        free = await self._acquire(slot)
        try:
            try:
                cool = await self._cool_down()
            except WaitTooLong as late:
                late.waited_s = anyio.current_time() - asked_at
                raise
            if not (free and cool):
                slot.waited_s = anyio.current_time() - asked_at
            # Again, after the waits: the limit may have been halved meanwhile.
            slot.generation = self._generation
            slot.used_up = self._slots.available_tokens <= 0
            yield slot
        finally:
            self._learn_limit(slot)
            self._slots.release_on_behalf_of(slot)

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds; a longer pause under way continues."""
        self._ready_at = max(self._ready_at, anyio.current_time() + seconds)

    async def _acquire(self, slot: Slot) -> bool:
        """Take a token, and return whether one was free."""
        try:
            self._slots.acquire_on_behalf_of_nowait(slot)
        except anyio.WouldBlock:
            asked_at, deadline = anyio.current_time(), anyio.current_effective_deadline()
            # A caller that comes later than that was slow by itself: its own deadline ends it.
            in_time = asked_at < deadline - _LAST_MOMENT_S
            with anyio.move_on_at(deadline - _LAST_MOMENT_S if in_time else math.inf):
                await self._slots.acquire_on_behalf_of(slot)
                return False
            now = anyio.current_time()
            raise WaitTooLong(math.inf, deadline - now, now - asked_at) from None
        return True

    async def _cool_down(self) -> bool:
        """Wait for the end of the cooldown, and return whether there was none."""
        cool = True
        # In a loop, because another request may prolong the cooldown during the wait.
        while (wait_s := self._ready_at - anyio.current_time()) > 0:
            cool = False
            await sleep_if_it_fits(wait_s)
        return cool

    def _learn_limit(self, slot: Slot) -> None:
        if slot.throttled:
            # Requests under way together get the rate limit together: that halves the limit once.
            if slot.generation == self._generation:
                known = self._slots.borrowed_tokens + len(self._begun)
                self._halved = int(min(self.limit, known))
                self._limit = max(1, self._halved // 2)
                self._generation += 1
                self._credit = 0
                self._adjust_tokens()
        elif slot.succeeded and slot.used_up and self.limit < self._most:
            self._credit += 1
            if self._credit >= self.limit:
                self._limit = int(self.limit) + 1
                self._credit = 0
                self._adjust_tokens()


LIMITER_OF: ContextVar[Callable[[LimitedTarget], RequestLimiter]] = ContextVar(
    "limiter_of", default=lambda limited: Limiter(limited.most)
)
"""Makes the limiter of a model or a server: one of its own, unless processes share limits."""


async def sleep_if_it_fits(seconds: float) -> None:
    """Sleep for so long, or raise at once if the caller's deadline comes first.

    Raises:
        WaitTooLong: the deadline comes first; nothing was waited.
    """
    left_s = anyio.current_effective_deadline() - anyio.current_time()
    if seconds > left_s:
        raise WaitTooLong(seconds, max(0.0, left_s))
    await anyio.sleep(seconds)
