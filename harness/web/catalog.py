"""All runs of a folder, in memory: each has one small row until its log changes.

A row comes from the store beside the log, or from the log itself. One request reads only some logs
that have no store yet: the answer says how many are left, and asking again goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base import HarnessError
from harness.runlog import being_written
from harness.runner import log_path
from harness.web.history import read_entry
from harness.web.run_listing import Listing
from harness.web.run_view import ensure_view, find_view

MOST_READ = 50
"""Logs without a store that one request reads at most."""
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
# An open run may end at any time, so its row is made as if it had ended.
_FINISHED = {"state": "finished"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are asked for; an empty text takes all."""

    suite: str = ""
    """Part of a suite's name, in any case of letters."""
    model: str = ""
    """Part of a model's name."""
    result: str = ""
    """One of `ENDINGS`."""


@dataclass(frozen=True, slots=True)
class MatchingRuns:
    """The answer."""

    entries: list[dict[str, Any]]
    """The newest runs that fit."""
    known: int
    """All runs of the folder."""
    unread: int
    """Runs whose logs were not read yet, so that it is not known whether they fit."""


@dataclass(frozen=True, slots=True)
class _CatalogRow:
    changed: tuple[int, int]
    suites: str
    models: str
    open: bool
    endings: frozenset[str]
    """Those of `ENDINGS` that fit it once it is not under way."""
    text: bytes
    """The entry as JSON: a tenth of what it takes as objects."""

    def can_match(self, suite: str, model: str, result: str) -> bool:
        """Return whether it may be asked for; texts are in small letters."""
        named = suite in self.suites and model in self.models
        return named and (not result or self.open or result in self.endings)


class Catalog:
    """The runs below one folder."""

    def __init__(self, runs: Path) -> None:
        """Begin with nothing read."""
        self._runs = runs
        self._listing = Listing(runs)
        self._rows: dict[str, _CatalogRow] = {}

    def find(
        self, wanted: RunFilter, limit: int, go_on: Callable[[], None] = lambda: None
    ) -> MatchingRuns:
        """Return the newest ``limit`` runs that fit.

        ``go_on`` is called before each run and each line that is read; what it raises ends the
        search.
        """
        # Of a copy: requests are answered in threads, and another one may add a row meanwhile.
        open_ones = [name for name, row in list(self._rows.items()) if row.open]
        names = self._listing.newest_first(open_ones)
        self._forget_missing(names)
        suite, model, result = wanted.suite.lower(), wanted.model.lower(), wanted.result
        found: list[dict[str, Any]] = []
        unread, logs, size = 0, 0, 0
        for run_id in names:
            if len(found) >= limit:
                break
            go_on()
            row = self._rows.get(run_id)
            if (
                # What cannot fit is passed over by the facts of the last look: no file is touched
                # for it.
                row is not None
                and not row.can_match(suite, model, result)
                and self._is_current(run_id, row)
            ):
                continue
            facts = self._listing.refresh_facts(run_id)
            if facts is None:
                continue
            row = self._find_known(run_id, facts)
            # Once the limit is reached, the rest is only counted: the page asks again, and goes on
            # there.
            if row is None and logs < MOST_READ and size < MOST_BYTES:
                logs, size = logs + 1, size + facts.st_size
                row = self._read_row(run_id, facts, go_on)
            if row is None:
                unread += 1
            elif (entry := self._select_entry(run_id, row, wanted)) is not None:
                found.append(entry)
        return MatchingRuns(found, len(names), unread)

    def _is_current(self, run_id: str, row: _CatalogRow) -> bool:
        facts = self._listing.get_facts(run_id)
        return facts is not None and row.changed == _get_change_mark(facts)

    def _find_known(self, run_id: str, facts: os.stat_result) -> _CatalogRow | None:
        row = self._rows.get(run_id)
        if row is not None and row.changed == _get_change_mark(facts):
            return row
        view = find_view(log_path(run_id, self._runs))
        return None if view is None else self._store_row(run_id, facts, view.read_part("entry"))

    def _read_row(
        self, run_id: str, facts: os.stat_result, go_on: Callable[[], None]
    ) -> _CatalogRow | None:
        log = log_path(run_id, self._runs)
        try:
            entry = _read_entry(log, go_on)
        except FileNotFoundError:  # removed since it was listed
            return None
        return self._store_row(run_id, facts, entry)

    def _store_row(self, run_id: str, facts: os.stat_result, entry: dict[str, Any]) -> _CatalogRow:
        row = _CatalogRow(
            _get_change_mark(facts),
            _join_names(entry["suites"]),
            _join_names(entry["models"]),
            bool(entry.get("open")),
            frozenset(name for name, fits in ENDINGS.items() if fits(entry | _FINISHED)),
            json.dumps(entry).encode(),
        )
        self._rows[run_id] = row
        return row

    def _select_entry(
        self, run_id: str, row: _CatalogRow, wanted: RunFilter
    ) -> dict[str, Any] | None:
        if not row.can_match(wanted.suite.lower(), wanted.model.lower(), wanted.result):
            return None
        entry: dict[str, Any] = json.loads(row.text)
        try:
            # Only a log without an end can be under way: of all others the file need not be opened.
            running = row.open and being_written(log_path(run_id, self._runs))
        except OSError:
            return None
        entry["state"] = "running" if running else "finished"
        return entry if not wanted.result or ENDINGS[wanted.result](entry) else None

    def _forget_missing(self, names: list[str]) -> None:
        # As long as there are no more rows than runs, a row of a removed run does no harm: it is
        # not asked for.
        if len(self._rows) > len(names):
            present = set(names)
            self._rows = {name: row for name, row in self._rows.items() if name in present}


def _read_entry(log: Path, go_on: Callable[[], None]) -> dict[str, Any]:
    """Read ``log``; of one that has ended its store is made, so that it is not read again."""
    if not being_written(log):
        with suppress(HarnessError):  # it is damaged, or there is no room: `read_entry` says so
            entry: dict[str, Any] = ensure_view(log, lambda _: go_on()).read_part("entry")
            return entry
    return read_entry(log, go_on)


def _get_change_mark(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_mtime_ns, facts.st_size


def _join_names(names: list[str]) -> str:
    # Between names stands what nobody types: what is searched for must lie within one name.
    return "\0".join(names).lower()
