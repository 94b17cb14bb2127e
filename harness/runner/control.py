"""When to start no more trials, and how to end running ones: budgets, fail-fast, interrupts."""

from __future__ import annotations

from collections import defaultdict
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
        self._missed: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
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
            return
        missed = self._missed[result.suite, result.case.name, result.entrant]
        # By key: a result comes here when it is recorded, and again when it is settled.
        missed.add(result.key)
        if result.repeats - len(missed) < result.needed_passes:
            self.stop("fail-fast", f"{name} ended as {result.status}")

    def _enforce_budget(self) -> None:
        """Stop if the money or the tokens are used up."""
        cost, tokens = self._budget.max_cost_usd, self._budget.max_tokens
        limits = (
            ("cost", self._used.cost_usd, cost, f"${cost or 0:g}"),
            ("tokens", self._used.tokens, tokens, f"{tokens or 0:,} tokens"),
        )
        for what, used, most, budget in limits:
            if most is not None and used is None:
                words = f"so the budget of {budget} cannot be enforced"
                self.stop("budget", f"the {what} of a trial is unknown, {words}")
            elif most is not None and used is not None and used >= most:
                self.stop("budget", f"the budget of {budget} is used up")
