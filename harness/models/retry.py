"""The one retry loop of all models; the SDKs' own are off.

`harness.models.http_failures` decides which faults are retried. The wait is that which the API asks
for, else an exponential backoff with full jitter (each wait is drawn from zero to the bound, so
that trials that failed together do not retry together). A wait that the API asked for, or after a
rate limit, holds for all trials of the model; any other is the trial's own. A wait that outlasts
the trial is not begun: the trial ends at once and says why.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from harness.errors import ModelError
from harness.models.http_failures import Fault
from harness.models.limiter import RequestLimiter, WaitTooLong, sleep_if_it_fits
from harness.types import Usage

T = TypeVar("T")

Backoff: TypeAlias = Callable[[int], float]
"""Returns the seconds to wait before the n-th retry, from 1."""

FIRST_BOUND_S = 0.5
"""Bound of the first backoff in seconds, as in the official SDKs; each further one doubles."""
LONGEST_BACKOFF_S = 8.0
"""Longest backoff in seconds; a provider that needs longer should say so."""


def full_jitter(retry: int) -> float:
    """Return a random wait of at most 0.5, 1, 2, 4, 8, 8 … seconds."""
    return random.uniform(0, min(LONGEST_BACKOFF_S, FIRST_BOUND_S * 2.0 ** min(retry - 1, 16)))  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOutcome(Generic[T]):
    """The result of an exchange, with attempts and waiting time."""

    value: T
    """The result of the last attempt."""
    attempts: int
    """HTTP requests sent."""
    waited_s: float
    """Seconds spent waiting for a slot, a cooldown or between attempts."""


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    *,
    name: str,
    limiter: RequestLimiter,
    max_retries: int,
    backoff: Backoff,
) -> RetryOutcome[T]:
    """Run ``attempt`` until it succeeds or a retry makes no sense.

    Args:
        attempt: One exchange; raises `Fault`.
        name: The model's name for messages.
        limiter: Shared by all trials of the model.
        max_retries: Attempts after the first.
        backoff: The wait if the API names none.

    Raises:
        ModelError: all attempts failed.
    """
    attempts, waited_s, used = 0, 0.0, Usage()
    fault: Fault | None = None
    try:
        while True:
            async with limiter.slot() as slot:
                waited_s += slot.waited_s
                attempts += 1
                try:
                    value = await attempt()
                except Fault as failed:
                    fault = failed
                    used += failed.usage
                    slot.throttled = failed.throttled
                else:
                    slot.succeeded = True
                    return RetryOutcome(value=value, attempts=attempts, waited_s=waited_s)
            own_wait_s = _next_wait(fault, limiter, backoff(attempts))
            if not fault.retryable or attempts > max_retries:
                raise _error(name, fault, attempts, waited_s, used)
            if own_wait_s > 0:
                await sleep_if_it_fits(own_wait_s)
                waited_s += own_wait_s
    except WaitTooLong as late:
        raise _error(name, fault, attempts, waited_s + late.waited_s, used, late) from None


def _next_wait(fault: Fault, limiter: RequestLimiter, backoff_s: float) -> float:
    """Pause all trials if needed, and return the seconds that only this trial waits."""
    if not fault.retryable:
        return 0.0
    if fault.retry_after_s is None and not fault.throttled:
        return backoff_s
    limiter.pause(backoff_s if fault.retry_after_s is None else fault.retry_after_s)
    return 0.0


def _error(
    name: str,
    fault: Fault | None,
    attempts: int,
    waited_s: float,
    used: Usage,
    late: WaitTooLong | None = None,
) -> ModelError:
    crowded = late is not None and math.isinf(late.wait_s)
    waiting = (
        "other trials used all requests that the API allows at once"
        if crowded
        else "the API asked all trials to wait"
    )
    message = f"{name}: {fault.message if fault else waiting}"
    if attempts > 1:
        message += f" ({attempts} attempts)"
    if late and crowded:
        message += f"; it had no slot after {late.waited_s:.3g} s, when the trial's time was up"
    elif late:
        message += (
            f"; the next attempt may start in {late.wait_s:.3g} s, but the trial ends in "
            f"{late.left_s:.3g} s"
        )
    if fault and fault.advice:
        message += f"\n  {fault.advice}"
    status = fault.status if fault else None
    return ModelError(message, status=status, attempts=attempts, waited_s=waited_s, usage=used)
