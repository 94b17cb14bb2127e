"""What runs in the actors of Ray: a worker with its sessions and models, and the shared limits."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import ray

from harness.base import (
    GATE,
    KNOWN,
    LIMITER_OF,
    HarnessError,
    LimitedTarget,
    Redactor,
    guard_stream,
)
from harness.judging import not_started
from harness.runlog import TrialLine
from harness.runner.conversation import trial_error
from harness.runner.engines.limits import RemoteLimiters, RunLimiters, SharedLimiter, SlotGrant
from harness.runner.engines.machine_facts import MachineFacts, inspect_machine
from harness.runner.engines.payloads import PayloadCodec
from harness.runner.planning.plan import Job
from harness.runner.preflight.preflight import Preflight
from harness.runner.run_context import RunContext, open_context
from harness.runner.trial import run_trial
from harness.types import ModelSpec, ServerSpec, ToolList, dataclass


class ClusterNode(NamedTuple):
    """A machine of the cluster."""

    id: str
    """Its id: several may have one address."""
    address: str
    """Its address, by which people know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """What a worker is told before its first trial."""

    luggage: Sequence[object]
    """Suites, models and servers, to which trials refer."""
    models: Sequence[ModelSpec]
    """Those that answer."""
    judges: Sequence[ModelSpec]
    """Those that judge."""
    players: Sequence[ModelSpec]
    """Those that play users."""
    decoys_from: Sequence[ServerSpec]
    """Servers whose tools are only shown."""
    known: Redactor
    """The secrets that are taken out of what the worker prints."""
    environment: Mapping[str, str]
    """Variables that the trials need, and that must not stand in the environment of a process."""
    traced_as: str | None
    """The name of the run, if its calls carry trace context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOutcome:
    """What a trial brought, without the tool lists, which few trials are the first to see."""

    line: TrialLine
    """For the log."""
    tools: str | None
    """Digest of the tool list that the user was offered."""
    shown: str | None
    """Digest of the tool list that the model was shown instead."""
    learned: Sequence[str]
    """Secrets that came up since the last result."""


class Worker:
    """Runs trials, several at a time; one actor is one worker."""

    def __init__(self) -> None:
        """Open nothing yet: what a worker needs holds secrets, and comes as an argument."""
        self._ended = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        # It opens nothing until `open` brings the key of the run.
        self._parcels = PayloadCodec(PayloadCodec.new_key())
        self._context: RunContext | None = None
        self._tools: dict[str, ToolList] = {}
        self._learned: list[str] = []
        self._scopes: dict[str, anyio.CancelScope] = {}

    async def look_around(
        self, folder: str, files: Sequence[str]
    ) -> tuple[ClusterNode, MachineFacts]:
        """Return where this worker is, and what is there."""
        address = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        node = ClusterNode(ray.get_runtime_context().get_node_id(), address)
        return node, await anyio.to_thread.run_sync(inspect_machine, Path(folder), files)

    async def open(self, folder: str, key: bytes, parcel: bytes, limits: Any) -> str | None:
        """Open sessions and models, and return why that is not possible, in words."""
        os.chdir(folder)
        sys.stdout, sys.stderr = guard_stream(sys.stdout), guard_stream(sys.stderr)
        baggage: WorkerSetup = PayloadCodec(key).unpack(parcel)
        KNOWN.take_over(baggage.known)
        os.environ.update(baggage.environment)
        GATE.trusting = True  # whoever started the run has been asked
        self._parcels = PayloadCodec(key, baggage.luggage)
        opened: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        # One task opens and closes everything: a cancel scope must end in the task that began it.
        self._life = asyncio.create_task(self._hold_open(baggage, limits, opened))
        return await opened

    async def _hold_open(
        self, baggage: WorkerSetup, limits: Any, opened: asyncio.Future[str | None]
    ) -> None:
        LIMITER_OF.set(make_limiter_factory(limits))
        try:
            async with open_context(
                baggage.models,
                baggage.judges,
                baggage.players,
                baggage.decoys_from,
                learn=self._learn_secret,
                traced_as=baggage.traced_as,
            ) as self._context:
                opened.set_result(None)
                await self._ended.wait()
        except HarnessError as error:
            # Whoever waits for the opening has its answer, and would not hear of this.
            if opened.done():
                raise
            opened.set_result(str(error))

    async def run(self, parcel: bytes) -> bytes:
        """Run a trial, and return what it brought; whatever happens, it has a result."""
        job: Job = self._parcels.unpack(parcel)
        key = job.trial.key
        scope = self._get_scope(key)
        try:
            assert self._context is not None
            outcome = await run_trial(job, self._context, Preflight.from_trial(job), scope)
            return self._pack_outcome(outcome.line, outcome.tools, outcome.shown)
        except Exception as error:  # noqa: BLE001 - Ray would log it, and whatever is in it
            failed = not_started(job.trial, "error", error=trial_error(error))
            return self._pack_outcome(TrialLine(run=failed))
        finally:
            self._scopes.pop(key, None)

    def _pack_outcome(self, line: TrialLine, *lists: ToolList | None) -> bytes:
        # Kept here and sent by digest alone: most trials see the same lists.
        self._tools |= {tools.digest: tools for tools in lists if tools is not None}
        tools, shown = (None if one is None else one.digest for one in lists or (None, None))
        learned, self._learned = self._learned, []
        return self._parcels.pack(
            WorkerOutcome(line=line, tools=tools, shown=shown, learned=learned)
        )

    async def tools(self, digest: str) -> bytes:
        """Return the tool list of that digest, which a trial here has seen."""
        return self._parcels.pack(self._tools[digest])

    async def beat(self) -> None:
        """Show that this worker is not stuck."""

    async def cancel(self, key: str) -> None:
        """Cancel a trial, running or still to arrive; its result is what happened until now."""
        self._get_scope(key).cancel("the run was interrupted")

    async def close(self) -> None:
        """End all sessions and their processes."""
        self._ended.set()
        if self._life is not None:
            await self._life

    def _get_scope(self, key: str) -> anyio.CancelScope:
        """Return the cancel scope of a trial; Ray may deliver its cancellation before itself."""
        return self._scopes.setdefault(key, anyio.CancelScope())

    def _learn_secret(self, secret: str) -> None:
        # Here for what this worker prints, and with the next result for the log.
        KNOWN.add_secret(secret)
        self._learned.append(secret)


class LimiterActor(RunLimiters):
    """The limits as an actor: it looks by itself for what dead workers hold."""

    _watching: asyncio.Task[None] | None = None

    async def acquire(self, limited: LimitedTarget, lease: str, left_s: float) -> SlotGrant:
        """Wait for a slot; see `Limits.acquire`."""
        if self._watching is None:
            self._watching = asyncio.create_task(self.reclaim_expired())
        return await super().acquire(limited, lease, left_s)


def make_limiter_factory(limits: Any) -> Callable[[LimitedTarget], SharedLimiter]:
    """Return what makes limiters of the shared ``limits``, for `LIMITER_OF`."""
    counter = RemoteLimiters(limits)
    return lambda limited: SharedLimiter(limited, counter)
