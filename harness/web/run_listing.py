"""List the runs of a folder, the newest first, without reading each log every time.

A look takes a few microseconds, and longer on a busy machine. Runs that may change are looked at
each time: new ones and open ones. Of the others, `LOOKS` are looked at in turn; whoever shows one
looks at it first (`Listing.refresh_facts`). So a folder of up to `LOOKS` runs is never out of date,
and in a larger one a finished run whose log is changed by another program is found after a few
requests.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection
from pathlib import Path

from harness.runner import list_names, sort_runs, stat_log

LOOKS = 2_000
"""Finished runs that one request looks at."""


class Listing:
    """The runs below one folder."""

    def __init__(self, runs: Path) -> None:
        """Begin with nothing known."""
        self._runs = runs
        self._names: list[str] = []
        self._facts: dict[str, os.stat_result] = {}
        self._turn: list[str] = []
        self._newest: list[str] | None = None
        self._lock = threading.Lock()  # requests are answered in several threads

    def newest_first(self, open_ones: Collection[str]) -> list[str]:
        """Return the names of all runs with a log that is not empty, the newest first.

        ``open_ones`` are those of which more may come at any time.
        """
        with self._lock:
            return self._list_names(open_ones)

    def _list_names(self, open_ones: Collection[str]) -> list[str]:
        names = list_names(self._runs)
        if names != self._names:
            self._names, self._newest = names, None
            present = set(names)
            # Others of the same name would get the facts of those that were removed.
            self._facts = {name: one for name, one in self._facts.items() if name in present}
        if not self._turn:
            self._turn = list(self._facts)
        # From the end, where taking something off moves nothing.
        due = self._turn[-LOOKS:]
        del self._turn[-LOOKS:]
        # A name without facts is looked at each time: its log may still be empty.
        for name in {*open_ones, *due, *(name for name in names if name not in self._facts)}:
            self._stat_log(name)
        if self._newest is None:
            self._newest = list(reversed(sort_runs(self._facts)))
        return self._newest

    def refresh_facts(self, name: str) -> os.stat_result | None:
        """Return the facts of the run's log as they are now; ``None`` if there is none."""
        with self._lock:
            return self._stat_log(name)

    def _stat_log(self, name: str) -> os.stat_result | None:
        facts = stat_log(self._runs, name)
        before = self._facts.get(name)
        if facts is None:
            self._facts.pop(name, None)
        else:
            self._facts[name] = facts
        # The order depends on nothing else: most looks find no change, and need no sorting.
        if _get_time(before) != _get_time(facts):
            self._newest = None
        return facts

    def get_facts(self, name: str) -> os.stat_result | None:
        """Return the facts of the run's log as they were at the last look."""
        return self._facts.get(name)


def _get_time(facts: os.stat_result | None) -> int | None:
    return None if facts is None else facts.st_mtime_ns
