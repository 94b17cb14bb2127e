"""A whole run as its page shows it, made from the log once and kept beside it (`view`).

The list of runs has its entry from there as well (`run_index`). A view is made in one go, put in
its place whole, and brought up to date when people have reviewed the run.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.base import HarnessError
from harness.reports import build_report, review_words
from harness.runlog import RunLog, TrialLine, being_written, parse_line, read_log
from harness.types import Report, TrialResult
from harness.web.results import encode_reviews
from harness.web.run_index import write_index
from harness.web.view.reviews import read_reviews, write_with_reviews
from harness.web.view.tables import NAME, RunView, is_view_current
from harness.web.view.view_writer import write_view

VIEW = NAME
"""The file, beside the log."""
WORTH_KEEPING = 1_000_000
"""Bytes of a log from which on its view is kept when its run ends; a smaller one opens at once."""
_MAKING = threading.Lock()
"""Views are made one at a time: several of large logs at once would take all memory."""
_PASSING: OrderedDict[Path, tempfile.TemporaryDirectory[str]] = OrderedDict()
"""Views of logs in folders that cannot be written; they go with this process."""
_MOST_PASSING = 4


def find_view(log: Path, facts: os.stat_result) -> RunView | None:
    """Return the view of ``log``, whose file has these ``facts``; ``None``: make it."""
    for place in _list_places(log):
        if is_view_current(place, facts):
            return RunView(place)
    return None


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
            _write_view(log, report, facts, log.path.with_name(VIEW))
    except (OSError, sqlite3.OperationalError):  # the log is gone, or there is no room
        return


def ensure_view(log: Path, read_to: Callable[[int], None] = lambda _: None) -> RunView:
    """Return the view of ``log``; it is made and kept if there is none that holds.

    ``read_to`` is told how many bytes of the log have been read.

    Raises:
        InvalidInput: the log cannot be read.
        HarnessError: there is no room for the view.
        OSError: the log is gone.
    """
    kept = find_view(log, log.stat())
    if kept is not None:
        return kept
    with _MAKING:
        facts = log.stat()
        kept = find_view(log, facts) or _update_reviews(log, facts)
        if kept is not None:
            return kept
        read = read_log(log, read_to)
        report = build_report(read)
        for place in (log.with_name(VIEW), _get_temporary_place(log)):
            try:
                return _write_view(read, report, facts, place)
            except (OSError, sqlite3.OperationalError) as error:
                lacking = error
        raise HarnessError(f"the view of {log} cannot be written: {lacking}") from lacking


def build_view_summary(view: RunView) -> dict[str, Any]:
    """Return the summary of the run, with what people said of its verdicts by now."""
    found: dict[str, Any] = view.read_part("summary")
    reviews = read_reviews(view)
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
    if being_written(log):
        return None
    raw = ensure_view(log).read_settled(offset)
    line = None if raw is None else parse_line(raw.encode())
    return line.run if isinstance(line, TrialLine) else None


def _write_view(log: RunLog, report: Report, facts: os.stat_result, place: Path) -> RunView:
    draft = _name_draft(place)
    try:
        write_view(draft, log, report, facts)
        _install_draft(draft, place, log.path, facts)
    finally:
        draft.unlink(missing_ok=True)
    return RunView(place)


def _update_reviews(log: Path, facts: os.stat_result) -> RunView | None:
    """Return the view of ``log`` if all that it lacks are reviews, which it then has."""
    for place in _list_places(log):
        draft = _name_draft(place)
        try:
            with suppress(OSError, sqlite3.Error):
                if write_with_reviews(place, draft, log, facts):
                    _install_draft(draft, place, log, facts)
                    return RunView(place)
        finally:
            draft.unlink(missing_ok=True)
    return None


def _install_draft(draft: Path, place: Path, log: Path, facts: os.stat_result) -> None:
    # The list of runs need not read the log, either. The view comes last: where it stands, nobody
    # reads the log for any of this.
    write_index(log, facts, RunView(draft).read_part("entry"))
    draft.replace(place)


def _name_draft(place: Path) -> Path:
    return place.with_name(f".{VIEW}.{os.getpid()}.{os.urandom(4).hex()}")


def _list_places(log: Path) -> tuple[Path, ...]:
    passing = _PASSING.get(log)
    return (log.with_name(VIEW), *([Path(passing.name, VIEW)] if passing else []))


def _get_temporary_place(log: Path) -> Path:
    """Return a place for the view of ``log`` that lasts as long as this process."""
    if log not in _PASSING:
        _PASSING[log] = tempfile.TemporaryDirectory(prefix="harness-view-")
        while len(_PASSING) > _MOST_PASSING:
            _PASSING.popitem(last=False)[1].cleanup()
    return Path(_PASSING[log].name, VIEW)
