"""Allowed ranges of a run's numbers, shared by the command line and the Python API."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from harness.base import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The range of one number."""

    name: str
    """Its name in the Python API."""
    least: int
    """The smallest allowed value."""
    most: int | None = None
    """The largest allowed value; ``None`` means any."""
    whole: bool = True
    """Whether only integers are allowed."""

    def check_value(self, value: Any) -> None:
        """Accept ``None``, which means the default, and values within the range.

        Raises:
            UsageError: it is out of range, or NaN or infinity.
        """
        if value is None:
            return
        numeric = isinstance(value, int if self.whole else (int, float)) and not isinstance(
            value, bool
        )
        if (
            not numeric
            or not math.isfinite(value)
            or value < self.least
            or value > (self.most or math.inf)
        ):
            kind = "a whole number" if self.whole else "a number"
            span = (
                f"of at least {self.least}"
                if self.most is None
                else f"from {self.least} to {self.most}"
            )
            raise UsageError(f"{self.name}: expected {kind} {span}, found {value!r}")


TRIALS_RANGE = Range(name="trials", least=1, most=1000)
LEAST_TRIALS_RANGE = Range(name="least_trials", least=1, most=1000)
CONCURRENCY_RANGE = Range(name="concurrency", least=1, most=100_000)
MOST_IN_A_PROCESS = 1000
"""Most trials at the same time in one process; engines with several processes spread more."""
TIMEOUT_MS_RANGE = Range(name="timeout_ms", least=1, whole=False)
MAX_CASES_RANGE = Range(name="max_cases", least=1)
MAX_COST_RANGE = Range(name="max_cost", least=0, whole=False)
MAX_TOKENS_RANGE = Range(name="max_tokens", least=1)
MAX_ERRORS_RANGE = Range(name="max_errors", least=1)
GRACE_S_RANGE = Range(name="grace_s", least=0, whole=False)
