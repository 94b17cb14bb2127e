"""The trials of a run that people review: from its log, or from the index of a large one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.judging import KnownStatus, judge_log
from harness.reports.querying.columns import ENTRANT
from harness.reports.querying.index import (
    IndexNotWritten,
    ignore_progress,
    is_worth_indexing,
    open_database,
    open_log_index,
    read_index_facts,
)
from harness.reports.querying.store_access import read_reviews
from harness.runlog import being_written, read_log
from harness.types import Review, Status, dataclass

_TRIALS = (
    f'SELECT key, suite, "case", {ENTRANT}, trial, repeats, status'  # noqa: S608 - our own names
    ' FROM "trials" JOIN "_places" USING (trial_id) WHERE trial_id >= 0 AND {} '
    "ORDER BY suite_at, case_at, model_at, repeat, first_at"
)
_CALLED = _TRIALS.format("""? IN ("case", suite || '::' || "case")""")
_LISTED = _TRIALS.format("key IN (SELECT value FROM json_each(?))")


@dataclass(frozen=True, slots=True)
class ReviewedTrial:
    """A trial, by what a person names it."""

    key: str
    """`TrialResult.key`."""
    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    entrant: str
    """Name of the entrant."""
    number: int
    """Number of the repeat, from 1."""
    repeats: int
    """Number of planned repeats."""
    status: Status
    """The final status, by the machine."""

    def __str__(self) -> str:
        """Return it in words."""
        trial = f", trial {self.number}" if self.repeats > 1 else ""
        return f"{self.suite}::{self.case} with {self.entrant}{trial}"

    def is_called(self, case: str) -> bool:
        """Whether ``case`` is its case: ``CASE``, or ``SUITE::CASE``."""
        return case in {self.case, f"{self.suite}::{self.case}"}


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A run that people review: of its trials those that are named, and those that were reviewed.

    All others are left where they are, so that a run of a million trials takes no more memory than
    one of ten.
    """

    log: Path
    """Its log."""
    called: tuple[ReviewedTrial, ...]
    """The trials of the case that a person names, in the order of reports."""
    case_names: tuple[str, ...]
    """The names of all its cases, if it has none that is called so."""
    listed: tuple[ReviewedTrial, ...]
    """Those, and the trials that people have said something of, in the order of reports."""
    said: Mapping[str, Review]
    """What they said, by the key of the trial."""
    size: int
    """Bytes of the log that were read."""
    complaints: tuple[str, ...] = ()
    """Sentences for the user about damaged lines."""

    def get_status(self, trial: ReviewedTrial) -> KnownStatus:
        """Return the status of ``trial`` and what it is known from."""
        return KnownStatus(status=trial.status, size=self.size)

    def add_review(self, trial: ReviewedTrial, review: Review) -> ReviewedRun:
        """Return the run with a review that has been added to its log."""
        return replace(self, said={**self.said, trial.key: review})


def reviewed_run(
    log: Path, case: str | None = None, read_to: Callable[[int], None] = ignore_progress
) -> ReviewedRun:
    """Return the run in ``log``; a large one is read from its index, which is made if need be.

    ``case`` is that of `ReviewedRun.called`: ``CASE``, or ``SUITE::CASE``. ``read_to`` is told how
    many bytes of the log have been read for its index.

    Raises:
        InvalidInput: the file is not a run log.
    """
    if is_worth_indexing(log) and not being_written(log):
        with suppress(IndexNotWritten):
            return _read_by_index(log, case, read_to)
    whole = read_log(log)
    trials = [
        ReviewedTrial(
            result.key,
            result.suite,
            result.case.name,
            result.entrant,
            result.trial,
            result.repeats,
            result.status,
        )
        for result in judge_log(whole).results
    ]
    called = tuple(one for one in trials if case is not None and one.is_called(case))
    return ReviewedRun(
        log,
        called,
        () if called else tuple(sorted({one.case for one in trials})),
        tuple(one for one in trials if one in called or one.key in whole.reviews),
        whole.reviews,
        whole.size,
        whole.complaints,
    )


def _read_by_index(log: Path, case: str | None, read_to: Callable[[int], None]) -> ReviewedRun:
    # Before it is read: if the log grows meanwhile, its size shows that a status may have changed.
    size = log.stat().st_size
    with (
        open_log_index(log, read_to) as index,
        open_database(index) as db,
    ):
        said = read_reviews(db)
        called = tuple(_read_trials(db, _CALLED, case))
        # Of `_compared`, which has a row for a case and not for a trial.
        names = db.execute('SELECT DISTINCT "case" FROM "_compared" ORDER BY 1')
        return ReviewedRun(
            log,
            called,
            () if called else tuple(name for (name,) in names),
            tuple(_read_trials(db, _LISTED, json.dumps([*said, *(one.key for one in called)]))),
            said,
            size,
            tuple(read_index_facts(index, log)[1]),
        )


def _read_trials(db: sqlite3.Connection, which: str, value: str | None) -> Iterator[ReviewedTrial]:
    return (ReviewedTrial(*row) for row in db.execute(which, (value,)))
