"""All runs of a folder, in memory: each has one small row until its log changes.

A row comes from the store beside the log, or from the log itself. One request reads only some logs
that have no store yet: the answer says how many are left, and asking again goes on.

A look at a log takes a few microseconds, and longer on a busy machine. Runs that may change are
looked at each time: new ones and open ones. Of the others, `LOOKS` are looked at in turn; whoever
shows one looks at it first (`Listing.refresh_facts`). So a folder of up to `LOOKS` runs is never
out of date, and in a larger one a finished run whose log is changed by another program is found
after a few requests.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from harness.base import HarnessError, InvalidInput
from harness.reports import build_entry, build_report, build_summary, clean_json
from harness.runlog import (
    RunLog,
    being_written,
    list_names,
    log_path,
    read_log,
    sort_runs,
    stat_log,
)
from harness.types import dataclass
from harness.web.labels import read_label
from harness.web.run_view import ensure_view, find_view

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
        if (before and before.st_mtime_ns) != (facts and facts.st_mtime_ns):
            self._newest = None
        return facts

    def get_facts(self, name: str) -> os.stat_result | None:
        """Return the facts of the run's log as they were at the last look."""
        return self._facts.get(name)


MOST = 500
"""Most runs in one request."""


def find_run(run_id: str, runs: Path) -> Path | None:
    """Return the log of exactly that run; names with a path are unknown."""
    plain = run_id and run_id[0] != "." and not {*run_id} & {*"/\\\0"}
    path = log_path(run_id, runs)
    try:
        return path if plain and has_begun(path) else None
    except (OSError, ValueError):  # too long, or in no encoding: no file has such a name
        return None


def require_log(run_id: str, runs: Path) -> Path:
    """Return the log of exactly that run.

    Raises:
        HTTPException: there is none.
    """
    path = find_run(run_id, runs)
    if path is None:
        raise HTTPException(404, "There is no such run, or it has no log.")
    return path


def has_begun(path: Path) -> bool:
    """Return whether the log has a header, which is written shortly after the file is created."""
    return path.is_file() and path.stat().st_size > 0


def get_state(log: RunLog) -> str:
    """Return ``running``, or ``finished`` for a run that has ended or was killed."""
    return "running" if log.footer is None and being_written(log.path) else "finished"


def read_entry(path: Path, go_on: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return what the list of runs says of the log at ``path``, all but its state.

    ``go_on`` is called after each line; what it raises ends the reading.

    Raises:
        FileNotFoundError: it is gone.
    """
    try:
        log = read_log(path, lambda _: go_on())
    # It is an `OSError`, too, and must not become an entry of a run that is no longer there.
    except FileNotFoundError:
        raise
    except (InvalidInput, OSError) as error:
        return {
            "id": path.parent.name,
            "error": clean_json(str(error)),
            "suites": [],
            "models": [],
            "result": "unreadable",
        }
    report = build_report(log)
    return build_entry(log, report, build_summary(log, report))


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
    label: str = ""
    """Part of the name or of a tag that people gave it."""


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

    def can_match(self, wanted: RunFilter) -> bool:
        """Return whether it may be asked for."""
        named = wanted.suite.lower() in self.suites and wanted.model.lower() in self.models
        return named and (not wanted.result or self.open or wanted.result in self.endings)


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
                row is not None and not row.can_match(wanted) and self._is_current(run_id, row)
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
        if not row.can_match(wanted):
            return None
        # Not part of the row: people label a run whose log stays as it is.
        label = read_label(log_path(run_id, self._runs))
        if not label.fits(wanted.label):
            return None
        entry: dict[str, Any] = json.loads(row.text) | {"label": label.as_json()}
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
