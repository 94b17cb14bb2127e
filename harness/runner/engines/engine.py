"""What an engine is, and the usual one: all trials in this process, several at a time.

An engine is given one trial after another and returns what each produced. Everything else of a run
is the same with every engine, and stays in the process that the user started: which trial is next,
budgets, interrupts, the log, judging across trials, progress and reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import anyio

from harness.runner.planning.plan import Job, RunPlan, Unit
from harness.runner.preflight.preflight import Preflight
from harness.runner.run_context import RunContext
from harness.runner.trial import Tell, TrialOutcome, run_trial
from harness.sessions import SessionPool


class Engine(ABC):
    """An open engine, which runs all trials in one place unless it says otherwise."""

    def __init__(self, seats: Sequence[int], pool: SessionPool) -> None:
        """Open with so many ``seats`` in each place where trials run.

        Tools are checked with the sessions in ``pool``, before any trial.
        """
        self.seats = seats
        self.pool = pool

    def divide_into_units(self, plan: RunPlan) -> Iterator[Unit]:
        """Yield the trials of ``plan`` in the units of which each goes to one place."""
        # As one unit they start in the order of the plan.
        yield plan.jobs

    async def finish_tool_check(self) -> None:  # noqa: B027 - nothing is a good answer
        """Take notice that the check of the tools is over; what is open stays open."""

    @abstractmethod
    async def run_trial(
        self,
        job: Job,
        place: int,
        preflight: Preflight,
        scope: anyio.CancelScope,
        tell: Tell | None = None,
    ) -> TrialOutcome:
        """Run a trial in that place under ``scope``; it ends with exactly one status.

        Raises:
            HarnessError: the engine itself can run no further trial.
        """


class OneProcessEngine(Engine):
    """This process: the sessions opened to check tools stay open for the trials."""

    def __init__(self, seats: int, context: RunContext) -> None:
        """Run trials with what they share in ``context``."""
        super().__init__([seats], context.pool)
        self._context = context

    async def run_trial(
        self,
        job: Job,
        place: int,
        preflight: Preflight,
        scope: anyio.CancelScope,
        tell: Tell | None = None,
    ) -> TrialOutcome:
        """Run a trial here."""
        return await run_trial(job, self._context, preflight, scope, tell)
