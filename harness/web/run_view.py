"""A whole run as its page shows it, from the store beside its log.

The list of runs has its entry from there as well.
"""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.base import HarnessError
from harness.reports import (
    STORE,
    IndexNotWritten,
    build_report,
    has_current_page,
    make_store,
    review_words,
)
from harness.runlog import RunLog, TrialLine, being_written, parse_line, read_log
from harness.types import Report, TrialResult
from harness.web.results import encode_reviews
from harness.web.view.tables import RunView
from harness.web.view.view_writer import write_view

_MAKING = threading.Lock()
"""Views are made one at a time: several of large logs at once would take all memory."""
_PASSING: OrderedDict[Path, tempfile.TemporaryDirectory[str]] = OrderedDict()
"""Views of logs in folders that cannot be written; they go with this process."""
_MOST_PASSING = 4


def find_view(log: Path) -> RunView | None:
    """Return the view of ``log`` as it is now; ``None``: make it."""
    return next(
        (RunView(place) for place in _list_places(log) if has_current_page(place, log)), None
    )


def keep_view(log: RunLog, report: Report) -> None:
    """Keep the store of a run that has just ended, so that nobody waits when it is first opened.

    ``report`` is that of ``log``. It is left to whoever opens the run if the log is not as it was
    read, or was judged by people.
    """
    if log.by_people:
        return
    # the log is gone, or there is no room
    with suppress(OSError, HarnessError):
        # Otherwise the view would be that of a log that there is no longer.
        if log.path.stat().st_size == log.size and not being_written(log.path):
            make_store(
                log.path, log.path.with_name(STORE), add_page=lambda db: write_view(db, log, report)
            )


def ensure_view(log: Path, read_to: Callable[[int], None] = lambda _: None) -> RunView:
    """Return the view of ``log``; it is made and kept if there is none that holds.

    ``read_to`` is told how many bytes of the log have been read.

    Raises:
        InvalidInput: the log cannot be read.
        HarnessError: there is no room for the view.
        OSError: the log is gone.
    """

    def add_page(db: sqlite3.Connection) -> None:
        # Only called if the store is not there yet: somebody may have made it while this one
        # waited.
        read = read_log(log)
        write_view(db, read, build_report(read))

    kept = find_view(log)
    if kept is not None:
        return kept
    with _MAKING:
        # A log that is gone is told as such, and not as a store that cannot be written.
        log.stat()
        # Beside the log it outlives this process; elsewhere it is made only where that fails.
        for place in (log.with_name(STORE), _get_temporary_place(log)):
            try:
                return RunView(make_store(log, place, read_to, add_page))
            except (OSError, IndexNotWritten) as error:
                lacking = error
        raise HarnessError(f"the view of {log} cannot be written: {lacking}") from lacking


def build_view_summary(view: RunView) -> dict[str, Any]:
    """Return the summary of the run, with what people said of its verdicts by now."""
    found: dict[str, Any] = view.read_part("summary")
    reviews = view.read_reviews()
    words = review_words(reviews.values())
    lines = [*found["call_lines"], *([words] if words else [])]
    return {**found, "call_lines": lines, "reviews": encode_reviews(reviews)}


def find_settled(log: Path, offset: int) -> TrialResult | None:
    """Return the result of the trial at ``offset`` of ``log``, if it was decided later.

    ``None``: what the log says of it holds, or the run goes on. If the log has changed since its
    view was made, the view is made anew.

    Raises:
        InvalidInput: the log cannot be read.
        OSError: it is gone.
    """
    # Others may still change what is decided later, and a view would not hold.
    if being_written(log):
        return None
    raw = ensure_view(log).read_settled(offset)
    line = None if raw is None else parse_line(raw.encode())
    return line.run if isinstance(line, TrialLine) else None


def _list_places(log: Path) -> tuple[Path, ...]:
    passing = _PASSING.get(log)
    return (log.with_name(STORE), *([Path(passing.name, STORE)] if passing else []))


def _get_temporary_place(log: Path) -> Path:
    """Return a place for the view of ``log`` that lasts as long as this process."""
    if log not in _PASSING:
        _PASSING[log] = tempfile.TemporaryDirectory(prefix="harness-store-")
        while len(_PASSING) > _MOST_PASSING:
            _PASSING.popitem(last=False)[1].cleanup()
    return Path(_PASSING[log].name, STORE)
