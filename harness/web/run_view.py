"""A whole run as its page shows it, made from the log once and kept beside it (`run_index`).

``view.json`` is ``{"done", "ended", "summary", "grid"}``; ``settled.json`` has the lines of results
that differ from what the log says of them, since the results of others decided on them.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.viewer.grid import grid
from harness.runlog import RunLog, TrialLine, being_written, read_log
from harness.runlog.lines import dumped, parsed
from harness.types import Report, TrialResult
from harness.web.history import entry_of_report
from harness.web.results import summary
from harness.web.run_index import kept_size, read_kept, write_index, write_kept

VIEW = "view.json"
SETTLED = "settled.json"
WORTH_KEEPING = 1_000_000
"""Bytes of a log from which on its view is kept when its run ends; a smaller one opens at once."""
_MAKING = threading.Lock()
"""Views are made one at a time: several of large logs at once would take all memory."""


def kept_view(log: Path, facts: os.stat_result) -> bytes | None:
    """Return the view of ``log``, whose file has these ``facts``, as JSON; ``None``: make it."""
    return read_kept(log, VIEW, facts)


def view_size(log: Path, facts: os.stat_result) -> int | None:
    """Return the bytes of what `kept_view` returns, without reading them; ``None``: make it."""
    return kept_size(log, VIEW, facts)


def keep_view(log: RunLog, report: Report) -> None:
    """Keep the view of a run that has just ended, so that nobody waits when it is first opened.

    ``report`` is that of ``log``. It is left to whoever opens the run if the log is small, is not
    as it was read, or was judged by people.
    """
    if log.by_people:
        return
    try:
        facts = log.path.stat()
        if facts.st_size == log.size >= WORTH_KEEPING and not being_written(log.path):
            _keep(log, report, facts)
    except OSError:  # the log is gone
        return


def run_view(log: Path, read_to: Callable[[int], None] = lambda _: None) -> bytes:
    """Return the view of ``log`` as JSON; it is made and kept if there is none that holds.

    ``read_to`` is told how many bytes of the log have been read.

    Raises:
        InvalidInput: the log cannot be read.
        OSError: it is gone.
    """
    with _MAKING:
        facts = log.stat()
        kept = kept_view(log, facts)
        if kept is None or read_kept(log, SETTLED, facts) is None:
            read = read_log(log, read_to)
            kept = _keep(read, build_report(read), facts)
        return kept


def settled_at(log: Path, offset: int) -> TrialResult | None:
    """Return the result of the trial at ``offset`` of ``log``, if it was decided later.

    ``None``: what the log says of it holds, or the run goes on. If the log has changed since its
    view was made, by a review for example, the view is made anew.

    Raises:
        InvalidInput: the log cannot be read.
        OSError: it is gone.
    """
    if being_written(log):
        return None
    kept = read_kept(log, SETTLED, log.stat())
    if kept is None:
        run_view(log)
        kept = read_kept(log, SETTLED, log.stat())
    raw = json.loads(kept or "{}").get(str(offset))
    line = None if raw is None else parsed(raw.encode())
    return line.run if isinstance(line, TrialLine) else None


def _keep(log: RunLog, report: Report, facts: os.stat_result) -> bytes:
    view = _view(log, report)
    write_kept(log.path, SETTLED, facts, json.dumps(_settled(log, report)).encode())
    # The list of runs need not read the log, either.
    write_index(log.path, facts, entry_of_report(log, report))
    # The view comes last: where it stands, nobody reads the log for any of the others.
    write_kept(log.path, VIEW, facts, view)
    return view


def _view(log: RunLog, report: Report) -> bytes:
    body: dict[str, Any] = {
        "done": len(log.results),
        "ended": log.footer is not None,
        "summary": summary(log, report),
        "grid": grid(report, log),
    }
    return json.dumps(body).encode()


def _settled(log: RunLog, report: Report) -> dict[int, str]:
    logged = {one.key: one for one in log.results}
    return {
        log.offset(one.key): dumped(TrialLine(run=one))
        for one in report.results
        if one != logged.get(one.key, one)
    }
