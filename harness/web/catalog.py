"""All runs of a folder, in memory: each has one small row until its log changes.

A row comes from the index beside the log (`run_index`), or from the log itself. One request reads
only some logs that have no index yet: the answer says how many are left, and asking again goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.runlog import being_written
from harness.runner import log_path
from harness.web.history import entry_of
from harness.web.run_index import read_index, write_index
from harness.web.run_listing import Listing

MOST_READ = 50
"""Logs without an index that one request reads at most."""
MOST_BYTES = 20_000_000
"""Bytes of such logs after which a request reads no further one."""
ENDINGS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "passed": lambda run: (
        bool(run.get("counts")) and run["counts"]["passed"] == run["counts"]["planned"]
    ),
    "failed": lambda run: bool(run.get("counts", {}).get("failed")),
    "error": lambda run: bool(run.get("counts", {}).get("error")) or "error" in run,
    "running": lambda run: bool(run["state"] == "running"),
    "interrupted": lambda run: bool(
        run["state"] != "running" and run.get("reason") == "interrupted"
    ),
}
"""Results that the list of runs can be filtered by."""
_FINISHED = {"state": "finished"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which runs are asked for; an empty text takes all."""

    suite: str = ""
    """Part of a suite's name, in any case of letters."""
    model: str = ""
    """Part of a model's name."""
    result: str = ""
    """One of `ENDINGS`."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer."""

    entries: list[dict[str, Any]]
    """The newest runs that fit."""
    known: int
    """All runs of the folder."""
    unread: int
    """Runs whose logs were not read yet, so that it is not known whether they fit."""


@dataclass(frozen=True, slots=True)
class _Row:
    changed: tuple[int, int]
    suites: str
    models: str
    open: bool
    endings: frozenset[str]
    """Those of `ENDINGS` that fit it once it is not under way."""
    text: bytes
    """The entry as JSON: a tenth of what it takes as objects."""

    def fits(self, suite: str, model: str, result: str) -> bool:
        """Return whether it may be asked for; texts are in small letters."""
        named = suite in self.suites and model in self.models
        return named and (not result or self.open or result in self.endings)


class Catalog:
    """The runs below one folder."""

    def __init__(self, runs: Path) -> None:
        """Begin with nothing read."""
        self._runs = runs
        self._listing = Listing(runs)
        self._rows: dict[str, _Row] = {}

    def find(self, wanted: Wanted, limit: int, go_on: Callable[[], None] = lambda: None) -> Found:
        """Return the newest ``limit`` runs that fit.

        ``go_on`` is called before each run and each line that is read; what it raises ends the
        search.
        """
        open_ones = [name for name, row in list(self._rows.items()) if row.open]
        names = self._listing.newest_first(open_ones)
        self._forget(names)
        suite, model, result = wanted.suite.lower(), wanted.model.lower(), wanted.result
        found: list[dict[str, Any]] = []
        unread, logs, size = 0, 0, 0
        for run_id in names:
            if len(found) >= limit:
                break
            go_on()
            row = self._rows.get(run_id)
            if row is not None and not row.fits(suite, model, result) and self._holds(run_id, row):
                continue
            facts = self._listing.look(run_id)
            if facts is None:
                continue
            row = self._known(run_id, facts)
            if row is None and logs < MOST_READ and size < MOST_BYTES:
                logs, size = logs + 1, size + facts.st_size
                row = self._read(run_id, facts, go_on)
            if row is None:
                unread += 1
            elif (entry := self._fitting(run_id, row, wanted)) is not None:
                found.append(entry)
        return Found(found, len(names), unread)

    def _holds(self, run_id: str, row: _Row) -> bool:
        facts = self._listing.facts(run_id)
        return facts is not None and row.changed == _changed(facts)

    def _known(self, run_id: str, facts: os.stat_result) -> _Row | None:
        row = self._rows.get(run_id)
        if row is not None and row.changed == _changed(facts):
            return row
        entry = read_index(log_path(run_id, self._runs), facts)
        return None if entry is None else self._keep(run_id, facts, entry)

    def _read(self, run_id: str, facts: os.stat_result, go_on: Callable[[], None]) -> _Row | None:
        log = log_path(run_id, self._runs)
        try:
            writing = being_written(log)
            entry = entry_of(log, go_on)
        except FileNotFoundError:  # removed since it was listed
            return None
        if not writing:
            write_index(log, facts, entry)
        return self._keep(run_id, facts, entry)

    def _keep(self, run_id: str, facts: os.stat_result, entry: dict[str, Any]) -> _Row:
        row = _Row(
            _changed(facts),
            _joined(entry["suites"]),
            _joined(entry["models"]),
            bool(entry.get("open")),
            frozenset(name for name, fits in ENDINGS.items() if fits(entry | _FINISHED)),
            json.dumps(entry).encode(),
        )
        self._rows[run_id] = row
        return row

    def _fitting(self, run_id: str, row: _Row, wanted: Wanted) -> dict[str, Any] | None:
        if not row.fits(wanted.suite.lower(), wanted.model.lower(), wanted.result):
            return None
        entry: dict[str, Any] = json.loads(row.text)
        try:
            running = row.open and being_written(log_path(run_id, self._runs))
        except OSError:
            return None
        entry["state"] = "running" if running else "finished"
        return entry if not wanted.result or ENDINGS[wanted.result](entry) else None

    def _forget(self, names: list[str]) -> None:
        if len(self._rows) > len(names):
            present = set(names)
            self._rows = {name: row for name, row in self._rows.items() if name in present}


def _changed(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_mtime_ns, facts.st_size


def _joined(names: list[str]) -> str:
    return "\0".join(names).lower()
