"""A whole run as its page shows it, made from the log once and kept beside it (`run_index`).

What is kept is JSON: ``{"done", "ended", "summary", "grid"}``, before it a line with the results
that differ from what the log says of them, since the results of others decided on them.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.viewer.grid import grid
from harness.runlog import TrialLine, read_log
from harness.runlog.lines import dumped, parsed
from harness.types import TrialResult
from harness.web.history import entry_of_report
from harness.web.results import summary
from harness.web.run_index import read_kept, write_index, write_kept

NAME = "view.json"
_MAKING = threading.Lock()
"""Views are made one at a time: several of large logs at once would take all memory."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it is kept."""

    body: bytes
    """``{"done", "ended", "summary", "grid"}`` as JSON."""
    settled: dict[int, bytes]
    """Where in the log a trial is → its line with the result that was decided later."""

    def result_at(self, offset: int) -> TrialResult | None:
        """Return the settled result of the trial at ``offset``, if the log has another one."""
        raw = self.settled.get(offset)
        line = None if raw is None else parsed(raw)
        return line.run if isinstance(line, TrialLine) else None


def kept_view(log: Path, facts: os.stat_result) -> RunView | None:
    """Return what is kept of ``log``, whose file has these ``facts``; ``None``: make it."""
    kept = read_kept(log, NAME, facts)
    try:
        return None if kept is None else _read(kept)
    except ValueError:
        return None


def run_view(log: Path) -> RunView:
    """Return the view of ``log``; it is made and kept if there is none that holds.

    Raises:
        InvalidInput: the log cannot be read.
        OSError: it is gone.
    """
    with _MAKING:
        facts = log.stat()
        found = kept_view(log, facts)
        if found is None:
            kept, entry = _made(log)
            write_kept(log, NAME, facts, kept)
            write_index(log, facts, entry)  # the list of runs need not read the log, either
            found = _read(kept)
        return found


class Settled:
    """The settled results of the logs that were looked at lately."""

    MOST = 32

    def __init__(self) -> None:
        """Begin with none."""
        self._known: OrderedDict[tuple[Path, int, int], RunView] = OrderedDict()

    def at(self, log: Path, offset: int) -> TrialResult | None:
        """Return the settled result of the trial at ``offset``, where a view of ``log`` has one."""
        facts = log.stat()
        place = log, facts.st_size, facts.st_mtime_ns
        known = self._known.pop(place, None)
        if known is None:
            view = kept_view(log, facts)
            if view is None:
                return None
            known = RunView(b"", view.settled)
        self._known[place] = known
        while len(self._known) > self.MOST:
            self._known.popitem(last=False)
        return known.result_at(offset)


def _made(path: Path) -> tuple[bytes, dict[str, Any]]:
    """Return the view of the log at ``path``, and what the list of runs says of it."""
    log = read_log(path)
    report = build_report(log)
    logged = {one.key: one for one in log.results}
    settled = {
        log.offset(one.key): dumped(TrialLine(run=one))
        for one in report.results
        if one != logged.get(one.key, one)
    }
    body = {
        "done": len(log.results),
        "ended": log.footer is not None,
        "summary": summary(log, report),
        "grid": grid(report, log),
    }
    kept = json.dumps(settled).encode() + b"\n" + json.dumps(body).encode()
    return kept, entry_of_report(log, report)


def _read(kept: bytes) -> RunView:
    settled, body = kept.split(b"\n", 1)
    return RunView(body, {int(at): line.encode() for at, line in json.loads(settled).items()})
