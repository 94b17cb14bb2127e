"""Facts of a trial that JSON, JSONL and CSV show under one name, from its result and the log.

To add one, add it here: everything that happened is in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.judging import FACTS, combine_facts
from harness.reports.sections.call_outcomes import format_mark
from harness.runlog import RunLog
from harness.suites import AXES
from harness.types import HELD_BACK, TrialResult

RESULT_FIELDS: Mapping[str, Callable[[TrialResult, RunLog], Any]] = {
    "mark": lambda result, _log: format_mark(result),
    **{
        name: lambda result, _log, name=name: combine_facts(result.checks)[name]  # type: ignore[misc]
        for name in FACTS
    },
    "review": lambda result, log: _get_review_part(result, log, "decision"),
    "reviewed_by": lambda result, log: _get_review_part(result, log, "by"),
    "review_note": lambda result, log: _get_review_part(result, log, "note"),
    "held_back": lambda result, _log: next(
        (check.actual for check in result.checks if check.kind == HELD_BACK), None
    ),
    "key": lambda result, _log: result.key,
}
"""Name → the value, as JSON has it; in CSV a column of that name, after the others."""


def _get_review_part(result: TrialResult, log: RunLog, part: str) -> str | None:
    """Return a part of a person's review of the trial; ``None`` if nobody has reviewed it."""
    review = log.reviews.get(result.key)
    return None if review is None else str(getattr(review, part))


def axis_fields(axes: Mapping[str, str]) -> dict[str, str | None]:
    """Return the value of each axis, as every output shows it; ``None`` is the default."""
    return {axis.name: axes.get(axis.name) for axis in AXES}


def result_fields(result: TrialResult, log: RunLog) -> dict[str, Any]:
    """Return every field of `RESULT_FIELDS` for ``result``, whose transcript ``log`` has."""
    return {name: value(result, log) for name, value in RESULT_FIELDS.items()}
