"""Trials whose worker dies, with workers in memory: what runs again, where, and how often."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio
import pytest

pytest.importorskip("ray")

from ray.exceptions import ActorDiedError

from harness.judging.trial import not_started
from harness.runlog import TrialLine
from harness.runner.engines.on_ray.engine import RayEngine
from harness.runner.engines.on_ray.worker import ClusterNode, WorkerOutcome
from harness.runner.engines.on_ray.worker_pool import WorkerPool, WorkerSlot
from harness.runner.engines.payloads import PayloadCodec
from harness.runner.planning.plan import Job, RunPlan, make_plan
from harness.runner.preflight.preflight import Preflight
from harness.runner.trial import TrialOutcome
from harness.sessions.pool import open_sessions
from harness.types import ModelSpec, ServerSpec, Suite, ToolList
from tests.clock import BOUND_S
from tests.support import a_case

pytestmark = pytest.mark.anyio

Behaviour = Callable[["MemoryActor", str], Awaitable[None]]


def a_plan(*names: str) -> RunPlan:
    return make_plan(
        [Suite(name="s", cases=tuple(a_case(name=name) for name in names))],
        models_of=lambda _: [ModelSpec(name="m", provider="lexical", model_id="m")],
        server_of=lambda _: ServerSpec(name="srv"),
    )


class Dead(Exception):
    """Ends a worker in memory."""


class Method:
    """A method of an actor: called by ``remote``, it goes on by itself."""

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self._function = function

    def remote(self, *arguments: Any) -> Any:
        return asyncio.ensure_future(self._function(*arguments))


class MemoryActor:
    """A worker whose trials go as the test says."""

    def __init__(self, crew: MemoryCrew) -> None:
        self._crew = crew
        self.died = asyncio.get_running_loop().create_future()
        self.under_way: set[str] = set()
        self.run = Method(self._run)
        self.close = Method(self._close)

    async def _run(self, parcel: bytes) -> bytes:
        job: Job = self._crew.inward.unpack(parcel)
        name = job.trial.case.name
        self.under_way.add(name)
        self._crew.tried.append((name, frozenset(self.under_way)))
        going = asyncio.ensure_future(self._crew.behave(self, name))
        await asyncio.wait([going, self.died], return_when=asyncio.FIRST_COMPLETED)
        if going.done() and isinstance(going.exception(), Dead) and not self.died.done():
            self.died.set_result(None)
        if self.died.done():
            going.cancel()
            raise ActorDiedError
        self.under_way.discard(name)
        line = TrialLine(run=not_started(job.trial, "skipped", reason="in memory"))
        return self._crew.inward.pack(
            WorkerOutcome(line=line, tools=None, shown=None, learned=("s" * 9,))
        )

    async def _close(self) -> None:
        pass


class MemoryCrew:
    """Has workers in memory; the first ``rooms`` of them find a place."""

    def __init__(self, behave: Behaviour, rooms: int = 1000) -> None:
        self.behave = behave
        self.rooms = rooms
        self.tried: list[tuple[str, frozenset[str]]] = []
        self.notes: list[str] = []
        self.learned: list[str] = []
        self.note, self.learn = self.notes.append, self.learned.append
        self.outward = self.inward = PayloadCodec(PayloadCodec.new_key())
        self.tools: dict[str, ToolList] = {}
        self.hired = self.dismissed = 0

    def start_actor(self) -> MemoryActor:
        self.hired += 1
        return MemoryActor(self)

    def end_actor(self, actor: MemoryActor) -> None:
        self.dismissed += 1

    async def open_worker(self, actor: MemoryActor) -> ClusterNode:
        if self.hired > self.rooms:
            raise ActorDiedError
        return ClusterNode(str(self.hired), "10.0.0.1")


async def carry_out(plan: RunPlan, crew: MemoryCrew, seats: list[int]) -> dict[str, TrialOutcome]:
    """Run all trials of ``plan``, in the places in turn; return what became of each."""
    stations = [WorkerSlot(cast("WorkerPool", crew), each) for each in seats]
    found: dict[str, TrialOutcome] = {}
    async with open_sessions() as pool:
        engine = RayEngine(pool, stations, cast("WorkerPool", crew))
        await engine.finish_tool_check()

        async def run(job: Job, place: int) -> None:
            preflight = Preflight.from_trial(job)
            outcome = await engine.run_trial(job, place, preflight, anyio.CancelScope())
            assert job.trial.case.name not in found
            found[job.trial.case.name] = outcome

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as group:
                for number, job in enumerate(plan.jobs):
                    group.start_soon(run, job, number % len(seats))
    return found


def statuses(found: dict[str, TrialOutcome]) -> dict[str, str]:
    return {name: outcome.line.run.status for name, outcome in found.items()}


async def test_what_was_under_way_on_a_dead_worker_runs_again_and_alone() -> None:
    both = asyncio.Event()

    async def behave(actor: MemoryActor, name: str) -> None:
        if both.is_set():
            return
        if len(actor.under_way) == 2:
            both.set()
            raise Dead
        await asyncio.Event().wait()  # until the worker dies

    crew = MemoryCrew(behave)
    found = await carry_out(a_plan("a", "b", "c"), crew, [2])
    assert statuses(found) == {"a": "skipped", "b": "skipped", "c": "skipped"}
    assert Counter(name for name, _ in crew.tried) == {"a": 2, "b": 2, "c": 1}
    again = [together for name, together in crew.tried[2:] if name in ("a", "b")]
    assert all(len(together) == 1 for together in again)
    assert (crew.hired, crew.dismissed) == (2, 1)  # it might only be out of reach
    assert len(crew.notes) == 1


async def test_a_trial_that_kills_three_workers_is_an_error_and_its_neighbours_are_not() -> None:
    async def behave(actor: MemoryActor, name: str) -> None:
        if name == "killer":
            raise Dead

    crew = MemoryCrew(behave)
    found = await carry_out(a_plan("a", "killer", "b", "c"), crew, [4])
    assert statuses(found) == {"a": "skipped", "killer": "error", "b": "skipped", "c": "skipped"}
    assert Counter(name for name, _ in crew.tried)["killer"] == 3
    error = found["killer"].line.run.error
    assert error is not None
    assert (error.kind, error.message) == (
        "harness",
        "3 workers died while this trial was under way on them, so it is not tried again",
    )


async def test_where_no_worker_can_be_had_the_trials_run_in_another_place() -> None:
    async def behave(actor: MemoryActor, name: str) -> None:
        if name == "a" and crew.hired == 2:
            raise Dead

    crew = MemoryCrew(behave, rooms=2)
    found = await carry_out(a_plan("a", "b", "c", "d"), crew, [1, 1])
    assert set(statuses(found).values()) == {"skipped"}
    assert len(found) == 4
    assert any("Its trials run elsewhere" in note for note in crew.notes)


async def test_secrets_that_came_up_on_a_worker_are_learned_with_its_result() -> None:
    async def behave(actor: MemoryActor, name: str) -> None:
        pass

    crew = MemoryCrew(behave)
    await carry_out(a_plan("a"), crew, [1])
    assert crew.learned == ["s" * 9]
