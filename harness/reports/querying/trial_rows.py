"""The table of trials, and that of their checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.reports.querying.columns import Column, Table
from harness.reports.record_fields import CONVERSATION_FIELDS, RECORD_FIELDS, RecordField
from harness.reports.trial_record import TrialRecord
from harness.types import CheckResult


@dataclass(frozen=True, slots=True)
class TrialRow:
    """What a row of `TRIALS` is made from."""

    trial_id: int
    """Where in the log its line begins; below 0 for one without a line."""
    record: TrialRecord
    """Its record."""


def _build_column(field: RecordField) -> Column[TrialRow]:
    """Return the column of a field of the record."""
    return Column(
        field.name,
        field.kind,
        f"{field.doc} In {field.unit}." if field.unit else field.doc,
        lambda one: one.record.read(field.name),
        judged=field.name not in CONVERSATION_FIELDS,
    )


TRIAL_ID: Column[Any] = Column(
    "trial_id",
    "INTEGER",
    "Id of the trial: the position of its line in the log, in bytes.",
    lambda one: one.trial_id,
)

TRIALS: Table[TrialRow] = Table(
    "trials",
    "A trial: one run of a case with a model.",
    (TRIAL_ID, *map(_build_column, RECORD_FIELDS)),
    keys=("trial_id", "key"),
)

_DOCS = {field.name: field.doc for field in RECORD_FIELDS}


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What a row of `CHECKS` is made from."""

    trial_id: int
    """As in `TRIALS`."""
    n: int
    """Its place, from 1."""
    check: CheckResult
    """The check's result."""


CHECKS: Table[CheckRow] = Table(
    "checks",
    "A check of a trial.",
    (
        TRIAL_ID,
        Column("n", "INTEGER", "Number of the check in the trial, from 1.", lambda one: one.n),
        Column("kind", "TEXT", "must_call, answer_contains …", lambda one: one.check.kind),
        Column("label", "TEXT", "The check in a few words.", lambda one: one.check.label),
        Column("verdict", "TEXT", "passed, failed, not_judged.", lambda one: one.check.verdict),
        Column(
            "severity",
            "TEXT",
            "fail, or warn; a warning does not change the verdict.",
            lambda one: one.check.severity,
        ),
        Column(
            "score",
            "REAL",
            "Score from 0 to 1, if the check gives one.",
            lambda one: one.check.score,
        ),
        Column(
            "explanation",
            "TEXT",
            "Explanation of the verdict.",
            lambda one: one.check.explanation or None,
        ),
        Column("hint", "TEXT", "A remedy that usually helps.", lambda one: one.check.hint),
        Column("code", "TEXT", "The check's code for the reason.", lambda one: one.check.code),
        Column("expected", "JSON", "The expected value.", lambda one: one.check.expected),
        Column("actual", "JSON", "The value that was found.", lambda one: one.check.actual),
        Column(
            "turn",
            "INTEGER",
            "The turn that the check belongs to, from 1.",
            lambda one: one.check.turn,
        ),
        Column("attempted", "BOOLEAN", _DOCS["attempted"], lambda one: one.check.attempted),
        Column(
            "reached_server",
            "BOOLEAN",
            _DOCS["reached_server"],
            lambda one: one.check.reached_server,
        ),
        Column("executed", "BOOLEAN", _DOCS["executed"], lambda one: one.check.executed),
        Column(
            "line_crossed", "BOOLEAN", _DOCS["line_crossed"], lambda one: one.check.line_crossed
        ),
        Column(
            "line",
            "INTEGER",
            "The line of the check in the suite.",
            lambda one: one.check.at and one.check.at.line,
        ),
    ),
    keys=("trial_id",),
)
