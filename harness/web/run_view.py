"""A whole run as its page shows it, from the store beside its log.

The list of runs has its entry from there as well.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.base import HarnessError
from harness.reports import (
    STORE,
    IndexNotWritten,
    encode_reviews,
    has_current_page,
    make_store,
    open_database,
    read_reviews,
    review_words,
)
from harness.runlog import TrialLine, being_written, parse_line
from harness.types import Review, TrialResult, dataclass

_MAKING = threading.Lock()
"""Views are made one at a time: several of large logs at once would take all memory."""
_PASSING: OrderedDict[Path, tempfile.TemporaryDirectory[str]] = OrderedDict()
"""Views of logs in folders that cannot be written; they go with this process."""
_MOST_PASSING = 4


@dataclass(frozen=True, slots=True)
class RunView:
    """What the page shows of a run."""

    path: Path
    """The store."""

    def open_database(self) -> closing[sqlite3.Connection]:
        """Give a connection that reads it."""
        return open_database(self.path)

    def read_part(self, name: str) -> Any:
        """Return the part ``name``, one of those that `write_page` writes."""
        with self.open_database() as db:
            ((body,),) = db.execute('SELECT body FROM "_parts" WHERE name = ?', (name,))
        return json.loads(body)

    def read_bodies(self) -> str:
        """Return all cells of the run, a JSON array; of a large run that is large, too."""
        with self.open_database() as db:
            found = db.execute('SELECT body FROM "_bodies" ORDER BY number')
            return f"[{','.join(body for (body,) in found)}]"

    def read_settled(self, at: int) -> str | None:
        """Return the line of the trial at ``at`` of the log as others decided it, if they did."""
        with self.open_database() as db:
            row = db.execute('SELECT line FROM "_settled" WHERE at = ?', (at,)).fetchone()
        return None if row is None else str(row[0])

    def read_reviews(self) -> Mapping[str, Review]:
        """Return what people said of the verdicts, by the key of the trial."""
        with self.open_database() as db:
            return read_reviews(db)


def find_view(log: Path) -> RunView | None:
    """Return the view of ``log`` as it is now; ``None``: make it."""
    return next(
        (RunView(place) for place in _list_places(log) if has_current_page(place, log)), None
    )


def ensure_view(log: Path, read_to: Callable[[int], None] = lambda _: None) -> RunView:
    """Return the view of ``log``; it is made and kept if there is none that holds.

    ``read_to`` is told how many bytes of the log have been read.

    Raises:
        InvalidInput: the log cannot be read.
        HarnessError: there is no room for the view.
        OSError: the log is gone.
    """
    kept = find_view(log)
    if kept is not None:
        return kept
    with _MAKING:
        # A log that is gone is told as such, and not as a store that cannot be written.
        log.stat()
        # Beside the log it outlives this process; elsewhere it is made only where that fails.
        for place in (log.with_name(STORE), _get_temporary_place(log)):
            try:
                return RunView(make_store(log, place, read_to, with_page=True))
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
