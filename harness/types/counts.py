"""Counts: of trials by status, of tool calls by outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.types.outcomes import NOT_SENT, SEARCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Number of trials by status; the five statuses always add up to ``planned``."""

    planned: int = 0
    """Trials in the plan."""
    passed: int = 0
    """`TrialResult.status` ``passed``."""
    failed: int = 0
    """`TrialResult.status` ``failed``."""
    error: int = 0
    """`TrialResult.status` ``error``."""
    skipped: int = 0
    """`TrialResult.status` ``skipped``."""
    cancelled: int = 0
    """`TrialResult.status` ``cancelled``, and trials that are missing from an interrupted log."""

    @property
    def judged_count(self) -> int:
        """Trials with a verdict: the denominator of the pass rate."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Number of tool calls by outcome.

    `ok`, `denied`, `errors` and `not_sent` add up to `total`.
    """

    outcomes: Mapping[str, int] = field(default_factory=dict)
    """`Outcome` → number of calls."""

    @property
    def total(self) -> int:
        """All calls of tools."""
        return sum(self.outcomes.values()) - self.searches

    @property
    def searches(self) -> int:
        """Searches for tools, which are no calls of tools."""
        return self.outcomes.get(SEARCH, 0)

    @property
    def ok(self) -> int:
        """Calls with a result without error."""
        return self.outcomes.get("ok", 0)

    @property
    def denied(self) -> int:
        """Calls that the server refused to this user."""
        return self.outcomes.get("denied", 0)

    @property
    def not_sent(self) -> int:
        """Calls that did not reach the server: blocked, of a decoy, or of a tool not loaded."""
        return sum(self.outcomes.get(outcome, 0) for outcome in NOT_SENT - {SEARCH})

    @property
    def errors(self) -> int:
        """Calls with any other outcome."""
        return self.total - self.ok - self.denied - self.not_sent


def count_needed_passes(planned: int, share: float) -> int:
    """Return how many of ``planned`` trials must pass if that ``share`` of them must."""
    # 0.07 × 100 is a little more than 7 in binary fractions; 7 trials are meant.
    return max(1, math.ceil(planned * share - 1e-9))
