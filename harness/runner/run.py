"""The run: workers take trials from the plan, and every result goes into the log before anyone hears of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.to_thread

from harness.checks.judge import Judge, JudgeModel
from harness.errors import HarnessError
from harness.models import Model, open_model
from harness.runlog import Footer, LogWriter, ToolsLine, TrialLine
from harness.runner.control import Budget, Control
from harness.runner.early import EarlyStopping
from harness.runner.interrupts import watch_signals
from harness.runner.observer import Observer, Silent
from harness.runner.plan import Job, Plan
from harness.runner.preflight import Preflight
from harness.runner.trial import TrialOutcome, run_trial
from harness.runner.verdict import unstarted_run, utc_now
from harness.sessions import SessionPool, open_sessions
from harness.types import DECIDED, ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a plan is carried out; none of it changes what is asked."""

    concurrency: int = 4
    """Trials at the same time."""
    budget: Budget = field(default_factory=Budget)
    """What the run as a whole may use."""
    grace_s: float = 10.0
    """How long running trials may go on after the first interrupt."""
    catch_signals: bool = True
    """Whether to listen for Ctrl-C and SIGTERM; needs the main thread."""


async def run_plan(plan: Plan, log: LogWriter, options: RunOptions, observer: Observer | None = None) -> None:
    """Run every job of ``plan``, write all results and a footer to ``log``.

    Trial failures are results, not exceptions.

    Raises:
        UsageError: a model cannot be opened, or a case names an argument that a tool does not have.
        HarnessError: the log cannot be written.
    """
    try:
        await _Run(plan, log, options, observer or Silent()).carry_out()
    except BaseExceptionGroup as group:
        # Task groups wrap what escapes them; a user is told the cause itself.
        causes = group.subgroup(HarnessError)
        if causes is None:
            raise
        raise _first(causes) from group


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


class _Run:
    """The state of one run in progress."""

    def __init__(self, plan: Plan, log: LogWriter, options: RunOptions, observer: Observer) -> None:
        self._plan = plan
        self._log = log
        self._options = options
        self._observer = observer
        self._control = Control(options.budget)
        self._began = 0.0
        self._seen_tools: set[str] = set()
        self._judges: dict[str, JudgeModel] = {}
        self._preflight = Preflight(plan)
        self._early = EarlyStopping(plan)

    async def carry_out(self) -> None:
        self._began = anyio.current_time()
        self._observer.planned(len(self._plan.jobs))
        async with anyio.create_task_group() as background:
            if self._options.catch_signals:
                await background.start(
                    partial(
                        watch_signals,
                        self._control,
                        grace_s=self._options.grace_s,
                        tell=self._observer.note,
                        abort=self._close_log,
                    )
                )
            async with open_sessions() as pool:
                for job in self._plan.jobs[:1]:
                    pool.prestart(job.server, job.trial.case.user_context)
                async with open_models(self._plan.models) as models, open_models(self._plan.judges) as judges:
                    self._judges = {name: JudgeModel(name, model) for name, model in judges.items()}
                    await self._work_off(pool, models)
            background.cancel_scope.cancel()
        if self._control.note:
            self._observer.note(f"Stopped early: {self._control.note}.")
        self._close_log()

    async def _work_off(self, pool: SessionPool, models: dict[str, Model]) -> None:
        jobs = iter(self._plan.jobs)
        async with anyio.create_task_group() as looking:
            looking.start_soon(self._preflight.run, pool)
            async with anyio.create_task_group() as workers:
                for _ in range(min(self._options.concurrency, len(self._plan.jobs))):
                    workers.start_soon(self._work, jobs, pool, models)
            looking.cancel_scope.cancel()

    async def _work(self, jobs: Iterator[Job], pool: SessionPool, models: dict[str, Model]) -> None:
        for job in jobs:
            wanted = await self._early.wanted(job)
            if self._control.stopped is not None or not wanted:
                self._record(TrialOutcome(line=self._skipped(job)), job)
                continue
            self._observer.started(job.trial)
            scope = anyio.CancelScope()
            self._control.enter(scope)
            try:
                judge = Judge(self._judges, job.judge)
                outcome = await run_trial(job, models[job.model.name], pool, scope, judge, self._preflight)
            finally:
                self._control.leave(scope)
            self._record(outcome, job)

    def _skipped(self, job: Job) -> TrialLine:
        return TrialLine(run=unstarted_run(job.trial, "skipped", reason=self._control.stopped or DECIDED))

    def _record(self, outcome: TrialOutcome, job: Job) -> None:
        tools = outcome.tools
        if tools is not None and tools.digest not in self._seen_tools:
            self._seen_tools.add(tools.digest)
            self._log.append(ToolsLine(server=job.server.name, tools=tools, user_context=job.trial.case.user_context))
        self._log.append(outcome.line)
        self._control.account(outcome.line.run)
        self._early.account(outcome.line.run)
        self._observer.finished(outcome.line.run)

    def _close_log(self) -> None:
        self._log.append(
            Footer(
                finished_at=utc_now(),
                elapsed_s=round(anyio.current_time() - self._began, 6),
                reason=self._control.stopped or "complete",
            )
        )
        self._log.close()


@asynccontextmanager
async def open_models(specs: tuple[ModelSpec, ...]) -> AsyncIterator[dict[str, Model]]:
    """Yield every model by name, opened in a thread: importing an SDK takes long and servers start meanwhile."""
    models: dict[str, Model] = {}
    try:
        for spec in specs:
            models[spec.name] = await anyio.to_thread.run_sync(open_model, spec)
        yield models
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S):
            for model in models.values():
                await model.aclose()


_CLOSE_S = 2.0
"""Closing idle connections is a courtesy; a peer that will not let go cannot hold us."""
