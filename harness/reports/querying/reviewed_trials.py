"""The trials of a run that people review: from its log, or from the index of a large one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
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
from harness.runlog import being_written, read_log, read_reviews
from harness.types import Review, Status, dataclass

_TRIALS = (
    f'SELECT key, suite, "case", {ENTRANT}, trial, repeats, status'  # noqa: S608 - our own names
    ' FROM "trials" JOIN "_places" USING (trial_id) WHERE trial_id >= 0'
    " ORDER BY suite_at, case_at, model_at, repeat, first_at"
)


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
    """A run that people review."""

    log: Path
    """Its log."""
    trials: tuple[ReviewedTrial, ...]
    """The trials that a person may name, in the order of reports."""
    size: int
    """Bytes of the log that were read."""
    complaints: tuple[str, ...] = ()
    """Sentences for the user about damaged lines."""

    def get_status(self, trial: ReviewedTrial) -> KnownStatus:
        """Return the status of ``trial`` and what it is known from."""
        return KnownStatus(status=trial.status, size=self.size)

    def reviews(self) -> Mapping[str, Review]:
        """Return what people have said by now, by the key of the trial."""
        known = {trial.key for trial in self.trials}
        return {key: review for key, review in read_reviews(self.log).items() if key in known}


def reviewed_run(log: Path, read_to: Callable[[int], None] = ignore_progress) -> ReviewedRun:
    """Return the run in ``log``; a large one is read from its index, which is made if need be.

    ``read_to`` is told how many bytes of the log have been read for its index.

    Raises:
        InvalidInput: the file is not a run log.
    """
    if is_worth_indexing(log) and not being_written(log):
        with suppress(IndexNotWritten):
            return _read_by_index(log, read_to)
    whole = read_log(log)
    trials = (
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
    )
    return ReviewedRun(log, tuple(trials), whole.size, whole.complaints)


def _read_by_index(log: Path, read_to: Callable[[int], None]) -> ReviewedRun:
    # Before it is read: if the log grows meanwhile, its size shows that a status may have changed.
    size = log.stat().st_size
    with (
        open_log_index(log, read_to) as index,
        open_database(index) as db,
    ):
        rows = db.execute(_TRIALS)
        trials = tuple(ReviewedTrial(*row) for row in rows)
        return ReviewedRun(log, trials, size, tuple(read_index_facts(index, log)[1]))
