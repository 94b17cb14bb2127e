"""When to start no more trials, and how to end those that run: budgets, fail-fast, interrupts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from harness.types import Run

StopReason: TypeAlias = Literal["interrupted", "budget", "max-errors", "fail-fast"]
"""Why a run ends before its plan is through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a whole run may use, judging included.

    Trials under way when it is reached are finished, so it can be overrun by what they use.
    """

    max_cost_usd: float | None = None
    """Money; a trial of unknown cost ends the run, since the budget could not be kept."""
    max_tokens: int | None = None
    """Input plus output tokens; unknown is treated as for money."""
    max_errors: int | None = None
    """Trials that end in ``error``."""
    fail_fast: bool = False
    """Stop at the first case that cannot pass any more: a trial too many failed or could not be judged."""


class Control:
    """The one switch of a run: workers ask it before each trial and tell it of each result."""

    def __init__(self, budget: Budget) -> None:
        """Start with nothing used."""
        self.stopped: StopReason | None = None
        """Why no further trial is started; ``None`` while all is well."""
        self.note: str | None = None
        """The reason in words."""
        self._budget = budget
        self._running: set[anyio.CancelScope] = set()
        self._cost: float | None = 0.0
        self._tokens: int | None = 0
        self._errors = 0
        self._missed: Counter[tuple[str, str, str]] = Counter()

    def stop(self, reason: StopReason, note: str) -> None:
        """Start no further trial; the first reason stands."""
        if self.stopped is None:
            self.stopped, self.note = reason, note

    def enter(self, scope: anyio.CancelScope) -> None:
        """Take note of a trial that runs under ``scope``."""
        self._running.add(scope)

    def leave(self, scope: anyio.CancelScope) -> None:
        """Forget it."""
        self._running.discard(scope)

    def cancel(self) -> None:
        """End every trial that runs."""
        for scope in self._running:
            scope.cancel("the run was interrupted")

    def account(self, run: Run) -> None:
        """Add what a trial used, and stop where a bound is reached."""
        budget, usage = self._budget, run.usage + run.judge_usage
        tokens = (
            None
            if usage.input_tokens is None or usage.output_tokens is None
            else usage.input_tokens + usage.output_tokens
        )
        self._cost = None if self._cost is None or usage.cost_usd is None else self._cost + usage.cost_usd
        self._tokens = None if self._tokens is None or tokens is None else self._tokens + tokens
        self._errors += run.status == "error"
        if budget.max_cost_usd is not None and (self._cost is None or self._cost >= budget.max_cost_usd):
            self.stop("budget", _spent("cost", self._cost, f"${budget.max_cost_usd:g}"))
        if budget.max_tokens is not None and (self._tokens is None or self._tokens >= budget.max_tokens):
            self.stop("budget", _spent("tokens", self._tokens, f"{budget.max_tokens:,} tokens"))
        if budget.max_errors is not None and self._errors >= budget.max_errors:
            self.stop("max-errors", f"{self._errors} trials could not be judged")
        if budget.fail_fast and run.status in {"failed", "error"} and self._decides(run):
            self.stop("fail-fast", f"{run.suite}::{run.case} ended as {run.status}")

    def _decides(self, run: Run) -> bool:
        """Count a trial that did not pass; return whether its case can no longer pass."""
        case = (run.suite, run.case, run.model)
        self._missed[case] += 1
        return run.repeats - self._missed[case] < run.needed


def _spent(what: str, used: float | None, budget: str) -> str:
    if used is None:
        return f"the {what} of a trial is unknown, so the budget of {budget} cannot be kept"
    return f"the budget of {budget} is used up"
