"""The run behind the tests of one process: its event loop, its servers and its log.

It is opened with the first case that is run and closed with pytest's session, so that a server is
started once for all the cases that share it. The event loop has its own thread; pytest's thread
waits for it, case by case.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio.from_thread
import pytest

from harness.base import HarnessError
from harness.pytest_plugin.options import given_options
from harness.pytest_plugin.session_end import BENCH, PARTS
from harness.runlog import RUNS, has_verdict, log_path, new_run_id
from harness.runner import (
    CONCURRENCY,
    Job,
    PreparedPlan,
    RunBudget,
    RunOptions,
    RunPlan,
    RunRequest,
    StepwiseRun,
    StopReason,
    build_further_job,
    fields_of,
    open_stepwise,
    prepare_plan,
    read_options,
)
from harness.suites import remove_duplicates
from harness.types import Suite, TrialResult

JOBS: pytest.StashKey[tuple[Job, ...]] = pytest.StashKey()
"""Key under which a test stores its trials; tests of other plugins lack it."""
GRACE_S = 10.0
"""Seconds for a cancelled trial to clean up."""


def get_pytest_run(config: pytest.Config) -> PytestRun:
    """Return the bench of this process, which is made on first use."""
    if BENCH not in config.stash:
        config.stash[BENCH] = PytestRun(config)
    return config.stash[BENCH]


class PytestRun:
    """Plans suites as they are collected, and runs cases when pytest runs their tests."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; nothing is opened yet."""
        values = read_options("pytest", given_options(config))
        self.request = RunRequest(**fields_of("request", values))
        self.log: Path | None = None
        """The log, once there is one."""
        self._worker: Any = getattr(config, "workerinput", None)
        self._cwd = config.invocation_params.dir
        self._budget = RunBudget(**fields_of("budget", values))
        self._prepared: dict[str, PreparedPlan] = {}
        self._suites: list[Suite] = []
        self._open = ExitStack()
        self._portal: anyio.from_thread.BlockingPortal | None = None
        self._run: StepwiseRun | None = None
        self._failure: str | None = None
        self._planned: tuple[Job, ...] = ()
        self._asked: set[str] = set()
        self._verdicts: Counter[str] = Counter()
        """How many verdicts each trial has: more than one if its test was repeated."""
        self._early: dict[str, TrialResult] = {}
        """Results of trials that ran together with those of another test."""
        self.told_failed: set[tuple[str, str, str]] = set()
        """Suite, case and model of each test that was reported to pytest as failed."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user about the collected suites."""
        return tuple(
            dict.fromkeys(note for prepared in self._prepared.values() for note in prepared.notes)
        )

    def plan_suite(self, suite: Suite) -> tuple[Job, ...]:
        """Return the trials of ``suite``.

        Raises:
            HarnessError: its model or server is unknown, or another file has a suite of its name.
        """
        remove_duplicates([*self._suites, suite])
        self._suites.append(suite)
        prepared = self._prepared[suite.name] = prepare_plan(
            self.request, self._cwd, os.environ, [suite]
        )
        return prepared.plan.jobs

    def run_case(self, item: pytest.Item) -> tuple[TrialResult, ...]:
        """Run a case and return the results of its trials; the first case opens the run.

        A case with several identities runs for all of them at once, because each is judged by what
        the others see.
        """
        run, portal = self._ensure_open(item.session)
        keys = [job.trial.key for job in item.stash[JOBS]]
        # Unless they ran with another test of their group, when its identities were asked together.
        if not self._early.keys() >= set(keys):
            together = self._select_group(item.stash[JOBS])
            self._asked |= {job.trial.key for job in together}
            # Whoever repeats a test that has a verdict asks for a further trial of its case.
            jobs = {
                job.trial.key: build_further_job(job, number) if number else job
                for job in together
                for number in (self._verdicts[job.trial.key],)
            }
            found = {job.key: job for job in self._run_jobs(run, portal, [*jobs.values()])}
            for key, job in jobs.items():
                if (result := found.get(job.trial.key)) is not None:
                    # The first result stays until its own test has told it.
                    self._early.setdefault(key, result)
                    self._verdicts[key] += has_verdict(result)
        return tuple(self._early.pop(key) for key in keys if key in self._early)

    def _select_group(self, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        """Return the trials that run together with a case's; with pytest-xdist, only its own."""

        def name_group(job: Job) -> tuple[str, str | None, str]:
            return job.trial.suite, job.trial.case.caller.group, job.trial.entrant

        # Other tests of the group may be another worker's, which would ask them a second time.
        if jobs[0].trial.case.caller.group is None or self._worker is not None:
            return jobs
        return tuple(job for job in self._planned if name_group(job) == name_group(jobs[0]))

    def _run_jobs(
        self, run: StepwiseRun, portal: anyio.from_thread.BlockingPortal, jobs: Sequence[Job]
    ) -> tuple[TrialResult, ...]:
        future = portal.start_task_soon(run.run_jobs, jobs)
        try:
            return future.result()
        except HarnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        finally:
            if (
                not future.done()
            ):  # Ctrl-C, or a time limit of pytest's: nothing continues in the background
                portal.call(run.abandon)
                with suppress(TimeoutError):
                    future.exception(GRACE_S)

    def close(self, *, interrupted: bool, stopped: bool) -> None:
        """End the run, if one was opened: stop the servers and complete the log."""
        try:
            if self._portal is not None and self._run is not None and (interrupted or stopped):
                reason: StopReason = "interrupted" if interrupted else "fail-fast"
                # This process does not know the cases of other pytest-xdist workers.
                left = [
                    job
                    for job in self._planned
                    if job.trial.key not in self._asked and self._worker is None
                ]
                self._portal.call(self._run.stop, reason, "pytest was stopped", left)
        finally:
            self._run = None
            self._open.close()

    def _ensure_open(
        self, session: pytest.Session
    ) -> tuple[StepwiseRun, anyio.from_thread.BlockingPortal]:
        # A run that could not be opened fails each of its tests at once, and is not opened again
        # and again.
        if self._failure is not None:
            pytest.fail(self._failure, pytrace=False)
        if self._run is None or self._portal is None:
            try:
                self._open_run(session)
            except HarnessError as error:
                self._failure = str(error)
                raise pytest.fail.Exception(self._failure, pytrace=False) from None
            except BaseException as error:  # for example Ctrl-C: discard what is half open
                self._open.__exit__(type(error), error, error.__traceback__)
                self._portal = None
                raise
        assert self._run is not None
        assert self._portal is not None
        return self._run, self._portal

    def _open_run(self, session: pytest.Session) -> None:
        jobs = [job for item in session.items for job in item.stash.get(JOBS, ())]
        plan = self._build_plan(jobs)
        self._planned = plan.jobs
        found = [prepared.concurrency for prepared in self._prepared.values()]
        cost, tokens, worker = self._budget.max_cost_usd, self._budget.max_tokens, self._worker
        # With pytest-xdist, the cases of a process are known only while it runs them, and each
        # process has an equal share of the budget.
        planned, processes = len(jobs), 1
        log = log_path(new_run_id([suite.name for suite in plan.suites]), self._cwd / RUNS)
        if worker is not None:
            planned, processes = 0, int(worker.get("workercount", 1))
            log = log_path(worker["workerid"], Path(worker[PARTS]))
        budget = RunBudget(
            max_cost_usd=None if cost is None else cost / processes,
            max_tokens=None if tokens is None else max(1, tokens // processes),
        )
        concurrency = max(found, default=CONCURRENCY)
        # Ctrl-C is pytest's own, and this run is not in the main thread, where signals are handled.
        options = RunOptions(concurrency=concurrency, budget=budget, catch_signals=False)
        self._portal = self._open.enter_context(
            anyio.from_thread.start_blocking_portal("asyncio", name="harness")
        )
        opening = open_stepwise(plan, log, options, planned=planned)
        self._run = self._open.enter_context(self._portal.wrap_async_context_manager(opening))
        self.log = log

    def _build_plan(self, jobs: list[Job]) -> RunPlan:
        """Return one plan of all selected cases, which may be of several suites."""
        plans = [prepared.plan for prepared in self._prepared.values()]
        settings: dict[str, Any] = {}
        for name, told in (item for plan in plans for item in plan.settings.items()):
            known = settings.get(name)
            both = isinstance(known, dict) and isinstance(told, dict)
            settings[name] = known | told if both else told
        names = [
            suite.reference or (suite.at.file if suite.at else suite.name) for suite in self._suites
        ]
        request = asdict(replace(self.request, suites=tuple(dict.fromkeys(names))))
        chosen = {(job.suite.name, job.trial.case.name) for job in jobs}
        # The header names the cases that were selected: the others are not missing from this run.
        suites = {
            suite.name: replace(
                suite, cases=tuple(one for one in suite.cases if (suite.name, one.name) in chosen)
            )
            for suite in {job.suite.name: job.suite for job in jobs}.values()
        }
        return RunPlan(
            jobs=tuple(replace(job, suite=suites[job.suite.name]) for job in jobs),
            settings={**settings, "request": request},
            judges=tuple({judge.name: judge for plan in plans for judge in plan.judges}.values()),
        )
