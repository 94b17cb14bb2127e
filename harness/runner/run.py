"""The run: workers take trials from the plan; every result is logged before it is reported."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio

from harness.base import HarnessError, utc_now
from harness.judging import not_started
from harness.runlog import (
    Footer,
    LogWriter,
    RunLog,
    ToolsLine,
    TrialLine,
    has_verdict,
    is_still_final,
    merge_attempts,
    resume_command,
)
from harness.runner.control import Control, EarlyStopping, watch_signals
from harness.runner.engines.engine import Engine, OneProcessEngine
from harness.runner.live_judge import LiveJudge
from harness.runner.observer import Observer, TranscriptObserver
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.request import RunOptions
from harness.runner.preflight.preflight import Preflight
from harness.runner.recordings.recorded_outputs import RECORDED
from harness.runner.run_context import open_context
from harness.runner.trial import TrialOutcome
from harness.sessions import Pool
from harness.types import DECIDED, AssistantMessage, JsonObject, ToolList, TrialResult

T = TypeVar("T")


async def run_plan(
    plan: RunPlan,
    log: LogWriter,
    options: RunOptions,
    observer: Observer | None = None,
    earlier: RunLog | None = None,
) -> None:
    """Run every job of ``plan``; write all results and a footer to ``log``.

    ``earlier`` is the log that is resumed. Failures of trials are results, not exceptions.

    Raises:
        UsageError: a model cannot be opened, or a case names a tool that no user is offered, or an
            argument that a tool does not have.
        HarnessError: the log cannot be written.
    """
    try:
        await LiveRun(plan, log, options, observer or Observer(), earlier).execute_plan()
    except BaseExceptionGroup as group:
        # Task groups wrap exceptions; the user gets the cause itself.
        cause = find_cause(group)
        if cause is group:
            raise
        raise cause from group


def run_alone(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run ``function`` in an event loop of its own; an error of a task group is raised by itself.

    Raises:
        HarnessError: whatever ``function`` raises.
    """
    try:
        return anyio.run(function, *arguments)
    except BaseExceptionGroup as group:
        cause = find_cause(group)
        if cause is group:  # no message for users is in it: a bug of ours keeps its traceback
            raise
        raise cause from group


def find_cause(error: BaseExceptionGroup) -> BaseException:
    """Return the first error inside ``error`` that has a message for the user, else ``error``."""
    cause: BaseException | None = error.subgroup(HarnessError)
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return cause or error


@asynccontextmanager
async def open_engine(
    plan: RunPlan, options: RunOptions, log: LogWriter, observer: Observer
) -> AsyncIterator[Engine]:
    """Open the engine that ``options`` name, for everything of ``plan`` that may be run.

    Raises:
        UsageError: it cannot carry out this plan, or a model cannot be opened.
    """
    kind, _, address = options.engine.partition(":")
    if kind == "ray":
        from harness.runner.engines.on_ray.engine import open_on_ray  # loads Ray

        async with open_on_ray(plan, options, log, observer, address or None) as engine:
            yield engine
        return

    def start_first_server(pool: Pool) -> None:
        # Outputs that were recorded need no server.
        for job in [job for job in plan.jobs if job.model.provider != RECORDED][:1]:
            caller = job.trial.case.caller
            pool.prestart(job.server, caller.user_context, caller.credential)

    async with open_context(
        plan.models,
        plan.judges,
        plan.user_models,
        plan.decoys_from,
        learn=log.learn,
        traced_as=log.path.parent.name if options.traced else None,
        opened=start_first_server,
    ) as context:
        yield OneProcessEngine(options.concurrency, context)


