"""The table of trials, and that of their checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.reports.querying.axis_columns import axis_columns
from harness.reports.querying.columns import Column, Kind, Table
from harness.reports.result_fields import RESULT_FIELDS
from harness.reports.sections.sentences import format_problem
from harness.runlog import RunLog
from harness.types import CheckResult, Transcript, TrialResult


@dataclass(frozen=True, slots=True)
class TrialRow:
    """What a row of `TRIALS` is made from."""

    trial_id: int
    """Where in the log its line begins; below 0 for one without a line."""
    result: TrialResult
    """Its result."""
    transcript: Transcript | None
    """Its conversation."""
    log: RunLog
    """A log that has reviews, and this trial's conversation."""


def _get_grade(told: TrialRow) -> float | None:
    return next((one.score for one in told.result.checks if one.score is not None), None)


_KNOWN: Mapping[str, tuple[Kind, str]] = {
    "mark": ("TEXT", "The reason why a pass proves little, if it does."),
    "attempted": ("BOOLEAN", "Policy checks: the model tried a call that the policy concerns."),
    "reached_server": ("BOOLEAN", "Policy checks: that call was sent to the server."),
    "executed": ("BOOLEAN", "Policy checks: the server executed that call."),
    "line_crossed": (
        "BOOLEAN",
        "Policy checks: an identity did or received what the policy forbids.",
    ),
    "review": ("TEXT", "A person's review of the verdict: accepted, overruled."),
    "reviewed_by": ("TEXT", "The reviewer."),
    "review_note": ("TEXT", "The reviewer's reason."),
    "held_back": ("TEXT", "Tools that the built-in baseline held back, separated by commas."),
    "key": ("TEXT", "SHA-256 of everything that determines the trial; `--resume` compares it."),
}


def _build_reported_column(name: str) -> Column[Any]:
    """Return the column of a field that JSON, JSONL and CSV show under that name."""
    kind, doc = _KNOWN.get(name, ("ANY", "As in the JSON report."))
    value = RESULT_FIELDS[name]
    return Column(name, kind, doc, lambda one: value(one.result, one.log))


TRIAL_ID: Column[Any] = Column(
    "trial_id",
    "INTEGER",
    "Id of the trial: the position of its line in the log, in bytes.",
    lambda one: one.trial_id,
)

