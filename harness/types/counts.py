"""How many: of trials by how they ended, of calls by what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.types.happened import NOT_SENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many trials ended how; the five endings always add up to ``planned``."""

    planned: int = 0
    """Trials of the plan."""
    passed: int = 0
    """`TrialResult.status` ``passed``."""
    failed: int = 0
    """`TrialResult.status` ``failed``."""
    error: int = 0
    """`TrialResult.status` ``error``."""
    skipped: int = 0
    """`TrialResult.status` ``skipped``."""
    cancelled: int = 0
    """`TrialResult.status` ``cancelled``, and those of which an interrupted log says nothing."""

    @property
    def judged(self) -> int:
        """Trials with a verdict: the denominator of the pass rate."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """What came of the tool calls of many trials; `ok`, `denied`, `errors`, `not_sent` and `unknown` make `total`."""

    outcomes: Mapping[str, int] = field(default_factory=dict)
    """`Outcome` → calls that came to it."""
    unknown: int = 0
    """Calls of which the log does not say what came of them."""

    @property
    def total(self) -> int:
        """All calls."""
        return sum(self.outcomes.values()) + self.unknown

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
        """Calls that did not reach the server: held back, or of a decoy."""
        return sum(self.outcomes.get(outcome, 0) for outcome in NOT_SENT)

    @property
    def errors(self) -> int:
        """Calls that ended in any other way."""
        return self.total - self.ok - self.denied - self.not_sent - self.unknown
