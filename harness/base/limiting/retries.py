"""The one retry loop, of models and of servers; the SDKs' own are off.

Whoever sends a request says which failures are retried (`FailedAttempt`). The wait is that which
the other side asks for, else an exponential backoff with full jitter (each wait is drawn from zero
to the bound, so that trials that failed together do not retry together). A wait that was asked for,
or after a rate limit, holds for all that share the limiter; any other is the request's own. A wait
that outlasts the caller's deadline is not begun: the request ends at once and says why.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Generic, TypeAlias, TypeVar

from harness.base.limiting.limiter import RequestLimiter, WaitTooLong, sleep_if_it_fits
from harness.types import dataclass

T = TypeVar("T")

Backoff: TypeAlias = Callable[[int], float]
"""Returns the seconds to wait before the n-th retry, from 1."""

FIRST_BOUND_S = 0.5
"""Bound of the first backoff in seconds, as in the official SDKs; each further one doubles."""
LONGEST_BACKOFF_S = 8.0
"""Longest backoff in seconds; who needs longer should say so."""


def full_jitter(retry: int) -> float:
    """Return a random wait of at most 0.5, 1, 2, 4, 8, 8 … seconds."""
    # The exponent is bounded, since a float overflows beyond a thousand retries.
    return random.uniform(0, min(LONGEST_BACKOFF_S, FIRST_BOUND_S * 2.0 ** min(retry - 1, 16)))  # noqa: S311 - no secret


class FailedAttempt(Exception):
    """An attempt without a usable answer."""

    retryable: bool = False
    """Whether another attempt makes sense."""
    throttled: bool = False
    """Whether fewer requests at once are asked for."""
    retry_after_s: float | None = None
    """When to come again, in seconds, if that was said."""


class RetriesExhausted(Exception):
    """No further attempt is made."""

    def __init__(
        self,
        failures: list[FailedAttempt],
        *,
        attempts: int,
        waited_s: float,
        late: WaitTooLong | None = None,
    ) -> None:
        """``failures`` are those of all ``attempts``; ``late`` is a wait that was not begun."""
        super().__init__(*failures)
        self.failures = failures
        self.attempts = attempts
        self.waited_s = waited_s
        self.late = late

    @property
    def last_failure(self) -> FailedAttempt | None:
        """The failure of the last attempt; ``None`` if nothing was sent."""
        return self.failures[-1] if self.failures else None

    def describe(self, whose: str) -> str:
        """Return how often it was tried, and which wait came too late, behind a failure's words.

        ``whose`` is what ends before it: ``the trial``.
        """
        words = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
        if self.late is None:
            return words
        late = self.late
        if math.isinf(late.wait_s):
            after = f"after {late.waited_s:.3g} s, when {whose}'s time was up"
            return f"{words}; it had no slot {after}"
        start = f"the next attempt may start in {late.wait_s:.3g} s"
        return f"{words}; {start}, but {whose} ends in {late.left_s:.3g} s"

    @property
    def is_crowded(self) -> bool:
        """Whether it waited in vain for a slot, and not for the end of a cooldown."""
        return self.late is not None and math.isinf(self.late.wait_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOutcome(Generic[T]):
    """The result of an exchange, with attempts and waiting time."""

    value: T
    """The result of the last attempt."""
    attempts: int
    """Requests sent."""
    waited_s: float
    """Seconds spent waiting for a slot, a cooldown or between attempts."""


async def retry_request(
    attempt: Callable[[], Awaitable[T]],
    *,
    limiter: RequestLimiter,
    max_retries: int,
    backoff: Backoff = full_jitter,
    waited: Callable[[float], None] = lambda _: None,
) -> RetryOutcome[T]:
    """Run ``attempt`` until it succeeds or a retry makes no sense.

    Args:
        attempt: One exchange; raises `FailedAttempt`.
        limiter: Shared by all that send to the same place.
        max_retries: Attempts after the first.
        backoff: The wait if none is asked for.
        waited: Is told of all seconds of waiting so far, before each attempt.

    Raises:
        GaveUp: all attempts failed, or the next one would come too late.
    """
    attempts, waited_s = 0, 0.0
    failures: list[FailedAttempt] = []
    try:
        while True:
            async with limiter.hold_slot() as slot:
                waited_s += slot.waited_s
                waited(waited_s)
                attempts += 1
                try:
                    value = await attempt()
                except FailedAttempt as failed:
                    failures.append(failed)
                    slot.throttled = failed.throttled
                else:
                    slot.succeeded = True
                    return RetryOutcome(value=value, attempts=attempts, waited_s=waited_s)
            # Outside of the slot, which others may use. Even a last failure sets their cooldown.
            own_wait_s = _next_wait(failures[-1], limiter, backoff(attempts))
            if not failures[-1].retryable or attempts > max_retries:
                raise RetriesExhausted(failures, attempts=attempts, waited_s=waited_s)
            if own_wait_s > 0:
                await sleep_if_it_fits(own_wait_s)
                waited_s += own_wait_s
    except WaitTooLong as late:
        waited_s += late.waited_s
        raise RetriesExhausted(failures, attempts=attempts, waited_s=waited_s, late=late) from None


def _next_wait(failed: FailedAttempt, limiter: RequestLimiter, backoff_s: float) -> float:
    """Pause all that share the limiter if needed; return the seconds that this one alone waits."""
    if not failed.retryable:
        return 0.0
    if failed.retry_after_s is None and not failed.throttled:
        return backoff_s
    limiter.pause(backoff_s if failed.retry_after_s is None else failed.retry_after_s)
    return 0.0


_DIGITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds of any form of Retry-After; ``None`` without one.

    ``retry-after-ms`` is more exact and wins. A date is compared with the response's own ``Date``,
    so that a wrong clock on this machine does no harm; without one, with ``now``.
    """
    milliseconds = _parse_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _parse_number(value)
    if seconds is not None:
        return max(0.0, seconds)
    until = _parse_date(value)
    if until is None:
        return None
    # A date that has passed, by whichever clock, is no negative wait.
    answered = _parse_date(headers.get("date")) or now or datetime.now(UTC)
    return max(0.0, (until - answered).total_seconds())


def _parse_number(value: str | None) -> float | None:
    """Return a number in plain digits; unlike ``float``, refuse ``1_0`` and ``1e3``."""
    if value is None or not _DIGITS.fullmatch(value.strip(" \t")):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _parse_date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