TRIALS: Table[TrialRow] = Table(
    "trials",
    "A trial: one run of a case with a model.",
    (
        TRIAL_ID,
        Column("suite", "TEXT", "Name of the suite.", lambda one: one.result.suite),
        Column("case", "TEXT", "Name of the case.", lambda one: one.result.case.name),
        Column("model", "TEXT", "Name of the model.", lambda one: one.result.model),
        *axis_columns(lambda one: one.result),
        Column(
            "trial", "INTEGER", "Number of the repeat, from 1.", lambda one: one.result.index + 1
        ),
        Column(
            "repeats",
            "INTEGER",
            "Number of planned repeats; 0 of a trial beyond the plan.",
            lambda one: one.result.repeats,
        ),
        Column(
            "status",
            "TEXT",
            "passed, failed, error, skipped, cancelled; after comparing identities.",
            lambda one: one.result.status,
        ),
        Column(
            "problem",
            "TEXT",
            "The first problem, on one line; null if it passed.",
            lambda one: format_problem(one.result) or None,
        ),
        Column(
            "error_kind",
            "TEXT",
            "The part that caused an error: model, agent, server, judge, harness.",
            lambda one: one.result.error and one.result.error.kind,
        ),
        Column(
            "error",
            "TEXT",
            "The reason why it could not be judged.",
            lambda one: one.result.error and one.result.error.message,
        ),
        Column(
            "skip_reason",
            "TEXT",
            "The reason why it was not started.",
            lambda one: one.result.skip_reason,
        ),
        Column(
            "stop",
            "TEXT",
            "Why the conversation ended: answer, reply_limit, error …",
            lambda one: one.result.stop,
        ),
        Column(
            "replies", "INTEGER", "Number of replies of the model.", lambda one: one.result.replies
        ),
        Column(
            "tool_calls",
            "INTEGER",
            "Number of tool calls of the model.",
            lambda one: one.result.tool_calls,
        ),
        Column(
            "outcomes",
            "JSON",
            "Number of calls by outcome, an object; null where nothing was started.",
            lambda one: one.result.outcomes and dict(one.result.outcomes),
        ),
        Column("score", "REAL", "The first score of a check, 0 to 1.", _get_grade),
        Column(
            "latency_s",
            "REAL",
            "Seconds of the conversation, including waits.",
            lambda one: one.result.latency_s,
        ),
        Column(
            "waited_s",
            "REAL",
            "Seconds of these that were spent waiting.",
            lambda one: one.result.waited_s,
        ),
        Column("tokens_in", "INTEGER", "Input tokens.", lambda one: one.result.usage.input_tokens),
        Column(
            "tokens_out", "INTEGER", "Output tokens.", lambda one: one.result.usage.output_tokens
        ),
        Column(
            "cache_read_tokens",
            "INTEGER",
            "Input tokens that came from the provider's cache.",
            lambda one: one.result.usage.cache_read_tokens,
        ),
        Column(
            "cache_write_tokens",
            "INTEGER",
            "Input tokens that were written to that cache.",
            lambda one: one.result.usage.cache_write_tokens,
        ),
        Column(
            "cost_usd",
            "REAL",
            "Cost of the model in US dollars; null is unknown.",
            lambda one: one.result.usage.cost_usd,
        ),
        Column(
            "judge_cost_usd",
            "REAL",
            "Cost of the judges in US dollars.",
            lambda one: one.result.judge_usage.cost_usd,
        ),
        Column(
            "user_cost_usd",
            "REAL",
            "Cost of the simulated user's model in US dollars.",
            lambda one: one.result.user_usage.cost_usd,
        ),
        Column(
            "started_at", "TEXT", "Start: UTC, ISO 8601.", lambda one: one.result.started_at or None
        ),
        Column(
            "finished_at", "TEXT", "End: UTC, ISO 8601.", lambda one: one.result.finished_at or None
        ),
        Column(
            "test",
            "TEXT",
            "Name of the test, if it runs as several identities.",
            lambda one: one.result.case.group,
        ),
        Column(
            "identity",
            "TEXT",
            "Name of the identity that the case runs as.",
            lambda one: one.result.case.identity,
        ),
        Column(
            "user_context",
            "JSON",
            "Attributes of that identity.",
            lambda one: one.result.case.user_context,
        ),
        Column("tags", "JSON", "Tags of the case, a list.", lambda one: one.result.case.tags),
        Column("metadata", "JSON", "Metadata of the case.", lambda one: one.result.case.metadata),
        Column(
            "file",
            "TEXT",
            "The file in which the case is written.",
            lambda one: one.result.case.at and one.result.case.at.file,
        ),
        Column(
            "line",
            "INTEGER",
            "The line of the case in that file.",
            lambda one: one.result.case.at and one.result.case.at.line,
        ),
        *(_build_reported_column(name) for name in RESULT_FIELDS),
        Column(
            "events_digest",
            "TEXT",
            "SHA-256 of the messages and tool calls.",
            lambda one: one.result.events_digest,
        ),
        Column(
            "tools_digest",
            "TEXT",
            "Digest of the tool list that its user was offered: tools.digest.",
            lambda one: (one.transcript and one.transcript.tools_digest) or None,
            judged=False,
        ),
        Column(
            "answer",
            "TEXT",
            "The last reply of the model.",
            lambda one: one.transcript and one.transcript.answer,
            judged=False,
        ),
    ),
    keys=("trial_id", "key"),
)


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
        Column("attempted", "BOOLEAN", _KNOWN["attempted"][1], lambda one: one.check.attempted),
        Column(
            "reached_server",
            "BOOLEAN",
            _KNOWN["reached_server"][1],
            lambda one: one.check.reached_server,
        ),
        Column("executed", "BOOLEAN", _KNOWN["executed"][1], lambda one: one.check.executed),
        Column(
            "line_crossed", "BOOLEAN", _KNOWN["line_crossed"][1], lambda one: one.check.line_crossed
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
