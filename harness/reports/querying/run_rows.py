"""Tables of a run as a whole: what it came to, its cases, what was found."""

from __future__ import annotations

from dataclasses import dataclass

from harness.reports.findings import ProbeFinding
from harness.reports.querying.axis_columns import axis_columns
from harness.reports.querying.columns import Column, Table
from harness.reports.sections.run_list import PastRun
from harness.reports.sections.sentences import PassRate
from harness.runlog import Header
from harness.types import CallCounts, CaseResult, Usage


@dataclass(frozen=True, slots=True)
class RunRow:
    """What the row of `RUNS` is made from."""

    header: Header
    """The log's header."""
    past: PastRun
    """The run as a whole, as `harness runs` lists it."""
    finished_at: str | None
    """When it ended; ``None`` without a footer."""
    rate: PassRate | None
    """Its pass rate; ``None`` if nothing has a verdict."""
    usage: Usage
    """What the models under test used."""
    judge_usage: Usage
    """What judges used."""
    user_usage: Usage
    """What the models that played users used."""
    calls: CallCounts
    """Tool calls by outcome."""
    log_bytes: int
    """Bytes of the log that were read."""


RUNS: Table[RunRow] = Table(
    "runs",
    "One row for the whole run, as in the JSON report (`summary` and the keys beside it).",
    (
        Column("suites", "JSON", "List of the names of its suites.", lambda one: one.past.suites),
        Column("models", "JSON", "List of the names of its models.", lambda one: one.past.models),
        Column("result", "TEXT", "The result in words.", lambda one: one.past.result),
        Column("exit_code", "INTEGER", "Exit code of its command.", lambda one: one.past.exit_code),
        Column(
            "reason",
            "TEXT",
            "The reason why it ended: complete, interrupted, budget, max-errors, fail-fast.",
            lambda one: one.past.reason,
        ),
        Column("started_at", "TEXT", "Start: UTC, ISO 8601.", lambda one: one.past.started_at),
        Column(
            "finished_at",
            "TEXT",
            "End: UTC, ISO 8601; null if the log has no end.",
            lambda one: one.finished_at,
        ),
        Column("elapsed_s", "REAL", "Seconds of wall time.", lambda one: one.past.elapsed_s),
        Column(
            "planned", "INTEGER", "Number of planned trials.", lambda one: one.past.counts.planned
        ),
        Column(
            "passed", "INTEGER", "Number of trials that passed.", lambda one: one.past.counts.passed
        ),
        Column(
            "failed", "INTEGER", "Number of trials that failed.", lambda one: one.past.counts.failed
        ),
        Column(
            "error",
            "INTEGER",
            "Number of trials that could not be judged.",
            lambda one: one.past.counts.error,
        ),
        Column(
            "skipped",
            "INTEGER",
            "Number of trials that were not started.",
            lambda one: one.past.counts.skipped,
        ),
        Column(
            "cancelled",
            "INTEGER",
            "Number of trials that were interrupted, or planned but not in the log.",
            lambda one: one.past.counts.cancelled,
        ),
        Column(
            "pass_rate",
            "REAL",
            "Mean of the cases' pass rates, 0 to 1; null with several models, or no verdict.",
            lambda one: None if one.rate is None else one.rate.rate,
        ),
        Column(
            "pass_rate_low",
            "REAL",
            "Lower end of its 95 % interval.",
            lambda one: None if one.rate is None else one.rate.low,
        ),
        Column(
            "pass_rate_high",
            "REAL",
            "Upper end of its 95 % interval.",
            lambda one: None if one.rate is None else one.rate.high,
        ),
        Column(
            "calls", "INTEGER", "Number of tool calls of the models.", lambda one: one.calls.total
        ),
        Column("calls_ok", "INTEGER", "Number of calls that succeeded.", lambda one: one.calls.ok),
        Column(
            "calls_denied",
            "INTEGER",
            "Number of calls that the server refused.",
            lambda one: one.calls.denied,
        ),
        Column(
            "calls_errors", "INTEGER", "Number of calls that failed.", lambda one: one.calls.errors
        ),
        Column(
            "calls_not_sent",
            "INTEGER",
            "Number of calls that harness did not send.",
            lambda one: one.calls.not_sent,
        ),
        Column("tokens_in", "INTEGER", "Input tokens.", lambda one: one.usage.input_tokens),
        Column("tokens_out", "INTEGER", "Output tokens.", lambda one: one.usage.output_tokens),
        Column(
            "cost_usd",
            "REAL",
            "Cost of the models in US dollars; null is unknown.",
            lambda one: one.usage.cost_usd,
        ),
        Column(
            "judge_cost_usd",
            "REAL",
            "Cost of the judges in US dollars.",
            lambda one: one.judge_usage.cost_usd,
        ),
        Column(
            "user_cost_usd",
            "REAL",
            "Cost of the simulated users' models in US dollars.",
            lambda one: one.user_usage.cost_usd,
        ),
        Column(
            "damaged",
            "JSON",
            "List of the unreadable lines of the log, one sentence for each.",
            lambda one: one.past.damaged,
        ),
        Column(
            "harness_version",
            "TEXT",
            "The version of harness that wrote the log.",
            lambda one: one.header.harness_version,
        ),
        Column(
            "settings",
            "JSON",
            "Trials, concurrency, budgets, selection.",
            lambda one: one.header.settings,
        ),
        Column("log_bytes", "INTEGER", "Size of the log in bytes.", lambda one: one.log_bytes),
    ),
)


def _get_case(case: CaseResult) -> CaseResult:
    return case


CASES: Table[CaseResult] = Table(
    "cases",
    "The verdict on one case with one model: an entry of `tests` in the JSON report.",
    (
        Column("suite", "TEXT", "Name of the suite.", lambda one: one.suite),
        Column("case", "TEXT", "Name of the case.", lambda one: one.case),
        Column("model", "TEXT", "Name of the model.", lambda one: one.model),
        *axis_columns(_get_case),
        Column(
            "status", "TEXT", "passed, failed, error, skipped, cancelled.", lambda one: one.status
        ),
        Column("passed", "INTEGER", "Number of trials that passed.", lambda one: one.passed_count),
        Column("planned", "INTEGER", "Number of planned trials.", lambda one: one.planned),
        Column(
            "pass_threshold",
            "REAL",
            "Share of the planned trials that must pass, 0 to 1.",
            lambda one: one.pass_threshold,
        ),
        Column(
            "identity",
            "TEXT",
            "Name of the identity, if the test runs as several identities.",
            lambda one: one.deciding_trial.case.identity,
        ),
        Column(
            "test",
            "TEXT",
            "Name of that test, without the identity.",
            lambda one: one.deciding_trial.case.group,
        ),
    ),
)

FINDINGS: Table[ProbeFinding] = Table(
    "findings",
    "A finding on a policy: a leak in a run, or any finding of a probe.",
    (
        Column(
            "problem", "TEXT", "Its kind: leak, unexpected, interference …", lambda one: one.problem
        ),
        Column("words", "TEXT", "The finding on one line.", lambda one: one.words),
        Column("callers", "JSON", "List of the identities concerned.", lambda one: one.callers),
        Column("call", "TEXT", "The case or call that showed it.", lambda one: one.call),
        Column(
            "after",
            "TEXT",
            "The identity that made the call right before, if the finding depends on it.",
            lambda one: one.after,
        ),
        Column("evidence", "JSON", "List of further lines with evidence.", lambda one: one.shown),
    ),
)
