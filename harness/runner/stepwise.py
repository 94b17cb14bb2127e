"""A run whose caller decides case by case what to run next, and when the run is over.

Sessions, models, log and budget are shared as in any run, so a server for several cases is started
once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base import HarnessError
from harness.judging import not_started
from harness.runlog import LogWriter, TrialLine, discard_log, has_verdict
from harness.runner.agent_requirements import add_agent_versions
from harness.runner.control import StopReason
from harness.runner.launcher import build_header, build_redactor, require_trust
from harness.runner.observer import Observer
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.request import RunOptions
from harness.runner.run import LiveRun, find_cause
from harness.runner.trial import TrialOutcome
from harness.types import TrialError, TrialResult


@dataclass(slots=True)
class StepwiseRun:
    """The open run."""

    _plan: RunPlan
    _log: LogWriter
    _live: LiveRun
    _work_off: Callable[[RunPlan], Awaitable[None]]
    _heard: _Results
    _abandoned: bool = False

    async def run_jobs(self, jobs: Sequence[Job]) -> tuple[TrialResult, ...]:
        """Run the trials of a case, or of cases that are compared; return their results so far.

        All of them are in the log by then; one without a verdict may be asked again. A trial that
        leaks a value withheld from its identity has failed; later cases do not change the returned
        results.

        A case that names an argument which a tool does not have ends as an error, like a case whose
        server does not start.

        Raises:
            HarnessError: the log cannot be written.
        """
        # Only the results of these jobs are returned.
        heard = self._heard.heard = {}
        try:
            await self._work_off(replace(self._plan, jobs=tuple(jobs)))
        except BaseExceptionGroup as group:
            cause = find_cause(group)
            # A bug or a cancellation is nothing that a case can end as.
            if not isinstance(cause, HarnessError):
                raise
            error = TrialError(kind="harness", message=str(cause))
            for job in [job for job in jobs if job.trial.key not in heard]:
                line = TrialLine(run=not_started(job.trial, "error", error=error))
                await self._live.record_outcome(TrialOutcome(line=line), job)
        if self._abandoned:  # the caller may ask for other cases
            self._abandoned, self._live.control.stopped, self._live.control.note = False, None, None
        own = [heard[job.trial.key] for job in jobs if job.trial.key in heard]
        # If the caller asks again, what these attempts used is added to that of the next.
        self._live.before |= {one.key: one for one in own if not has_verdict(one)}
        known = {one.key: one for result in own for one in await self._live.list_failing(result)}
        return tuple(sorted((known.get(one.key, one) for one in own), key=lambda one: one.trial))

    def abandon(self) -> None:
        """Cancel the running trials; their partial results are kept, and `run_jobs` returns."""
        control = self._live.control
        # A run that was stopped for good must not go on after this.
        self._abandoned = control.stopped is None
        control.stop("interrupted", "the caller no longer waits for it")
        control.cancel_trials()

    def stop(self, reason: StopReason, note: str, left: Sequence[Job]) -> None:
        """Start no further trial: the rest is skipped, and the log's footer has the reason."""
        self._live.control.stop(reason, note)
        for job in left:
            run = not_started(job.trial, "skipped", reason=self._live.control.stopped)
            self._log.append(TrialLine(run=run))


@dataclass(slots=True)
class _Results(Observer):
    """Collects every result."""

    heard: dict[str, TrialResult] = field(default_factory=dict)

    def on_waiting(self, result: TrialResult) -> None:
        self.heard[result.key] = result

    def on_finished(self, result: TrialResult) -> None:
        self.heard[result.key] = result


@asynccontextmanager
async def open_stepwise(
    plan: RunPlan, path: Path, options: RunOptions, *, planned: int
) -> AsyncIterator[StepwiseRun]:
    """Open a run of ``plan``, of which any part may be run, with its log at ``path``.

    Args:
        plan: Everything that may be run.
        path: The log's path; the name of its folder is the run's.
        options: How the run is carried out; signals are left to the caller.
        planned: Number of trials that will be run, for the log's header; 0 if unknown.

    Raises:
        UsageError: a model cannot be opened; no log is left behind.
        HarnessError: the log cannot be written.
    """
    # The log has its header before anything is opened, so a failure there leaves one to remove.
    opened = False
    require_trust(plan)
    plan = await add_agent_versions(plan)
    redactor = build_redactor(plan)
    with LogWriter(path, redactor.redact_json_text, redactor.add_secret) as log:
        log.append(replace(build_header(plan, path.parent.name, options), planned=planned))
        heard = _Results()
        live = LiveRun(plan, log, options, heard)
        try:
            async with live.open_engine() as work_off:
                opened = True
                yield StepwiseRun(plan, log, live, work_off, heard)
            # Not in `finally`: after an exception the log must look interrupted.
            live.close_log()
        finally:
            if not opened:
                discard_log(path)
