"""The events of a run, numbered, for any number of listeners.

::

    run               {id, state, suites, models, planned, …}
                      first, and again when the state changes
    test_case_start   {suite, case, entrant, trial}
    test_case_waiting {suite, case, entrant, trial, progress}
                      it has ended; its status takes the other identities
    test_case_result  {…everything about the trial…, progress}
                      its status is settled: once for each trial
    summary           {…}                      last
    error             {message, problems}      last, in place of a summary

A `EventFeed` keeps events as small records; a result is only an offset in the run log, read when
somebody listens. So a hundred listeners need no more memory than one, a slow one delays nobody, and
one that returns with the number of its last event misses nothing.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from harness.judging import RunJudge, View, build_view, order_by_header
from harness.reports import run_facts
from harness.runlog import (
    DamagedLine,
    Footer,
    Header,
    Line,
    ToolsLine,
    TrialLine,
    being_written,
    read_lines,
)
from harness.types import JsonObject, ToolList, TrialResult, dataclass
from harness.web.results import Progress, encode_result, name_trial, trial_cell
from harness.web.run_view import build_view_summary, ensure_view

FROM_LOG = "log"
"""Prefix of event numbers of a finished log: the same for every listener at any time."""
_REMEMBERED = 128


@dataclass(frozen=True, slots=True)
class Event:
    """One event, in little memory: a page that runs for long has many."""

    name: str
    """``run``, ``test_case_start`` …"""
    text: str = "{}"
    """Its data without the log, as JSON."""
    offset: int | None = None
    """Offset of the rest of its data in the log."""
    settled: TrialResult | None = None
    """The settled result of a trial, if the log's line has only its own status."""

    @classmethod
    def from_data(
        cls,
        name: str,
        data: Mapping[str, Any],
        offset: int | None = None,
        settled: TrialResult | None = None,
    ) -> Event:
        """Return the event with ``data``."""
        return cls(name, json.dumps(data), offset, settled)


