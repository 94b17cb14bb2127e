"""The retry loop of all models, and its failures in words.

`harness.models.http_failures` decides which faults are retried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.base import (
    Backoff,
    ModelError,
    RequestLimiter,
    RetriesExhausted,
    RetryOutcome,
    retry_request,
)
from harness.models.failure_events import MEANINGS
from harness.models.http_failures import ModelFault
from harness.types import Usage

T = TypeVar("T")


async def retry_model_request(
    attempt: Callable[[], Awaitable[T]],
    *,
    name: str,
    limiter: RequestLimiter,
    max_retries: int,
    backoff: Backoff,
) -> RetryOutcome[T]:
    """Run ``attempt``, which raises `ModelFault`, for the model ``name``; see `retry_request`.

    Raises:
        ModelError: all attempts failed.
    """
    try:
        return await retry_request(
            attempt, limiter=limiter, max_retries=max_retries, backoff=backoff
        )
    except RetriesExhausted as end:
        raise _build_error(name, end) from None


def _build_error(name: str, end: RetriesExhausted) -> ModelError:
    # None at all if the trial's time ran out before its first request was sent.
    faults = [failure for failure in end.failures if isinstance(failure, ModelFault)]
    fault = faults[-1] if faults else None
    waiting = (
        "other trials used all requests that the API allows at once"
        if end.is_crowded
        else "the API asked all trials to wait"
    )
    message = f"{name}: {fault.message if fault else waiting}{end.describe('the trial')}"
    if fault and fault.advice:
        message += f"\n  {fault.advice}"
    # Without a fault it waited for its turn, which limits of the API made long.
    meaning = MEANINGS[fault.event if fault else "rate_limit"]
    return ModelError(
        message,
        kind=meaning.party,
        stop=meaning.stop,
        status=fault.status if fault else None,
        attempts=end.attempts,
        waited_s=end.waited_s,
        # Of all attempts: each unusable reply was paid for.
        usage=sum((fault.usage for fault in faults), Usage()),
    )
