"""The retry loop of all models, and its failures in words.

`harness.models.http_failures` decides which faults are retried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.base import Backoff, GaveUp, ModelError, RequestLimiter, RetryOutcome, retried
from harness.models.failure_events import MEANINGS
from harness.models.http_failures import Fault
from harness.types import Usage

T = TypeVar("T")


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    *,
    name: str,
    limiter: RequestLimiter,
    max_retries: int,
    backoff: Backoff,
) -> RetryOutcome[T]:
    """Run ``attempt``, which raises `Fault`, for the model ``name``; see `retried`.

    Raises:
        ModelError: all attempts failed.
    """
    try:
        return await retried(attempt, limiter=limiter, max_retries=max_retries, backoff=backoff)
    except GaveUp as end:
        raise _error(name, end) from None


def _error(name: str, end: GaveUp) -> ModelError:
    faults = [one for one in end.failures if isinstance(one, Fault)]
    fault = faults[-1] if faults else None
    waiting = (
        "other trials used all requests that the API allows at once"
        if end.crowded
        else "the API asked all trials to wait"
    )
    message = f"{name}: {fault.message if fault else waiting}{end.told('the trial')}"
    if fault and fault.advice:
        message += f"\n  {fault.advice}"
    meaning = MEANINGS[fault.event if fault else "rate_limit"]
    return ModelError(
        message,
        kind=meaning.party,
        stop=meaning.stop,
        status=fault.status if fault else None,
        attempts=end.attempts,
        waited_s=end.waited_s,
        usage=sum((one.usage for one in faults), Usage()),
    )
