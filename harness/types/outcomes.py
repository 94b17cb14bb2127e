"""How tool calls and trials end, how many of them ended so, and what a person says of a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from harness.types.shared_dataclass import dataclass

Outcome: TypeAlias = Literal[
    "ok",
    "tool_error",
    "denied",
    "unknown_tool",
    "invalid_arguments",
    "timeout",
    "server_lost",
    "invalid_result",
    "blocked",
    "decoy",
    "not_loaded",
    "injected",
    "tool_search",
]
"""How a call ended:

- ``ok``: a result without error.
- ``tool_error``: the tool ran and reported an error.
- ``denied``: the server refused this user the call.
- ``unknown_tool``: the server has no such tool for this user.
- ``invalid_arguments``: the arguments do not fit the tool.
- ``timeout``: no answer within the call's deadline.
- ``server_lost``: the connection was lost before the answer, HTTP answered instead (429, 5xx), or
  the server rejected the request as harness wrote it.
- ``invalid_result``: the answer is not a result as MCP defines it (``null``, bad JSON, ``content``
  that is not a list of MCP content, ``isError`` that is not a boolean).
- ``decoy``: the tool is not the server's; a variant added it to the model's list. Never sent.
- ``not_loaded``: the tool was not in the list of this reply: no search or filter had chosen
  it. Never sent.
- ``injected``: a fault answered in place of the server (`ToolCall.injected`). Never sent.
- ``tool_search``: a search for tools, which a variant put in place of the list. No call of a tool:
  checks do not see it.
- ``blocked``: harness's own guard did not send it (read-only mode, blocked tool, call limit)."""

UNANSWERED: frozenset[Outcome] = frozenset({"timeout", "server_lost", "invalid_result"})
"""Outcomes that are the server's fault. They say nothing about the model or about the server's
policy, and it is unknown what such a call has changed."""

SEARCH: Outcome = "tool_search"
"""The outcome of what is no call of a tool: harness itself answers it, whatever it was asked."""

INJECTED: Outcome = "injected"
"""The outcome of a call that a fault kept from the server."""

NOT_SENT: frozenset[Outcome] = frozenset({"blocked", "decoy", "not_loaded", INJECTED, SEARCH})
"""Outcomes of calls that never reached the server, and so say nothing about it."""

NOT_LOADED = " (not loaded)"
"""Suffix to the name of a tool that was called while it was not offered, since no search or filter
had chosen it: no call of the tool, but an attempt to call it."""

NOT_SHOWN = " (not shown)"
"""Suffix to the server's name of a tool that a variant showed under another name or not at all, and
that the model called by this name: no call of the tool, and never sent."""


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
        """Calls that did not reach the server: blocked, answered by a fault, of a decoy …"""
        return sum(self.outcomes.get(outcome, 0) for outcome in NOT_SENT - {SEARCH})

    @property
    def errors(self) -> int:
        """Calls with any other outcome."""
        return self.total - self.ok - self.denied - self.not_sent


def count_needed_passes(planned: int, share: float) -> int:
    """Return how many of ``planned`` trials must pass if that ``share`` of them must."""
    # 0.07 × 100 is a little more than 7 in binary fractions; 7 trials are meant.
    return max(1, math.ceil(planned * share - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person's verdict on one trial. It stands beside the machine's and never replaces it."""

    key: str
    """`TrialResult.key`."""
    verdict: Literal["passed", "failed"]
    """What the person says."""
    machine: Literal["passed", "failed"]
    """The verdict that the person looked at."""
    by: str
    """The person's name."""
    note: str = ""
    """The reason; never empty if the verdict is overruled."""
    at: str = ""
    """UTC, ISO 8601."""

    @property
    def decision(self) -> Literal["accepted", "overruled"]:
        """Whether the two agree."""
        return "accepted" if self.verdict == self.machine else "overruled"
