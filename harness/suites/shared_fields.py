"""The keys that a test shares with the suite or its defaults: limits, repeats and labels."""

from __future__ import annotations

from typing import Any

from harness.base import (
    SHARE,
    InvalidValue,
    build_field,
    decimal_field,
    integer_field,
    lines_field,
    mapping_field,
    parse_share,
)
from harness.types import DEFAULT_TIMEOUT_S, Limits

MAX_TRIALS = 1000
"""More trials of one case would add no information."""


def _parse_trials(value: Any) -> int:
    count: int = _COUNT.parse(value)
    if count > MAX_TRIALS:
        raise InvalidValue(f"at most {MAX_TRIALS} trials, found {count}")
    return count


_COUNT = integer_field("", least=1)

LIMITS = {
    "timeout": decimal_field(
        "Seconds that one trial may take, from its first request to its answer.",
        unit="seconds",
        default=DEFAULT_TIMEOUT_S,
    ),
    "max_replies": integer_field(
        "Model replies in one trial.", least=1, default=Limits().max_replies
    ),
    "max_calls": integer_field("Tool calls in one trial.", least=0, default=Limits().max_calls),
    "max_tokens": integer_field("Input plus output tokens of one trial.", least=1),
    "max_cost": decimal_field(
        "US dollars that one trial may cost.", unit="US dollars", positive=False
    ),
}
"""Limits of a trial."""
REPEATS = {
    "trials": build_field(
        "How often the test is run, unless --trials says otherwise.",
        {"type": "integer", "minimum": 1, "maximum": MAX_TRIALS, "default": 1},
        _parse_trials,
    ),
    "pass_threshold": build_field(
        "The share of trials that must pass for the test to pass.",
        {**SHARE, "default": 1},
        parse_share,
    ),
}
"""How often a test is run, and how many of its trials must pass."""
LABELS = {
    "tags": lines_field(
        "Labels to pick tests by with -k. Those of the suite hold for each of its tests."
    ),
    "metadata": mapping_field(
        "Anything; carried to every report. A test's own keys go before those of the suite."
    ),
}
"""Labels of a test."""
