"""When to start no more trials, and how to end running ones: budgets, fail-fast, interrupts."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Literal, TypeAlias

import anyio
from anyio.abc import TaskStatus

from harness.judging import EXIT_INTERRUPTED, is_leaking
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.request import RunBudget
from harness.types import Trial, TrialResult, Usage

StopReason: TypeAlias = Literal["interrupted", "budget", "max-errors", "fail-fast"]
"""Why a run ends before all its trials."""


class Control:
    """Decides whether further trials are started; workers report every result to it."""

    def __init__(self, budget: RunBudget, spent: Usage | None = None) -> None:
        """Start with no usage, or with the ``spent`` usage of an earlier part of the run."""
        self.stopped: StopReason | None = None
        """Why no further trial is started; ``None`` while trials are started."""
        self.note: str | None = None
        """The reason in words."""
        self.signal: str | None = None
        """The name of the first signal that interrupted the run."""
        self._budget = budget
        self.running: set[anyio.CancelScope] = set()
        """The scopes of the running trials."""
        self._used = spent or Usage()
        self._errors = 0
        self._missed: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        # Only a resumed run can have used up its budget by now, before its first trial.
        if self._used != Usage():
            self._enforce_budget()

    def stop(self, reason: StopReason, note: str) -> None:
        """Start no further trial; the first reason is kept."""
        if self.stopped is None:
            self.stopped, self.note = reason, note

    def cancel_trials(self) -> None:
        """Cancel every running trial."""
        for scope in self.running:
            scope.cancel("the run was interrupted")

    @property
    def fails_fast(self) -> bool:
        """Whether the first case that can no longer pass ends the run."""
        return self._budget.fail_fast

    def add_usage(self, result: TrialResult) -> None:
        """Add what a trial used, and stop if a limit is reached."""
        budget = self._budget
        self._used += result.usage + result.judge_usage + result.user_usage
        self._errors += result.status == "error"
        # In this order, since the first reason is the one that is kept.
        self._enforce_budget()
        if budget.max_errors is not None and self._errors >= budget.max_errors:
            self.stop("max-errors", f"{self._errors} trials could not be judged")
        self.apply_result(result)

    def apply_result(self, result: TrialResult) -> None:
        """Stop if this result, failed or error, decides its case (by itself or by a leak)."""
        if not self._budget.fail_fast or result.status not in {"failed", "error"}:
            return
        name = f"{result.suite}::{result.case.name}"
        # A leak decides its case at once, however many repeats may still miss.
        if is_leaking(result):
            self.stop("fail-fast", f"{name} leaked what is withheld from its identity elsewhere")
            return
        missed = self._missed[result.suite, result.case.name, result.entrant]
        # By key: a result comes here when it is recorded, and again when it is settled.
        missed.add(result.key)
        if result.repeats - len(missed) < result.needed_passes:
            self.stop("fail-fast", f"{name} ended as {result.status}")

    def _enforce_budget(self) -> None:
        """Stop if the money or the tokens are used up."""
        cost, tokens = self._budget.max_cost_usd, self._budget.max_tokens
        limits = (
            ("cost", self._used.cost_usd, cost, f"${cost or 0:g}"),
            ("tokens", self._used.tokens, tokens, f"{tokens or 0:,} tokens"),
        )
        for what, used, most, budget in limits:
            if most is not None and used is None:
                words = f"so the budget of {budget} cannot be enforced"
                self.stop("budget", f"the {what} of a trial is unknown, {words}")
            elif most is not None and used is not None and used >= most:
                self.stop("budget", f"the budget of {budget} is used up")


_Case: TypeAlias = tuple[str, str, str]


class EarlyStopping:
    """Tracks which cases of a plan are decided, as results arrive.

    An optional trial waits for the earlier ones of its case, so that which trials are run does not
    depend on concurrency.
    """

    def __init__(self, plan: RunPlan) -> None:
        """Start from the results of an earlier run."""
        self._ended: dict[str, anyio.Event] = {}
        self._earlier: dict[str, tuple[anyio.Event, ...]] = {}
        self._passed: Counter[_Case] = Counter()
        self._failed: Counter[_Case] = Counter()
        before: defaultdict[_Case, list[anyio.Event]] = defaultdict(list)
        for job in plan.jobs:
            case = _build_case_key(job.trial)
            # Only those before it in the plan, so that no two wait for each other.
            self._earlier[job.trial.key] = tuple(before[case]) if job.optional else ()
            before[case].append(self._ended.setdefault(job.trial.key, anyio.Event()))
        for run in plan.done:
            self._count_result(run)

    async def is_wanted(self, job: Job) -> bool:
        """Wait until it is decided whether the trial is to run, and return that.

        This waits for trials that are already running, each with its own deadline.
        """
        for event in self._earlier[job.trial.key]:
            await event.wait()
        trial, case = job.trial, _build_case_key(job.trial)
        lost = trial.repeats - self._failed[case] < trial.needed_passes
        return not (job.optional and (lost or self._passed[case] >= trial.needed_passes))

    def count_result(self, result: TrialResult) -> None:
        """Count a result."""
        self._count_result(result)
        self._ended[result.key].set()

    def _count_result(self, result: TrialResult) -> None:
        case = (result.suite, result.case.name, result.entrant)
        # A trial without a verdict counts for neither, so its case stays open.
        self._passed[case] += result.status == "passed"
        self._failed[case] += result.status == "failed"


def _build_case_key(trial: Trial) -> _Case:
    return trial.suite, trial.case.name, trial.entrant


async def watch_signals(
    control: Control,
    *,
    grace_s: float,
    tell: Callable[[str], None],
    abort: Callable[[], None],
    last_words: str = "",
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Listen until cancelled; needs the main thread.

    The first signal stops new trials and gives running ones ``grace_s`` seconds, then cancels them.
    A second signal calls ``abort``, which must complete the log, writes ``last_words`` and exits.
    """
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # set to be ignored by `nohup`
        wanted.append(signal.SIGHUP)

    async def cancel_trials() -> None:
        await anyio.sleep(grace_s)
        control.cancel_trials()

    with anyio.open_signal_receiver(*wanted) as signals:
        task_status.started()
        async with anyio.create_task_group() as group:
            async for number in signals:
                if number == signal.SIGHUP:
                    _release_terminal()
                if control.stopped == "interrupted":
                    abort()
                    _exit_now(last_words)
                control.signal = signal.Signals(number).name
                control.stop("interrupted", f"{control.signal} received")
                # Also over a budget that was reached before: the footer says what ended the run in
                # the end, and the next signal finds it.
                control.stopped = "interrupted"
                tell(
                    f"Interrupted: running trials have {grace_s:g} s to finish; interrupt again to "
                    "stop at once."
                )
                # In a task of its own: a second signal must be heard during the grace.
                group.start_soon(cancel_trials)


def _release_terminal() -> None:
    """Redirect output away from a closed terminal.

    Each write to it would fail, and end the run without its footer.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # What goes to a file or a pipe is still wanted.
    for output in (1, 2):
        if stat.S_ISCHR(os.fstat(output).st_mode):
            os.dup2(nowhere, output)
    os.close(nowhere)


def _exit_now(last_words: str) -> None:
    """Exit without unwinding; child processes end when our end of their pipe closes."""
    # By `os.write`, because `os._exit` flushes no stream.
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a live display may have hidden the cursor
    if last_words:
        os.write(2, f"{last_words}\n".encode())
    os._exit(EXIT_INTERRUPTED)
