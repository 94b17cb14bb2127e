"""A suite's own estimate of a conversation's cost, instead of the price table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from harness.base import HarnessError, format_error
from harness.types import Suite, Usage


def own_costs(suite: Suite, model: str) -> Callable[[Usage], Usage] | None:
    """Return a function that sets a usage's cost by the suite's estimate; ``None`` without one."""
    estimate = suite.estimate_cost
    if estimate is None:
        return None

    def price_usage(usage: Usage) -> Usage:
        # Half of the tokens would have a price that looks like that of the whole.
        if usage.input_tokens is None or usage.output_tokens is None:
            return replace(usage, cost_usd=None)
        try:
            cost = estimate(model, usage.input_tokens, usage.output_tokens)
            cost = None if cost is None else float(cost)
        except Exception as error:  # a suite's own code may raise anything
            raise HarnessError(
                f"cost_estimator of suite {suite.name} raised an error: {format_error(error)}"
            ) from error
        # NaN would pass every budget, since no comparison with it holds.
        if cost is not None and not (math.isfinite(cost) and cost >= 0):
            raise HarnessError(
                f"cost_estimator of suite {suite.name} returned {cost:g}, which is not a cost in "
                "US dollars"
            )
        return replace(usage, cost_usd=cost)

    return price_usage
