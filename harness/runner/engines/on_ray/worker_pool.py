"""Stations: each holds a worker, and gets another one when that dies."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import ray
from ray.exceptions import RayActorError, RayError

from harness.base import KNOWN, HarnessError, UsageError, format_count
from harness.runner.engines.machine_facts import (
    MachineFacts,
    find_differences,
    inspect_machine,
    list_files,
)
from harness.runner.engines.on_ray.cluster import select_secret_variables
from harness.runner.engines.on_ray.worker import ClusterNode, Worker, WorkerOutcome, WorkerSetup
from harness.runner.engines.payloads import PayloadCodec, SharedPayload
from harness.runner.planning.option_types import MOST_IN_A_PROCESS
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.trial import TrialOutcome
from harness.sessions import delivery_of
from harness.types import ToolList

START_S = 120.0
"""Seconds for a worker to be placed and to open its models; Ray starts a process in one or two."""
CANCEL_S = 15.0
"""Seconds for the result of a cancelled trial: its teardown may take ten."""
BEAT_S = 30.0
"""Seconds after which a worker that has a trial is asked whether it still answers."""
STUCK_S = 120.0
"""Seconds that it has for that: nothing in a worker blocks its loop for so long."""
CLOSE_S = 10.0
"""Seconds for a worker to end its servers."""
_MOST_CALLS = 2 * MOST_IN_A_PROCESS
"""Calls that a worker answers at the same time: its trials, and beside them their ends."""
# Ray must not restart one by itself: nobody would open it.
_ACTOR: Any = ray.remote(num_cpus=1, max_restarts=0)(Worker)
_SHOWN = 5


class WorkerDied(Exception):
    """A worker died, and with it what was under way on it."""


class NoWorker(HarnessError):
    """No worker could be started at a station, which is given up."""


class WorkerPool:
    """What the workers of a run have in common."""

    def __init__(
        self,
        plan: RunPlan,
        learn: Callable[[str], None],
        note: Callable[[str], None],
        limits: Any,
        *,
        traced_as: str | None,
        own: bool,
    ) -> None:
        """``own``: the cluster was started for this run, without our secret variables."""
        self.start_actor = _ACTOR.options(max_concurrency=_MOST_CALLS).remote
        """Has Ray start an actor somewhere."""
        self.end_actor = ray.kill
        """Ends an actor at once, or gives up its start."""
        self.learn = learn
        self.note = note
        self._folder = Path.cwd()
        self._limits = limits
        self._here = inspect_machine(self._folder, list_files(plan, self._folder))
        luggage = SharedPayload.from_plan(plan)
        self._key = PayloadCodec.new_key()
        self.outward = PayloadCodec(self._key, luggage.own)
        self.inward = PayloadCodec(self._key)
        # The variables of our environment that commands for tokens get.
        servers = (*plan.servers, *plan.decoys_from)
        names = {name for one in servers for name in delivery_of(one.identity).command_variables}
        environment = {name: os.environ[name] for name in names if name in os.environ}
        # A cluster of ours was started without these; another one's environment is its owner's.
        environment |= select_secret_variables(os.environ) if own else {}
        self._baggage = self.inward.pack(
            WorkerSetup(
                luggage=luggage.sent,
                models=plan.models,
                judges=plan.judges,
                players=plan.user_models,
                decoys_from=plan.decoys_from,
                known=KNOWN,
                environment=environment,
                traced_as=traced_as,
            )
        )
        self.tools: dict[str, ToolList] = {}

    async def open_slots(self, stations: Sequence[WorkerSlot]) -> list[WorkerSlot]:
        """Start a worker at each of ``stations``; return those that have one.

        Raises:
            UsageError: a node would run the trials otherwise than this machine, or none has room.
        """
        refused: list[UsageError] = []
        failed: list[NoWorker] = []

        async def start_worker(station: WorkerSlot) -> None:
            try:
                await station.get_worker()
            except UsageError as error:
                refused.append(error)
            except NoWorker as error:
                failed.append(error)

        async with anyio.create_task_group() as group:
            for station in stations:
                group.start_soon(start_worker, station)
        # A node that would run trials otherwise ends the run; one without room is only left out.
        if refused:
            raise refused[0]
        ready = [station for station in stations if not station.given_up]
        if not ready:
            raise UsageError(
                str(failed[0]), meant="Every node needs harness with its extra 'ray', and room."
            )
        nodes = {station.node for station in ready if station.node}
        workers = format_count(len(ready), "worker")
        for note in (*map(str, failed), f"Ray: {workers} on {format_count(len(nodes), 'node')}."):
            self.note(note)
        return ready

    async def open_worker(self, actor: Any) -> ClusterNode:
        """Open a worker, and return its node.

        Raises:
            UsageError: it would run the trials otherwise, or cannot open a model.
        """
        node: ClusterNode
        there: MachineFacts
        folder = str(self._folder)
        node, there = await actor.look_around.remote(folder, list(self._here.files))
        other = list(find_differences(self._here, there, self._folder))
        if other:
            other[_SHOWN:] = [f"and {len(other) - _SHOWN} more"] if len(other) > _SHOWN else []
            listed = "\n".join(f"  - {line}" for line in other)
            raise UsageError(
                f"node {node.address} would run these trials otherwise than this machine:\n"
                f"{listed}",
                meant="Give every node the same image, and the project's folder by the same path.",
            )
        if why := await actor.open.remote(folder, self._key, self._baggage, self._limits):
            raise UsageError(why)
        return node


class WorkerSlot:
    """A place for one worker."""

    def __init__(self, crew: WorkerPool, seats: int) -> None:
        """Start nothing yet; ``seats`` trials run here at the same time."""
        self.seats = seats
        self.node: ClusterNode | None = None
        """Where its worker is, once there is one."""
        self.given_up = False
        """Whether no worker could be started here."""
        self._crew = crew
        self._actor: Any = None
        self._starting = anyio.Lock()
        self._free = anyio.CapacityLimiter(seats)
        self._alone = anyio.Lock()
        self._results: dict[str, tuple[Any, Any]] = {}

    @asynccontextmanager
    async def hold_seat(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait for a seat, or until nothing else runs here, and hold it."""
        if not alone:
            async with self._free:
                yield
            return
        taken: list[object] = []
        # One at a time: two that each hold some of the seats would wait for each other.
        async with self._alone:
            try:
                while len(taken) < self.seats:
                    # A `CapacityLimiter` lends each borrower one token: every seat needs one.
                    seat = object()
                    await self._free.acquire_on_behalf_of(seat)
                    taken.append(seat)
                yield
            finally:
                for seat in taken:
                    self._free.release_on_behalf_of(seat)

    async def get_worker(self) -> Any:
        """Return the worker, started if there is none.

        Raises:
            UsageError: its node would run the trials otherwise, or it cannot open a model.
            NoWorker: it could not be started in time; the station is given up.
        """
        async with self._starting:
            if self._actor is None:
                if self.given_up:
                    raise NoWorker("no worker could be started here before")
                self._actor = await self._start_worker()
            return self._actor

    async def _start_worker(self) -> Any:
        actor: Any = self._crew.start_actor()
        why = f"Ray started no worker within {START_S:g} s"
        try:
            with anyio.move_on_after(START_S):
                self.node = await self._crew.open_worker(actor)
                return actor
        except RayError as error:
            begun = not (isinstance(error, RayActorError) and error.actor_init_failed)
            # An actor that ran says first what ended it; one that could not start says it last.
            words = str(error).strip().splitlines()[0 if begun else -1]
            why = f"a worker could not be started: {KNOWN.redact_text(words)}"
        # Cancelled, or refused: nobody would ever end this actor.
        except BaseException:
            self._crew.end_actor(actor)
            raise
        self._crew.end_actor(actor)
        self.given_up = True
        raise NoWorker(why)

    async def run_trial(self, job: Job) -> TrialOutcome:
        """Run a trial on the worker.

        Raises:
            Gone: the worker died meanwhile.
            NoWorker: there is none.
            HarnessError: the cluster itself is gone.
        """
        actor = await self.get_worker()
        key = job.trial.key
        result = actor.run.remote(self._crew.outward.pack(job))
        # It stays there after a cancellation, for `cancel_trial`.
        self._results[key] = actor, result
        try:
            outcome = await self._unpack_outcome(actor, result)
        except WorkerDied:
            del self._results[key]
            raise
        del self._results[key]
        return outcome

    async def cancel_trial(self, job: Job) -> TrialOutcome | None:
        """Cancel a trial, and return what it brought until then; ``None`` if that is lost."""
        actor, result = self._results.pop(job.trial.key, (None, None))
        if actor is None:
            return None
        with anyio.CancelScope(shield=True), anyio.move_on_after(CANCEL_S):
            actor.cancel.remote(job.trial.key)
            try:
                return await self._unpack_outcome(actor, result)
            except (WorkerDied, HarnessError):
                return None
        return None

    async def _unpack_outcome(self, actor: Any, result: Any) -> TrialOutcome:
        try:
            while True:
                with anyio.move_on_after(BEAT_S):
                    parcel = await result
                    break
                with anyio.move_on_after(STUCK_S):
                    # A blocked loop never answers this; a pending result alone does not show it.
                    await actor.beat.remote()
                    continue
                # The worker is stuck: its result is that of a dead one from now on.
                self._crew.end_actor(actor)
            brought: WorkerOutcome = self._crew.inward.unpack(parcel)
            for secret in brought.learned:
                self._crew.learn(secret)
            return TrialOutcome(
                line=brought.line,
                tools=await self._get_tools(actor, brought.tools),
                shown=await self._get_tools(actor, brought.shown),
            )
        except RayActorError as died:
            why = _first_line(died)
            if self._actor is actor:  # the first of its trials to hear of it
                self._actor = None
                self._crew.end_actor(actor)  # it may only be out of reach, and would go on
                where = "" if self.node is None else f" on node {self.node.address}"
                self._crew.note(f"A worker{where} died; its trials run again. {why}")
            raise WorkerDied(why) from died
        except RayError as error:
            raise HarnessError(f"the Ray cluster failed: {_first_line(error)}") from error

    async def _get_tools(self, actor: Any, digest: str | None) -> ToolList | None:
        """Return the tool list of that digest, which is asked for once."""
        known = self._crew.tools
        if digest is not None and digest not in known:
            # Two trials may ask at the same time, and then get the same.
            known[digest] = self._crew.inward.unpack(await actor.tools.remote(digest))
        return None if digest is None else known[digest]

    async def close(self) -> None:
        """End the worker, its sessions first."""
        actor, self._actor = self._actor, None
        if actor is None:
            return
        with anyio.move_on_after(CLOSE_S):
            try:
                await actor.close.remote()
            except RayError:
                return  # it has died
        self._crew.end_actor(actor)


def _first_line(error: Exception) -> str:
    """Return what ``error`` says first, without the ids that follow."""
    return KNOWN.redact_text(str(error).strip().partition("\n")[0])