class LiveRun:
    """The state of one run in progress."""

    def __init__(
        self,
        plan: RunPlan,
        log: LogWriter,
        options: RunOptions,
        observer: Observer,
        earlier: RunLog | None = None,
    ) -> None:
        """Start nothing yet; ``earlier`` has the results of ``plan.done``."""
        self._plan = plan
        self._log = log
        self._options = options
        self._observer = observer
        self.control = Control(options.budget, plan.spent)
        """Decides whether further trials are started."""
        self._began = 0.0
        self._seen_tools: set[str] = set()
        self._said: set[str] = set()
        self._early = EarlyStopping(plan)
        self._judge = LiveJudge(plan, earlier)
        self.before = {
            result.key: result
            for result in (earlier.results if earlier else ())
            if not has_verdict(result)
        }
        """Key → the result of a trial that is asked again, because it has no verdict."""

    async def execute_plan(self) -> None:
        """Run the whole plan, and close the log."""
        self._observer.on_subjects(
            list(dict.fromkeys(job.trial.entrant for job in self._plan.jobs))
        )
        self._observer.on_planned(len(self._plan.jobs))
        async with anyio.create_task_group() as background:
            if self._options.catch_signals:
                # `start` returns once signals are caught: all that follows can be interrupted.
                await background.start(
                    partial(
                        watch_signals,
                        self.control,
                        grace_s=self._options.grace_s,
                        tell=self._observer.on_note,
                        abort=self.close_log,
                        last_words="Resume it with: "
                        + resume_command(self._log.path.parent.name, self._plan.settings),
                    )
                )
            async with self.open_engine() as work_off:
                await work_off(self._plan)
            # What still waits for other identities now has all that it will ever be compared with.
            self._report_settled(await self._judge.close())
            # It would listen for ever.
            background.cancel_scope.cancel()
        if self.control.note:
            self._observer.on_note(f"Stopped early: {self.control.note}.")
        self.close_log()

    @asynccontextmanager
    async def open_engine(self) -> AsyncIterator[Callable[[RunPlan], Awaitable[None]]]:
        """Open the engine, and yield a function that runs a plan or a part of it."""
        self._began = anyio.current_time()
        async with open_engine(self._plan, self._options, self._log, self._observer) as engine:
            yield partial(self._run_units, engine)

    async def _run_units(self, engine: Engine, plan: RunPlan) -> None:
        # For each part anew: a stepwise run comes here with one after the other.
        preflight, self._early = Preflight(plan), EarlyStopping(plan)
        units = engine.divide_into_units(plan)  # each slot takes the next when its own is finished

        async def check_tools() -> None:
            await preflight.list_tools(engine.pool)
            # To judge again.
            for user, tools in preflight.tool_lists:
                self._log_tools(tools, user.server.name, user.user_context)
            await engine.finish_tool_check()

        async with anyio.create_task_group() as looking:
            # Beside the trials, which wait for it only before they take a session.
            looking.start_soon(check_tools)
            async with anyio.create_task_group() as workers:
                for place, seats in enumerate(engine.seats):
                    # One generator for all seats of a place: the trials of a unit stay there.
                    jobs = (job for unit in units for job in unit)
                    for _ in range(min(seats, len(plan.jobs))):
                        workers.start_soon(self._run_jobs, jobs, engine, place, preflight)
            # Trials that need no tools may all have ended before the check.
            looking.cancel_scope.cancel()

    async def _run_jobs(
        self, jobs: Iterator[Job], engine: Engine, place: int, preflight: Preflight
    ) -> None:
        tell = (
            self._observer.on_transcript if isinstance(self._observer, TranscriptObserver) else None
        )
        for job in jobs:
            # Before `stopped` is read, since the run may be stopped during the wait.
            wanted = await self._early.is_wanted(job)
            if self.control.stopped is not None or not wanted:
                skipped = not_started(job.trial, "skipped", reason=self.control.stopped or DECIDED)
                await self.record_outcome(TrialOutcome(line=TrialLine(run=skipped)), job)
                continue
            self._observer.on_started(job.trial)
            scope = anyio.CancelScope()
            self.control.running.add(scope)
            try:
                outcome = await engine.run_trial(job, place, preflight, scope, tell)
            finally:
                self.control.running.discard(scope)
            data = None
            if _is_large(outcome.line):
                with anyio.CancelScope(shield=True):  # a judged trial is kept even on cancellation
                    data = await anyio.to_thread.run_sync(self._log.prepare_line, outcome.line)
            await self.record_outcome(outcome, job, data)

    async def record_outcome(
        self, outcome: TrialOutcome, job: Job, data: bytes | None = None
    ) -> None:
        """Log the outcome of a trial (``data``, if already serialised), then report it."""
        who = job.trial.case.caller.user_context
        # Lists go before the trial that refers to them, in case the log is cut off in between.
        if outcome.tools is not None:
            self._log_tools(outcome.tools, job.server.name, who)
        if outcome.shown is not None and job.variant is not None:
            self._log_tools(outcome.shown, job.server.name, who, job.variant.name)
        line, attempt = outcome.line, outcome.line.run
        earlier = self.before.pop(attempt.key, None)
        if earlier is not None and is_still_final(earlier, attempt):
            line = replace(line, run=earlier)  # with its conversation, in the log
        else:
            if earlier is not None:
                # `data` is the attempt alone.
                line, data = replace(line, run=merge_attempts(earlier, attempt)), None
            self._log.write(self._log.prepare_line(line) if data is None else data)
        self._report_adapted(outcome.line)
        result = line.run
        # The attempt alone: earlier ones were counted then, or are in `RunPlan.spent`.
        self.control.add_usage(attempt)
        self._early.count_result(attempt)
        with anyio.CancelScope(shield=True):  # a judged trial is reported even on cancellation
            settled = await self._judge.add_trial(line)
        if result.key not in {one.key for one in settled}:
            self._observer.on_waiting(result)
            # A result that waits may already be known to leak, which is enough to stop.
            if self.control.fails_fast:
                await self.list_failing(result)
        self._report_settled(settled)

    async def list_failing(self, result: TrialResult) -> tuple[TrialResult, ...]:
        """Return the known leaking trials, after ``result`` was recorded."""
        with anyio.CancelScope(shield=True):
            leaking = await self._judge.list_failing(result)
        for one in leaking:
            self.control.apply_result(one)
        return leaking

    def _report_settled(self, settled: Iterable[TrialResult]) -> None:
        """Report settled results."""
        for result in settled:
            self.control.apply_result(result)
            self._observer.on_finished(result)

    def _report_adapted(self, line: TrialLine) -> None:
        """Say once what a model's API refused of a request, and that it was asked without."""
        for message in line.transcript.messages if line.transcript else ():
            if isinstance(message, AssistantMessage):
                for lesson in message.reply.adapted:
                    if lesson not in self._said:
                        self._said.add(lesson)
                        self._observer.on_note(f"{lesson}.")

    def _log_tools(
        self, tools: ToolList, server: str, who: JsonObject | None, variant: str | None = None
    ) -> None:
        """Log a tool list, once."""
        # Identities are compared by what the server offers them, not by what a variant makes of it.
        if variant is None:
            self._judge.record_tools(tools)
        if tools.digest not in self._seen_tools:
            self._seen_tools.add(tools.digest)
            self._log.append(
                ToolsLine(server=server, tools=tools, user_context=who, variant=variant)
            )

    def close_log(self) -> None:
        """Write the footer, and close the log."""
        self._log.append(
            Footer(
                finished_at=utc_now(),
                elapsed_s=round(anyio.current_time() - self._began, 6),
                reason=self.control.stopped or "complete",
                signal=self.control.signal,
            )
        )
        self._log.close()


_LARGE = 500_000
"""A trial with more characters of text is serialised in a thread, which takes seconds on a busy
machine."""


def _is_large(line: TrialLine) -> bool:
    """Whether serialising this line would delay the other trials."""
    if line.transcript is None:
        return False
    replies = (one for one in line.transcript.messages if isinstance(one, AssistantMessage))
    said = sum(len(message.reply.text) for message in replies)
    return said + sum(len(call.text) for call in line.transcript.tool_calls) > _LARGE
