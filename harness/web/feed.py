"""The events of a run, numbered, for any number of listeners.

::

    run               {id, state, suites, models, planned, …}    first, and again when the state changes
    test_case_start   {suite, case, model, trial}
    test_case_result  {…everything about the trial…, progress}   once more at the end, where only all trials tell
    summary           {…}                                        last
    error             {message, problems}                        last, in place of a summary

A `Feed` keeps what happened as small records; a result is only a place in the run log, from which
it is read when somebody listens. So a hundred listeners cost no more memory than one, a slow one
holds up nobody, and one that comes back with the number of the last event that it saw misses
nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from harness.reports.build import build_report
from harness.runlog import (
    Damaged,
    Footer,
    Header,
    Line,
    RunLog,
    TrialLine,
    being_written,
    read_lines,
    read_log,
)
from harness.types import CheckResult, Status, TrialResult
from harness.web.results import Progress, clean, name_of, result, summary

FROM_LOG = "log"
"""Begins the numbers of events that are read off a log as it stands: the same for everybody, at any
time."""
POLL_S = 0.4
"""How often the log of a run in a terminal is looked at, while somebody does."""
_REMEMBERED = 128
_REMEMBERED_LOGS = 4


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, in as little memory as can be: a page that is never stopped has seen many."""

    name: str
    """``run``, ``test_case_start`` …"""
    text: str = "{}"
    """What is known of it without the log, as JSON."""
    offset: int | None = None
    """Where the log tells the rest."""
    key: str | None = None
    """The trial of which the whole log tells the rest."""

    @classmethod
    def of(
        cls, name: str, data: Mapping[str, Any], offset: int | None = None, key: str | None = None
    ) -> Event:
        """Return the event with ``data``."""
        return cls(name, json.dumps(data), offset, key)


class Feed:
    """What happened in one run so far, in order."""

    def __init__(self, log: Path, series: str = FROM_LOG) -> None:
        """Begin with nothing; ``series`` tells these numbers from those of another feed of the same run."""
        self.log = log
        self.series = series
        self.ended = False
        self._events: list[Event] = []
        self._news = anyio.Event()
        self._progress = Progress(0)
        self._read_to = 0

    def add(self, event: Event) -> None:
        """Append an event and wake every listener; ``summary`` and ``error`` end the feed."""
        self._events.append(event)
        self.ended = event.name in {"summary", "error"}
        news, self._news = self._news, anyio.Event()
        news.set()

    async def catch_up(self, *, trials: int | None = None, starts: bool = False) -> bool:
        """Take in what the log holds beyond what was read: all, or up to so many trials.

        Return whether the last line that was read is a footer.

        ``starts``: the log is all there is, so that a trial's beginning is told with its result.

        Raises:
            InvalidInput: the log is damaged.
        """
        lines = await anyio.to_thread.run_sync(_some_lines, self.log, self._read_to, trials)
        for offset, end, line in lines:
            self._read_to = end
            self._take(offset, line, starts=starts)
        return bool(lines) and isinstance(lines[-1][2], Footer)

    async def conclude(self) -> None:
        """Tell what is known of single trials only now that all have ended, such as a leak; then the summary.

        Raises:
            InvalidInput: the log is damaged.
        """
        for event in await anyio.to_thread.run_sync(_corrections, self.log):
            self.add(event)
        self.add(Event("summary"))

    def _take(self, offset: int, line: Line | Damaged, *, starts: bool) -> None:
        if isinstance(line, Header):
            self._progress = Progress(line.planned)
            if starts:
                self.add(Event.of("run", {**run_facts(line, self.log), "state": "running"}))
        elif isinstance(line, TrialLine):
            run = line.run
            if starts and run.stop is not None:
                names = {
                    "suite": name_of(run.suite),
                    "case": name_of(run.case.name),
                    "model": name_of(run.model),
                }
                self.add(Event.of("test_case_start", {**names, "trial": run.index + 1}))
            self._progress.add(run)
            self.add(Event.of("test_case_result", self._progress.as_json(), offset))

    async def listen(self, last_seen: str | None = None) -> AsyncIterator[tuple[str, str, str]]:
        """Yield ``(id, name, JSON)`` of every event after ``last_seen``, to the end of the feed."""
        seen = last_seen
        while True:
            news = self._news
            async for number, name, text in self.so_far(seen):
                seen = number
                yield number, name, text
            if self.ended:
                return
            await news.wait()

    async def so_far(self, last_seen: str | None = None) -> AsyncIterator[tuple[str, str, str]]:
        """Yield those events alone that are known by now."""
        place = self._place(last_seen)
        while place < len(self._events):
            event = self._events[place]
            place += 1
            yield f"{self.series}-{place}", event.name, await self._text(event)

    def _place(self, last_seen: str | None) -> int:
        """Return how many events somebody has seen; whoever names none of ours gets all of them."""
        series, _, number = (last_seen or "").rpartition("-")
        known = (
            series == self.series
            and number.isascii()
            and number.isdecimal()
            and len(number) < len("1000000")
        )
        return min(int(number), len(self._events)) if known else 0

    async def _text(self, event: Event) -> str:
        if event.key is not None:
            return await anyio.to_thread.run_sync(_judged_text, self.log, event.key, event.text)
        if event.offset is not None:
            return await anyio.to_thread.run_sync(_result_text, self.log, event.offset, event.text)
        if event.name == "summary":
            return await anyio.to_thread.run_sync(lambda: json.dumps(summary(read_log(self.log))))
        return event.text


