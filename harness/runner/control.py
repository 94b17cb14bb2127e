"""When to start no more trials, and how to end running ones: budgets, fail-fast, interrupts."""

from __future__ import annotations

from typing import Literal, TypeAlias

import anyio

from harness.judging import is_leaking
from harness.runner.planning.request import RunBudget
from harness.types import TrialResult, Usage

StopReason: TypeAlias = Literal["interrupted", "budget", "max-errors", "fail-fast"]
"""Why a run ends before all its trials."""


class Control:
    """Decides whether further trials are started; workers report every result to it."""

    def __init__(self, budget: RunBudget, spent: Usage | None = None) -> None:
        """Start with no usage, or with the ``spent`` usage of an earlier part of the run."""
        self.stopped: StopReason | None = None
        """Why no further trial is started; ``None`` while trials are started."""
        self.note: str | None = None
        """The reason in words."""
        self.signal: str | None = None
        """The name of the first signal that interrupted the run."""
        self._budget = budget
        self.running: set[anyio.CancelScope] = set()
        """The scopes of the running trials."""
        self._used = spent or Usage()
        self._errors = 0
        self._missed: dict[tuple[str, str, str], set[str]] = {}
        # Only a resumed run can have used up its budget by now, before its first trial.
        if self._used != Usage():
            self._enforce_budget()

    def stop(self, reason: StopReason, note: str) -> None:
        """Start no further trial; the first reason is kept."""
        if self.stopped is None:
            self.stopped, self.note = reason, note

    def cancel_trials(self) -> None:
        """Cancel every running trial."""
        for scope in self.running:
            scope.cancel("the run was interrupted")

    @property
    def fails_fast(self) -> bool:
        """Whether the first case that can no longer pass ends the run."""
        return self._budget.fail_fast

    def add_usage(self, result: TrialResult) -> None:
        """Add what a trial used, and stop if a limit is reached."""
        budget = self._budget
        self._used += result.usage + result.judge_usage + result.user_usage
        self._errors += result.status == "error"
        # In this order, since the first reason is the one that is kept.
        self._enforce_budget()
        if budget.max_errors is not None and self._errors >= budget.max_errors:
            self.stop("max-errors", f"{self._errors} trials could not be judged")
        self.apply_result(result)

    def apply_result(self, result: TrialResult) -> None:
        """Stop if this result, failed or error, decides its case (by itself or by a leak)."""
        if not self._budget.fail_fast or result.status not in {"failed", "error"}:
            return
        name = f"{result.suite}::{result.case.name}"
        # A leak decides its case at once, however many repeats may still miss.
        if is_leaking(result):
            self.stop("fail-fast", f"{name} leaked what is withheld from its identity elsewhere")
        elif self._decides_case(result):
            self.stop("fail-fast", f"{name} ended as {result.status}")

    def _enforce_budget(self) -> None:
        """Stop if the money or the tokens are used up."""
        budget, cost, tokens = self._budget, self._used.cost_usd, self._used.tokens
        if budget.max_cost_usd is not None and (cost is None or cost >= budget.max_cost_usd):
            self.stop("budget", _format_spent("cost", cost, f"${budget.max_cost_usd:g}"))
        if budget.max_tokens is not None and (tokens is None or tokens >= budget.max_tokens):
            self.stop("budget", _format_spent("tokens", tokens, f"{budget.max_tokens:,} tokens"))

    def _decides_case(self, result: TrialResult) -> bool:
        """Count a trial that did not pass, once; return whether its case can no longer pass."""
        missed = self._missed.setdefault((result.suite, result.case.name, result.entrant), set())
        # By key: a result comes here when it is recorded, and again when it is settled.
        missed.add(result.key)
        return result.repeats - len(missed) < result.needed_passes


def _format_spent(what: str, used: float | None, budget: str) -> str:
    if used is None:
        return f"the {what} of a trial is unknown, so the budget of {budget} cannot be enforced"
    return f"the budget of {budget} is used up"
