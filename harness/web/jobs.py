"""Runs started on the page, from upload to log, and the board with their queue.

A run belongs to the board, not to the client: a client that disconnects ends nothing. The messages
of its trials under way are held for the live trace, and dropped when the trial ends: the log has it
then, and only that is shown for good.
"""

from __future__ import annotations

import secrets
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import anyio
import anyio.abc

from harness.base import HarnessError, utc_now
from harness.reports import clean_json
from harness.runlog import log_path, new_run_id
from harness.web.catalog import has_begun
from harness.web.feed import Event, EventFeed
from harness.web.process import RunProcess
from harness.web.settings import Settings
from harness.web.uploads import Choices, OwnSuites, Upload

Name: TypeAlias = tuple[str, str, str, int]
"""Suite, case, entrant, trial from 1."""


class LiveConversations:
    """The conversations under way of one run."""

    def __init__(self) -> None:
        """Begin with none."""
        self._steps: dict[Name, list[dict[str, Any]]] = {}
        self._keys: dict[str, Name] = {}

    def take_steps(self, said: Mapping[str, Any]) -> None:
        """Take steps from a place on: ``{"key", "trial", "from", "steps"}``."""
        name = parse_trial_name(said["trial"])
        self._keys[said["key"]] = name
        self._steps[name] = [*self._steps.get(name, [])[: said["from"]], *said["steps"]]

    def forget_trial(self, key: str) -> None:
        """Forget the trial with that key."""
        name = self._keys.pop(key, None)
        if name is not None:
            self._steps.pop(name, None)

    def get_steps(self, name: Name) -> list[dict[str, Any]]:
        """Return the steps so far of a trial; none if it has not begun, or has ended."""
        return self._steps.get(name, [])


def parse_trial_name(facts: Mapping[str, Any]) -> Name:
    """Return the name of a trial from ``{suite, case, entrant, trial}``."""
    return str(facts["suite"]), str(facts["case"]), str(facts["entrant"]), int(facts["trial"])


State: TypeAlias = Literal["queued", "running", "finished", "refused", "cancelled"]
"""State of a run; ``refused``: it could not start and has no log; ``cancelled``: before it started.
"""

LISTEN_S = 15.0
"""Seconds from ``go`` to the first trial; an interrupt before it would leave a log without an end.
"""
STOP_S = 8.0
"""Seconds from an interrupt to the end of the process, which closes servers and its log."""
ABORT_S = 3.0
"""Seconds from the second interrupt, after which it only closes its log."""
CHECKS = 8
"""Most uploads that are read at the same time; others wait for their turn."""
REMEMBERED = 50
"""Most ended runs whose events are kept; for older ones they are read from the log."""


class QueueFull(HarnessError):
    """The queue is full."""


class RunJob:
    """One run started on the page."""

    def __init__(
        self, run_id: str, name: str, log: Path, worker: RunProcess, facts: dict[str, Any]
    ) -> None:
        """Begin in the queue; ``facts`` are the worker's facts about the plan."""
        self.id = run_id
        self.log = log
        self.worker = worker
        self.state: State = "queued"
        # A series of its own: numbers from the log would mean other events, since the log has none
        # for the queue. After a restart of the page, the same run is told from its log.
        self.feed = EventFeed(log, secrets.token_hex(4))
        self.waiting = anyio.CancelScope()
        self.cancelled = False
        self.begun = anyio.Event()
        self.over = anyio.Event()
        self.talks = LiveConversations()
        self._facts = {"file": name, "asked_at": utc_now(), "started_at": None, **facts}
        self.change_state("queued")

    def change_state(self, state: State) -> None:
        """Change the state and add an event."""
        self.state = state
        if state == "running":
            self._facts["started_at"] = utc_now()
        self.feed.add(Event.from_data("run", self.as_json()))

    def fail(
        self, state: State, message: str, problems: list[dict[str, Any]] | None = None
    ) -> None:
        """End without a summary."""
        self.state = state
        self.feed.add(
            Event.from_data(
                "error", {"id": self.id, "message": message, "problems": problems or []}
            )
        )

    def add_note(self, text: str) -> None:
        """Add a note for the user, and an event."""
        self._facts["notes"] = [*self._facts["notes"], clean_json(text)]
        self.feed.add(Event.from_data("run", self.as_json()))

    def as_json(self) -> dict[str, Any]:
        """Return its facts without the results."""
        return {"id": self.id, "state": self.state, "ours": True, **self._facts}


