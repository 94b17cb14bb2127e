"""The engine on Ray, as the process sees it that hands out the trials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.base import HarnessError, UsageError
from harness.judging import not_started
from harness.runlog import LogWriter, TrialLine
from harness.runner.conversation import trial_error
from harness.runner.engines.engine import Engine
from harness.runner.engines.on_ray.cluster import connect_cluster, count_processors
from harness.runner.engines.on_ray.worker import LimiterActor, make_limiter_factory
from harness.runner.engines.on_ray.worker_pool import NoWorker, WorkerDied, WorkerPool, WorkerSlot
from harness.runner.engines.payloads import refuse_code
from harness.runner.observer import Observer
from harness.runner.planning.plan import Job, RunPlan, Unit, divide_seats, work_units
from harness.runner.planning.request import RunOptions
from harness.runner.preflight.preflight import Preflight
from harness.runner.trial import Tell, TrialOutcome
from harness.sessions import Pool, open_sessions
from harness.types import TrialError

MOST_DEATHS = 3
"""Workers that may die of one trial."""
_MOST_WAITING = 100_000
"""Requests that may wait for the limits at the same time."""


class RayEngine(Engine):
    """The open engine: a station for each worker, and sessions here to check tools with."""

    def __init__(self, pool: Pool, stations: Sequence[WorkerSlot], crew: WorkerPool) -> None:
        """``stations`` are ready."""
        super().__init__([station.seats for station in stations], pool)
        self._own_sessions = pool
        self._stations = stations
        self._crew = crew
        self._checked = anyio.Event()

    def divide_into_units(self, plan: RunPlan) -> Iterator[Unit]:
        """Yield what belongs together; see `work_units`."""
        return work_units(plan.jobs)

    async def finish_tool_check(self) -> None:
        """End the servers that were started to check tools: those of the trials are elsewhere."""
        await self._own_sessions.end_idle()
        self._checked.set()

    async def run_trial(
        self,
        job: Job,
        place: int,
        preflight: Preflight,
        scope: anyio.CancelScope,
        tell: Tell | None = None,
    ) -> TrialOutcome:
        """Run a trial on the worker of that place, and on another one if it dies."""
        under_way: list[WorkerSlot] = []
        with scope:
            try:
                await preflight.wait_until_checked(job)
                # The servers of the check end first, so that none runs beside those of the trials.
                await self._checked.wait()
                preflight.check_names(job)
            except HarnessError as error:
                return _build_error_outcome(job, trial_error(error))
            return await self._until_it_ends(job, place, under_way)
        # Only a cancellation leads here: the worker may have a partial result.
        for station in under_way:
            if outcome := await station.cancel_trial(job):
                return outcome
        return TrialOutcome(line=TrialLine(run=not_started(job.trial, "cancelled")))

    async def _until_it_ends(
        self, job: Job, place: int, under_way: list[WorkerSlot]
    ) -> TrialOutcome:
        last = ""
        for death in range(MOST_DEATHS):
            station = self._stations[place]
            if station.given_up:
                left = [station for station in self._stations if not station.given_up]
                if not left:
                    words = "no worker is left on the Ray cluster, and none could be started"
                    raise HarnessError(words)
                station = left[place % len(left)]
            # After a death it runs alone: another trial may have been the cause.
            async with station.hold_seat(alone=death > 0):
                # In place, so that it is known outside after a cancellation.
                under_way[:] = [station]
                try:
                    return await station.run_trial(job)
                except WorkerDied as gone:
                    last = str(gone)
                except NoWorker as error:
                    self._crew.note(f"{error}. Its trials run elsewhere.")
        words = (
            f"{MOST_DEATHS} workers died while this trial was under way on them, so it is not "
            "tried again"
        )
        return _build_error_outcome(job, TrialError(kind="harness", message=words, detail=last))


def _build_error_outcome(job: Job, error: TrialError) -> TrialOutcome:
    return TrialOutcome(line=TrialLine(run=not_started(job.trial, "error", error=error)))


@asynccontextmanager
async def open_on_ray(
    plan: RunPlan, options: RunOptions, log: LogWriter, observer: Observer, address: str | None
) -> AsyncIterator[RayEngine]:
    """Start Ray on this machine, or join the cluster at ``address``, and open its workers.

    Raises:
        UsageError: the plan cannot travel, or a node would run it otherwise than this machine.
    """
    if any(model.agent is not None for model in plan.models):
        raise UsageError(
            "--agent cannot be combined with --engine ray: an agent runs on this machine only",
            meant="Run it without --engine; --shard splits it over machines.",
        )
    refuse_code(plan)
    with connect_cluster(address, options.concurrency):
        # The actor that holds the limits is where this process is: neither outlives the other.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
        kind: Any = ray.remote(LimiterActor)
        limits = kind.options(
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=_MOST_WAITING,
            scheduling_strategy=here,
        ).remote()
        traced_as = log.path.parent.name if options.traced else None
        own = address is None
        crew = WorkerPool(plan, log.learn, observer.on_note, limits, traced_as=traced_as, own=own)
        units = sum(1 for _ in work_units(plan.jobs))
        seats = divide_seats(options.concurrency, units, count_processors())
        stations = [WorkerSlot(crew, each) for each in seats]
        try:
            ready = await crew.open_slots(stations)
            async with open_sessions(log.learn, make_limiter_factory(limits)) as pool:
                yield RayEngine(pool, ready, crew)
        finally:
            # Those that started are closed even if the others failed.
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as group:
                    for station in stations:
                        group.start_soon(station.close)
