"""The usual engine: all trials in this process, several at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from harness.runner.engines import EngineContext, Told
from harness.runner.engines.executor import Executor, RunParticipants, open_executor
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.units import Unit
from harness.runner.preflight.preflight import Preflight
from harness.runner.recordings.recorded_outputs import RECORDED
from harness.runner.trial import TrialOutcome
from harness.sessions import Pool


@dataclass(frozen=True, slots=True)
class OneProcessEngine:
    """This process, as an engine with one place."""

    seats: tuple[int]
    """See `harness.runner.engines.Engine.seats`."""
    executor: Executor
    """What runs the trials."""

    @property
    def pool(self) -> Pool:
        """The sessions of the trials: those opened to check tools stay open for them."""
        return self.executor.pool

    def divide_into_units(self, plan: RunPlan) -> Iterator[Unit]:
        """Yield all trials as one unit, so that they start in the order of the plan."""
        yield plan.jobs

    async def finish_tool_check(self) -> None:
        """Keep what is open."""

    async def run_trial(
        self,
        job: Job,
        place: int,
        preflight: Preflight,
        scope: anyio.CancelScope,
        tell: Told | None = None,
    ) -> TrialOutcome:
        """Run a trial here."""
        return await self.executor.execute_trial(job, preflight, scope, tell)


@asynccontextmanager
async def open_one_process(setting: EngineContext) -> AsyncIterator[OneProcessEngine]:
    """Open sessions and models in this process; the first server starts meanwhile."""
    # Outputs that were recorded need no server.
    jobs = [job for job in setting.plan.jobs if job.model.provider != RECORDED][:1]

    def start_first_server(pool: Pool) -> None:
        for job in jobs:
            caller = job.trial.case.caller
            pool.prestart(job.server, caller.user_context, caller.credential)

    parties = RunParticipants.from_plan(setting.plan)
    async with open_executor(
        parties, setting.learn, setting.traced_as, start_first_server
    ) as executor:
        yield OneProcessEngine((setting.concurrency,), executor)