class RunQueue:
    """All runs started on the page; a context manager whose end ends all of them."""

    def __init__(self, settings: Settings) -> None:
        """Begin without runs."""
        self.settings = settings
        self._jobs: dict[str, RunJob] = {}
        self._checking = 0
        self._readers = anyio.CapacityLimiter(CHECKS)
        self._slots = anyio.CapacityLimiter(settings.at_once)
        self._tasks: anyio.abc.TaskGroup
        self.closing = anyio.Event()
        """Set when the page stops."""

    async def __aenter__(self) -> Self:
        """Open it."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every run with a complete log."""
        # Whatever ended the page, a second signal included, the logs are completed first.
        with anyio.CancelScope(shield=True):
            await self.close()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    def get(self, run_id: str) -> RunJob | None:
        """Return a run that was started here and is still kept."""
        return self._jobs.get(run_id)

    def list_waiting(self) -> list[RunJob]:
        """Return the runs without a log, the newest first."""
        return [
            job
            for job in reversed(self._jobs.values())
            if not job.over.is_set() and not has_begun(job.log)
        ]

    @property
    def under_way(self) -> int:
        """Runs that wait or run."""
        return sum(not job.over.is_set() for job in self._jobs.values())

    async def check(self, upload: Upload, choice: Choices) -> dict[str, Any]:
        """Return the plan of a run without running it.

        Raises:
            Refused: it cannot be run.
            Busy: too many uploads are being read.
        """
        with tempfile.TemporaryDirectory(prefix="harness-") as folder:
            worker, facts = await self._read_suites(upload, choice, Path(folder), "check")
            await worker.kill()
        return facts

    async def submit(self, asked: Upload | OwnSuites, choice: Choices) -> RunJob:
        """Read what is asked for and give it a place in the queue.

        Raises:
            Refused: it cannot be run.
            Busy: the queue is full.
        """
        run_id = new_run_id(asked.run_names)
        log = log_path(run_id, self.settings.runs)
        # Before the upload is read: its file lies beside the log from the beginning.
        log.parent.mkdir(parents=True)
        try:
            worker, facts = await self._read_suites(asked, choice, log.parent, run_id)
        # A request that is cancelled leaves no folder, either.
        except BaseException:
            _remove_run(log)
            raise
        job = RunJob(run_id, asked.name, log, worker, facts)
        self._jobs[run_id] = job
        self._tasks.start_soon(self._carry_out, job)
        self._forget_old()
        return job

    async def cancel(self, job: RunJob, number: signal.Signals = signal.SIGINT) -> None:
        """End a run: at once if it waits, with a complete log if it runs.

        ``number`` tells the log who ended it: a person (SIGINT) or the end of the page (SIGTERM).
        """
        job.cancelled = True
        if job.state == "queued":
            job.waiting.cancel()
        if job.state == "running":
            # An earlier signal would end the process before it can complete its log.
            with anyio.move_on_after(LISTEN_S):
                await job.begun.wait()
            job.worker.interrupt(number)
            if not await job.worker.wait_for_end(STOP_S):
                job.worker.interrupt(number)
            if not await job.worker.wait_for_end(ABORT_S):
                await job.worker.kill()
        await job.over.wait()

    async def close(self) -> None:
        """End every run, and accept no more."""
        self.closing.set()
        # All at once: one after the other, the page would need that long for each of them.
        async with anyio.create_task_group() as group:
            for job in list(self._jobs.values()):
                group.start_soon(self.cancel, job, signal.SIGTERM)

    async def _read_suites(
        self, asked: Upload | OwnSuites, choice: Choices, folder: Path, run_id: str
    ) -> tuple[RunProcess, dict[str, Any]]:
        settings = self.settings
        if self.closing.is_set():
            raise QueueFull("the page is being stopped.")
        # Uploads that are being read count, too: together they could overfill the queue.
        taken = self.under_way + self._checking
        if taken >= settings.at_once + settings.queued:
            raise QueueFull(f"the queue is full: {taken} runs are under way or wait.")
        order = {
            **asked.place_in(folder),
            "choice": choice,
            "max_cases": settings.max_cases,
            "case_timeout_s": settings.case_timeout_s,
            "runs": str(settings.runs),
            "run_id": run_id,
        }
        self._checking += 1
        try:
            async with self._readers:
                return await RunProcess.start(order)
        finally:
            self._checking -= 1

    async def _carry_out(self, job: RunJob) -> None:
        try:
            # A run that was cancelled in the queue got no slot, and must not give one back below.
            with job.waiting:
                await self._slots.acquire_on_behalf_of(job)
            try:
                if job.cancelled:  # its turn may have come at the same moment
                    await job.worker.kill()
                    _remove_run(job.log)
                    job.fail("cancelled", "It was cancelled before it started.")
                else:
                    await self._run_job(job)
            except (
                HarnessError,
                OSError,
                ValueError,
            ) as error:  # a damaged log or a full disk: not a bug of the page
                job.fail("finished", f"The run cannot be followed any further: {error}")
            finally:
                if not job.waiting.cancelled_caught:
                    self._slots.release_on_behalf_of(job)
        finally:
            # First the process, then the word: whoever waits for `over` relies on a complete log.
            await job.worker.kill()
            job.over.set()

    async def _run_job(self, job: RunJob) -> None:
        job.change_state("running")
        problems = None
        # A process that died in the queue sends no message, which is told below.
        with suppress(anyio.BrokenResourceError, OSError):
            await job.worker.begin()
        async for message in job.worker.iterate_messages():
            if "start" in message:
                job.begun.set()
                job.feed.add(Event.from_data("test_case_start", message["start"]))
            elif "said" in message:
                job.talks.take_steps(message["said"])
            elif "result" in message:
                job.talks.forget_trial(message["result"])
                # Not further: each trial is told when its own message comes, in the order of all
                # events.
                await job.feed.catch_up(trials=1)
            elif "note" in message and not job.cancelled:  # a cancelled one would report signals
                job.add_note(message["note"])
            elif "invalid" in message:
                problems = message["invalid"]
        # It ended before its first trial, and `cancel` need not wait for one.
        job.begun.set()
        if problems is not None:
            _remove_run(job.log)
            job.fail("refused", problems[0]["message"], problems)
        # No problem was told, so it crashed; its traceback is where its stderr goes.
        elif not job.log.exists():
            job.fail(
                "refused",
                (
                    "The run's process ended before the run started; see the terminal of 'harness "
                    "serve'."
                ),
            )
        else:
            # A footer is no trial: whatever stands behind the last one is read here.
            if not await job.feed.catch_up():  # no footer
                job.add_note("The run broke off: its process ended before it closed the log.")
            await job.feed.conclude()
            job.state = "finished"

    def _forget_old(self) -> None:
        for run_id in [job.id for job in self._jobs.values() if job.over.is_set()][:-REMEMBERED]:
            del self._jobs[run_id]


def _remove_run(log: Path) -> None:
    """Remove a run's folder with the page's own files; keep it if it contains anything else."""
    with suppress(OSError):
        for path in log.parent.glob("suite.*"):
            path.unlink()
        log.parent.rmdir()
