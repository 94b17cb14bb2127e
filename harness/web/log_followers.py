"""Runs that were started elsewhere, followed by reading their logs.

A log is read in portions, so that the first results of a large one are told at once. Listeners who
ask again and again share what has been read (`FollowerCache`).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread

from harness.runlog import being_written
from harness.web.feed import EventFeed

POLL_S = 0.4
"""Seconds between reads of the log of a run in a terminal, while there are listeners."""
PORTION = 100
"""Most trials that are read before listeners hear of them."""
PAGE_EVENTS = 200
"""Most events in one answer to a client that asks again and again."""
PAGE_CHARACTERS = 2_000_000
"""Characters of events after which such an answer ends."""
_REMEMBERED = 16


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
        while len(self._known) > _REMEMBERED:
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