class EventFeed:
    """The events of one run so far, in order."""

    def __init__(self, log: Path, series: str = FROM_LOG) -> None:
        """Begin with nothing.

        ``series`` tells these numbers from those of another feed of the same run.
        """
        self.log = log
        self.series = series
        self.ended = False
        self._events: list[Event] = []
        self._news = anyio.Event()
        self._progress = Progress(0)
        self.read_to = 0
        """Bytes of the log that have been read."""
        self._judge = RunJudge(suites={}, order=_ignore_order)
        self._suites: JsonObject = {}
        self._tools: dict[str, ToolList] = {}
        self._offsets: dict[str, int] = {}

    def add(self, event: Event) -> None:
        """Append an event and wake every listener; ``summary`` and ``error`` end the feed."""
        self._events.append(event)
        self.ended = event.name in {"summary", "error"}
        # An event cannot be reset: those who wait have the old one, those who come later get a new
        # one.
        news, self._news = self._news, anyio.Event()
        news.set()

    async def catch_up(self, *, trials: int | None = None, starts: bool = False) -> bool:
        """Read further lines of the log: all, or up to so many trials.

        Return whether the last line that was read is a footer.

        ``starts``: there is only the log, so a trial's start event comes with its result.

        Raises:
            InvalidInput: the log is damaged.
        """
        lines = await anyio.to_thread.run_sync(_some_lines, self.log, self.read_to, trials)
        for offset, end, line in lines:
            self.read_to = end
            self._take_line(offset, line, starts=starts)
        return bool(lines) and isinstance(lines[-1][2], Footer)

    async def conclude(self) -> None:
        """Add the results of trials that waited for each other, then the summary.

        Raises:
            InvalidInput: the log is damaged.
        """
        for settled in await anyio.to_thread.run_sync(self._judge.close):
            self._progress.add(settled)
            offset = self._offsets[settled.key]
            self.add(Event.from_data("test_case_result", self._progress.as_json(), offset, settled))
        self.add(Event("summary"))

    def _take_line(self, offset: int, line: Line | DamagedLine, *, starts: bool) -> None:
        if isinstance(line, Header):
            self._progress = Progress(line.planned)
            self._suites = line.suites
            self._judge = RunJudge(suites=line.suites, order=order_by_header(line))
            if starts:
                self.add(Event.from_data("run", {**run_facts(line, self.log), "state": "running"}))
        elif isinstance(line, ToolsLine):
            self._tools[line.tools.digest] = line.tools
        elif isinstance(line, TrialLine):
            ended = line.run
            names = name_trial(ended, ended.trial)
            # A trial that was skipped has never started.
            if starts and ended.stop is not None:
                self.add(Event.from_data("test_case_start", names))
            # Its status may change by what other identities see, so it is not told as settled yet.
            if self._judge.is_waiting(ended):
                self._judge.add_result(ended, partial(self._find_view, offset))
                self._offsets[ended.key] = offset
                self._progress.add(ended, is_settled=False)
                progress = self._progress.as_json()
                self.add(Event.from_data("test_case_waiting", {**names, "progress": progress}))
            else:
                self._progress.add(ended)
                self.add(Event.from_data("test_case_result", self._progress.as_json(), offset))

    def _find_view(self, offset: int) -> View | None:
        """Return the view of the identity whose trial has its log line at ``offset``."""
        line = _read_trial(self.log, offset)
        if line.transcript is None:
            return None
        return build_view(line.run, line.transcript, self._tools, self._suites)

    async def listen(self, last_seen: str | None = None) -> AsyncIterator[tuple[str, str, str]]:
        """Yield ``(id, name, JSON)`` of every event after ``last_seen``, to the end of the feed."""
        seen = last_seen
        while True:
            # Taken before the events are told: one that is added in the midst of them is not
            # missed.
            news = self._news
            async for number, name, text in self.so_far(seen):
                seen = number
                yield number, name, text
            if self.ended:
                return
            await news.wait()

    async def so_far(self, last_seen: str | None = None) -> AsyncIterator[tuple[str, str, str]]:
        """Yield only the events known by now."""
        place = self._count_seen(last_seen)
        # The list may grow while a result is read in a thread.
        while place < len(self._events):
            event = self._events[place]
            place += 1
            yield f"{self.series}-{place}", event.name, await self._format_event(event)

    def _count_seen(self, last_seen: str | None) -> int:
        """Return the number of events that a listener has seen; 0 for an unknown event id."""
        # A client sends what it likes. Events of another series, or of an earlier server, are all
        # told again: twice is better than never.
        series, _, number = (last_seen or "").rpartition("-")
        known = (
            series == self.series
            and number.isascii()
            and number.isdecimal()
            and len(number) < len("1000000")
        )
        return min(int(number), len(self._events)) if known else 0

    async def _format_event(self, event: Event) -> str:
        if event.settled is not None and event.offset is not None:
            return await anyio.to_thread.run_sync(
                _settled_text, self.log, event.offset, event.settled, event.text
            )
        if event.offset is not None:
            return await anyio.to_thread.run_sync(_result_text, self.log, event.offset, event.text)
        if event.name == "summary":
            return await anyio.to_thread.run_sync(_summary_text, self.log)
        return event.text


def _some_lines(
    log: Path, offset: int, trials: int | None
) -> list[tuple[int, int, Line | DamagedLine]]:
    """Return the lines from ``offset`` to the end, or to the trial of that number."""
    lines: list[tuple[int, int, Line | DamagedLine]] = []
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
    """Return a result as JSON; cached, since simultaneous listeners need the same ones."""
    return _format_trial(_read_trial(log, offset), offset, progress)


def _settled_text(log: Path, offset: int, settled: TrialResult, progress: str) -> str:
    return _format_trial(replace(_read_trial(log, offset), run=settled), offset, progress)


def _format_trial(line: TrialLine, offset: int, progress: str) -> str:
    cell = {**trial_cell(line), "at": [offset]}
    return json.dumps({**encode_result(line), "cell": cell, "progress": json.loads(progress)})


def _summary_text(log: Path) -> str:
    """Return the summary, and store it next to the log with the data of the run's page."""
    return json.dumps(build_view_summary(ensure_view(log)))