async def follow_log(
    log: Path, last_seen: str | None = None
) -> AsyncIterator[tuple[str, str, str]]:
    """Yield the events of a run that is not ours, from its log: all of a past one, and those to come of a live one.

    Raises:
        InvalidInput: the log is damaged.
    """
    feed = Feed(log)
    seen = last_seen
    while not feed.ended:
        writing = being_written(log)  # asked first: what is written until then is read below
        await feed.catch_up(starts=True)
        if not writing:  # a footer alone tells nothing: a run may be resumed
            await feed.conclude()
        async for number, name, text in feed.so_far(seen):
            seen = number
            yield number, name, text
        if not feed.ended:
            await anyio.sleep(POLL_S)


def run_facts(header: Header, log: Path) -> dict[str, Any]:
    """Return what a log's header says of its run, as the event ``run`` has it; a run is called like its folder."""
    suites = [
        {
            "name": name_of(name),
            "description": clean(facts.get("description")),
            "cases": [name_of(case) for case in facts.get("cases", ())],
        }
        for name, facts in header.suites.items()
    ]
    return {
        "id": log.parent.name,
        "suites": suites,
        "models": [name_of(name) for name in header.models],
        "servers": [name_of(name) for name in header.servers],
        "planned": header.planned,
        "concurrency": header.settings.get("concurrency"),
        "started_at": header.started_at,
        "ours": False,
        "notes": [],
    }


def _some_lines(
    log: Path, offset: int, trials: int | None
) -> list[tuple[int, int, Line | Damaged]]:
    """Return the lines from ``offset`` to the end, or to the trial of that number."""
    lines: list[tuple[int, int, Line | Damaged]] = []
    if not log.exists():
        return lines
    for found in read_lines(log, offset):
        lines.append(found)
        if isinstance(found[2], TrialLine) and trials is not None:
            trials -= 1
            if trials == 0:
                break
    return lines


@lru_cache(maxsize=_REMEMBERED)
def _result_text(log: Path, offset: int, progress: str) -> str:
    """Return a result as JSON; whoever listens at the same time asks for the same ones."""
    _, _, line = next(read_lines(log, offset))
    assert isinstance(line, TrialLine)
    return json.dumps({**result(line), "progress": json.loads(progress)})


def _judged(log: Path) -> tuple[RunLog, dict[str, TrialResult]]:
    """Return a log that has ended with its runs as every report has them, by key."""
    facts = log.stat()
    return _judged_at(log, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=_REMEMBERED_LOGS)
def _judged_at(path: Path, _changed: int, _size: int) -> tuple[RunLog, dict[str, TrialResult]]:
    log = read_log(path)
    return log, {run.key: run for run in build_report(log).runs}


def _corrections(path: Path) -> list[Event]:
    """Return a result anew for every trial that the others make another one of."""
    log, judged = _judged(path)
    progress = Progress(log.header.planned)
    for run in judged.values():
        progress.add(run)
    changed = [run.key for run in log.runs if _verdict(judged[run.key]) != _verdict(run)]
    return [Event.of("test_case_result", progress.as_json(), key=key) for key in changed]


def _judged_text(path: Path, key: str, progress: str) -> str:
    log, judged = _judged(path)
    line = TrialLine(run=judged[key], transcript=log.transcript(key))
    return json.dumps({**result(line), "progress": json.loads(progress)})


def _verdict(run: TrialResult) -> tuple[Status, tuple[CheckResult, ...]]:
    return run.status, run.checks
