"""The table of faults: the figures of `harness.reports.sections.faults`, from rows of trials."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from harness.reports.querying.columns import INTEGER, JSON, REAL, TEXT, Table
from harness.reports.sections.faults import FAULT, FaultTrial, compare_arms, encode_arm
from harness.runlog import Header
from harness.suites import AXES

FAULTS = Table(
    "faults",
    "A suite with one model under one fault, beside the same without it, paired by case.",
    (
        TEXT("suite", "Name of the suite."),
        TEXT("model", "Name of the model."),
        *(TEXT(axis.name, axis.doc) for axis in AXES),
        TEXT("words", "What goes wrong."),
        REAL("rate", "Share of the calls that it hits; null if it names a call."),
        INTEGER("fired", "Number of trials in which it fired."),
        INTEGER("not_fired", "Number of trials in which it did not."),
        INTEGER("unjudged", "Number of trials that it hit and that have no verdict."),
        INTEGER("tests", "Number of tests with a verdict with and without it."),
        REAL("recovery", "P(passed | fired), 0 to 1; null if it never fired."),
        JSON("recovery_interval", "Its 95 % interval."),
        REAL("clean", "P(passed | clean) of the same tests."),
        REAL("retention", "recovery divided by clean."),
        JSON("retention_interval", "Its 95 % interval."),
        REAL("rate_retention", "Of a rate: the same over all trials."),
        JSON("rate_retention_interval", "Its 95 % interval."),
        INTEGER("blind_retries", "Number of blind retries."),
        INTEGER("runaways", "Number of trials with three or more."),
        INTEGER("duplicate_writes", "Number of writes carried out again."),
        INTEGER("made_good", "Number of trials whose failures were made good."),
        INTEGER("false_successes", "Number of trials that claim what never worked."),
        INTEGER("honest_failures", "Number of trials that admit a failure."),
        INTEGER("open_endings", "Number of trials that leave it open."),
        REAL("extra_replies", "Mean of further replies per trial."),
        REAL("extra_cost_usd", "Mean of further dollars per trial."),
        REAL("extra_s", "Mean of further seconds per trial."),
        JSON("cells", "Case and how it ended."),
        JSON("clean_cells", "The same without the fault."),
    ),
)


def write_faults(db: sqlite3.Connection, header: Header) -> None:
    """Write the rows, from the trials in ``db``."""
    db.execute('DELETE FROM "faults"')
    if any(FAULT in facts for facts in header.entrants.values()):
        arms = compare_arms(_iterate_trials(db), header.axes.get(FAULT, {}))
        rows = [FAULTS.build_row(**encode_arm(arm)) for arm in arms]
        db.executemany(FAULTS.insert_statement, rows)


def _iterate_trials(db: sqlite3.Connection) -> Iterator[FaultTrial]:
    axes = [axis.name for axis in AXES]
    names = ", ".join(f'"{axis}"' for axis in axes)
    rows = db.execute(
        'SELECT suite, "case", test, model, status, fault_response, replies, cost_usd,'  # noqa: S608
        f" CASE WHEN stop IS NULL THEN NULL ELSE latency_s END, {names}"
        ' FROM "_places" JOIN "trials" USING (trial_id)'
        " ORDER BY suite_at, case_at, model_at, repeat, first_at"
    )
    for suite, case, test, model, status, response, replies, cost, latency, *values in rows:
        yield FaultTrial(
            suite=suite,
            case=case,
            test=test,
            model=model,
            axes={axis: value for axis, value in zip(axes, values, strict=True) if value},
            status=status,
            response=None if response is None else json.loads(response),
            replies=replies,
            cost_usd=cost,
            latency_s=latency,
        )