def _read_trial(log: Path, offset: int) -> TrialLine:
    # Without the lines before it: each event knows where its line begins.
    _, _, line = next(read_lines(log, offset))
    assert isinstance(line, TrialLine)
    return line


def _ignore_order(_result: TrialResult) -> int:
    """Keep results in their order of arrival until the log's header is read."""
    return 0


POLL_S = 0.4
"""Seconds between reads of the log of a run in a terminal, while there are listeners."""
PORTION = 100
"""Most trials that are read before listeners hear of them."""
PAGE_EVENTS = 200
"""Most events in one answer to a client that asks again and again."""
PAGE_CHARACTERS = 2_000_000
"""Characters of events after which such an answer ends."""
_FOLLOWED = 16


class LogFollower:
    """The feed of a log, which is read further on each request; requests may be concurrent."""

    def __init__(self, log: Path) -> None:
        """Begin with nothing read."""
        self.feed = EventFeed(log)
        self._turn = anyio.Lock()

    async def advance(self) -> bool:
        """Read one portion more; return whether there may be another one at once.

        Raises:
            InvalidInput: the log is damaged.
            OSError: the log cannot be read.
        """
        # Two requests at once would tell the same lines twice.
        async with self._turn:
            feed = self.feed
            if feed.ended:
                return False
            # Asked first: what was written until then is read below.
            writing = await anyio.to_thread.run_sync(being_written, feed.log)
            before = feed.read_to
            # In a terminal nobody sends a start event, so it comes with the result.
            await feed.catch_up(trials=PORTION, starts=True)
            if feed.read_to > before:
                return True
            if not writing:  # a footer alone is no end: a run may be resumed
                await feed.conclude()
            return False


class FollowerCache:
    """The logs that clients have asked for lately."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: OrderedDict[tuple[Path, int], LogFollower] = OrderedDict()

    async def get_follower(self, log: Path) -> LogFollower:
        """Return the shared reader of ``log``: a new one if the log grew after its end."""
        # A log that was replaced has another inode, and one that was cut off is shorter than what
        # was read.
        facts = await anyio.Path(log).stat()
        place = log, facts.st_ino
        # Put back at the end, so that the one that was asked for longest ago is forgotten first.
        found = self._known.pop(place, None)
        if found is None or facts.st_size < found.feed.read_to or _has_grown(found, facts.st_size):
            found = LogFollower(log)
        self._known[place] = found
        while len(self._known) > _FOLLOWED:
            self._known.popitem(last=False)
        return found


def _has_grown(found: LogFollower, size: int) -> bool:
    return found.feed.ended and size > found.feed.read_to


async def follow_log(
    log: Path, last_seen: str | None = None
) -> AsyncIterator[tuple[str, str, str]]:
    """Yield the events of a run started elsewhere, from its log, including those to come.

    Raises:
        InvalidInput: the log is damaged.
    """
    followed = LogFollower(log)
    feed = followed.feed
    seen = last_seen
    while not feed.ended:
        more = await followed.advance()
        async for number, name, text in feed.so_far(seen):
            seen = number
            yield number, name, text
        # A long log is read on at once; only at its end is there something to wait for.
        if not more and not feed.ended:
            await anyio.sleep(POLL_S)


async def format_page(feed: EventFeed, last_seen: str | None, *, more: bool = False) -> str:
    """Return the events of ``feed`` after ``last_seen`` that are known by now, as JSON.

    ``{"events": [{"id", "name", "data"}], "more": whether to ask again at once}``; a long feed
    takes several answers.
    """
    # Events are JSON already: they are put together as text, not parsed to be written again.
    told: list[str] = []
    length = 0
    async for number, name, text in feed.so_far(last_seen):
        if len(told) >= PAGE_EVENTS or length > PAGE_CHARACTERS:
            more = True
            break
        told.append(_format_event(number, name, text))
        length += len(text)
    return f'{{"events": [{", ".join(told)}], "more": {json.dumps(more)}}}'


def _format_event(number: str, name: str, text: str) -> str:
    return f'{{"id": {json.dumps(number)}, "name": {json.dumps(name)}, "data": {text}}}'
