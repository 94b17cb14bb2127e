"""Requests to a server, each in its turn: no more at once than it takes, and later if it says so.

| the server answers                             | what becomes of it                              |
|------------------------------------------------|-------------------------------------------------|
| 429                                            | half as many requests at once; a wait; again    |
| 503 with ``Retry-After``                       | the same                                        |
| the same after `MAX_RETRIES`                   | `HttpFault`                                     |
| the same, and the wait outlasts the trial      | `HttpFault` at once, which says so              |

Both statuses say that the request was not carried out, so it reaches the server's tools once. The
wait holds for all trials, on all workers. It is no part of the time that a call may take.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TypeVar

import anyio

from harness.base import LimitedTarget, RequestLimiter, RetriesExhausted, digest_json, retry_request
from harness.sessions.transports.http_errors import HttpFault
from harness.types import ServerSpec

T = TypeVar("T")

MAX_RETRIES = 3
"""Attempts after the first, as for models."""
MOST_WAIT_S = 60.0
"""Longest wait where no trial has a deadline, and longest wait of a start, in seconds."""


def find_limit(server: ServerSpec) -> LimitedTarget | None:
    """Return what has one limit with ``server``; ``None``: its requests are not limited.

    A server at an address has one for all trials, users and workers. One that harness starts has
    several processes, and tells none of them how much is too much: its limit is the configured one.
    """
    transport, most = server.transport, server.transport.concurrency
    remote = transport.command is None
    if not remote and most is None:
        return None
    place = transport.url if remote else asdict(transport)
    return LimitedTarget(
        name=digest_json(["server", place, most]),
        longest_s=max(server.call_timeout_s, server.start_timeout_s),
        most=math.inf if most is None else most,
    )


class Throttle:
    """Who may send to one server now."""

    def __init__(self, limiter: RequestLimiter | None = None, longest_s: float = math.inf) -> None:
        """``None``: everybody, at any time; ``longest_s`` bounds one request."""
        self._limiter = limiter
        # Used only where nothing else has a deadline.
        self._most_s = longest_s + MOST_WAIT_S

    async def run_attempt(
        self,
        attempt: Callable[[], Awaitable[T]],
        waited: Callable[[float], None] = lambda _: None,
        *,
        ends: str = "the trial",
    ) -> T:
        """Run ``attempt`` in its turn, and again if the server says that it came too early.

        ``waited`` is told of the seconds so far before each attempt; ``ends`` names what has the
        deadline.

        Raises:
            HttpFault: of the last attempt; or it would have come too late.
            TimeoutError: nothing else has a deadline, and waits and attempts took too long.
        """
        if self._limiter is None:
            return await attempt()
        endless = math.isinf(anyio.current_effective_deadline())
        try:
            with anyio.fail_after(self._most_s if endless else None):
                outcome = await retry_request(
                    attempt, limiter=self._limiter, max_retries=MAX_RETRIES, waited=waited
                )
                return outcome.value
        except RetriesExhausted as end:
            waited(end.waited_s)
            fault = _build_fault(end, ends)
            # An exception must not be its own cause, and keeps the one that it has.
            raise fault from (fault.__cause__ if fault is end.last_failure else end.last_failure)

    async def run_start(
        self, attempt: Callable[[], Awaitable[T]], starting: anyio.CancelScope
    ) -> T:
        """Run a part of a server's start in its turn; waiting is no part of the time for it.

        Raises:
            HttpFault: as `run_attempt`.
        """
        clock = _PausableDeadline(starting)

        async def run_timed() -> T:
            with clock.resume():
                return await attempt()

        with clock.pause():
            return await self.run_attempt(run_timed, ends="its start")


class Throttles:
    """The turns at all servers of a process."""

    def __init__(self, limiter_of: Callable[[LimitedTarget], RequestLimiter]) -> None:
        """``limiter_of`` makes the limiter of a server."""
        self._limiter_of = limiter_of
        self._known: dict[str, Throttle] = {}

    def get_throttle(self, server: ServerSpec) -> Throttle:
        """Return the turns of all who send to this server."""
        limited = find_limit(server)
        if limited is None:
            return Throttle()
        if limited.name not in self._known:
            self._known[limited.name] = Throttle(self._limiter_of(limited), limited.longest_s)
        return self._known[limited.name]


class _PausableDeadline:
    """The deadline of a scope, which stands still while a request waits for its turn."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        """Stop nothing yet."""
        self._scope = scope
        self._left_s = 0.0

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Give the scope `MOST_WAIT_S` more for the block, but for what is `resume` in it."""
        self._stop()
        try:
            yield
        finally:
            self._scope.deadline = anyio.current_time() + self._left_s

    @contextmanager
    def resume(self) -> Iterator[None]:
        """Let the time go on for the block."""
        self._scope.deadline = anyio.current_time() + self._left_s
        try:
            yield
        finally:
            self._stop()

    def _stop(self) -> None:
        now = anyio.current_time()
        self._left_s = self._scope.deadline - now
        # Time that is used up ends the next attempt, and not the wait for it.
        self._scope.deadline = now + max(0.0, self._left_s) + MOST_WAIT_S


def _build_fault(end: RetriesExhausted, ends: str) -> HttpFault:
    last = end.last_failure
    # There was no attempt: its turn did not come in time.
    if not isinstance(last, HttpFault):
        why = "it asked all trials to wait"
        if end.is_crowded:
            why = "other trials send all requests that it takes at once"
        return HttpFault(f"was not asked: {why}{end.describe(ends)}", busy=True)
    if not last.retryable:
        return last
    return HttpFault(f"{last}{end.describe(ends)}", status=last.status, busy=True)
