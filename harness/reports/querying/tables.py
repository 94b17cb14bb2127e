"""Every table of a run: its columns, and where their values come from.

To add a column, add it to its table: name, kind, what it says, and the path of its value. A row is
made from named things (`Table.build_row`), and a path begins with one of their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from harness.reports.querying.columns import BOOLEAN, INTEGER, JSON, REAL, TEXT, Column, Table
from harness.reports.querying.fault_rows import FAULTS
from harness.reports.record_fields import (
    CONVERSATION_FIELDS,
    RECORD_FIELDS,
    RecordField,
    axis_fields,
)
from harness.reports.trial_record import TrialRecord
from harness.suites import AXES
from harness.types import (
    AssistantMessage,
    CaseResult,
    CheckResult,
    HasEntrant,
    Transcript,
    UserMessage,
)

# ── The run as a whole: `past` is how `harness runs` lists it, `usage` the models' under test ──

RUNS = Table(
    "runs",
    "One row for the whole run, as in the JSON report (`summary` and the keys beside it).",
    (
        JSON("suites", "List of the names of its suites.", "past.suites"),
        JSON("models", "List of the names of its models.", "past.models"),
        TEXT("result", "The result in words.", "past.result"),
        INTEGER("exit_code", "Exit code of its command.", "past.exit_code"),
        TEXT(
            "reason",
            "The reason why it ended: complete, interrupted, budget, max-errors, fail-fast.",
            "past.reason",
        ),
        TEXT("started_at", "Start: UTC, ISO 8601.", "past.started_at"),
        TEXT("finished_at", "End: UTC, ISO 8601; null if the log has no end."),
        REAL("elapsed_s", "Seconds of wall time.", "past.elapsed_s"),
        INTEGER("planned", "Number of planned trials.", "counts.planned"),
        INTEGER("passed", "Number of trials that passed.", "counts.passed"),
        INTEGER("failed", "Number of trials that failed.", "counts.failed"),
        INTEGER("error", "Number of trials that could not be judged.", "counts.error"),
        INTEGER("skipped", "Number of trials that were not started.", "counts.skipped"),
        INTEGER(
            "cancelled",
            "Number of trials that were interrupted, or planned but not in the log.",
            "counts.cancelled",
        ),
        REAL(
            "pass_rate",
            "Mean of the tests' pass rates, 0 to 1; null with several models or suites, or no "
            "verdict.",
        ),
        REAL("pass_rate_low", "Lower end of its 95 % interval."),
        REAL("pass_rate_high", "Upper end of its 95 % interval."),
        INTEGER("calls", "Number of tool calls of the models.", "calls.total"),
        INTEGER("calls_ok", "Number of calls that succeeded.", "calls.ok"),
        INTEGER("calls_denied", "Number of calls that the server refused.", "calls.denied"),
        INTEGER("calls_errors", "Number of calls that failed.", "calls.errors"),
        INTEGER("calls_not_sent", "Number of calls that harness did not send.", "calls.not_sent"),
        INTEGER("tokens_in", "Input tokens.", "usage.input_tokens"),
        INTEGER("tokens_out", "Output tokens.", "usage.output_tokens"),
        REAL("cost_usd", "Cost of the models in US dollars; null is unknown.", "usage.cost_usd"),
        REAL("judge_cost_usd", "Cost of the judges in US dollars.", "judge_usage.cost_usd"),
        REAL(
            "user_cost_usd",
            "Cost of the simulated users' models in US dollars.",
            "user_usage.cost_usd",
        ),
        JSON(
            "damaged",
            "List of the unreadable lines of the log, one sentence for each.",
            "past.damaged",
        ),
        TEXT(
            "harness_version",
            "The version of harness that wrote the log.",
            "header.harness_version",
        ),
        JSON("settings", "Trials, concurrency, budgets, selection.", "header.settings"),
        INTEGER("log_bytes", "Size of the log in bytes."),
    ),
)

# ── The verdict on a `case`, with its value on each of its `axes` ──

CASES = Table(
    "cases",
    "The verdict on one case with one model: an entry of `tests` in the JSON report.",
    (
        TEXT("suite", "Name of the suite.", "case.suite"),
        TEXT("case", "Name of the case.", "case.case"),
        TEXT("model", "Name of the model.", "case.model"),
        *(TEXT(axis.name, axis.doc, f"axes.{axis.name}") for axis in AXES),
        TEXT("status", "passed, failed, error, skipped, cancelled.", "case.status"),
        INTEGER("passed", "Number of trials that passed.", "case.passed_count"),
        INTEGER("planned", "Number of planned trials.", "case.planned"),
        REAL(
            "pass_threshold",
            "Share of the planned trials that must pass, 0 to 1.",
            "case.pass_threshold",
        ),
        TEXT(
            "identity",
            "Name of the identity, if the test runs as several identities.",
            "case.deciding_trial.case.identity",
        ),
        TEXT(
            "test",
            "Name of the test, if it has several cases: all of them count as one.",
            "case.deciding_trial.case.test",
        ),
    ),
)

# ── A `finding` ──

FINDINGS = Table(
    "findings",
    "A finding on a policy: a leak in a run, or any finding of a probe.",
    (
        TEXT("problem", "Its kind: leak, unexpected, interference …", "finding.problem"),
        TEXT("words", "The finding on one line.", "finding.words"),
        JSON("callers", "List of the identities concerned.", "finding.callers"),
        TEXT("call", "The case or call that showed it.", "finding.call"),
        TEXT(
            "after",
            "The identity that made the call right before, if the finding depends on it.",
            "finding.after",
        ),
        JSON("evidence", "List of further lines with evidence.", "finding.shown"),
    ),
)

# ── A trial: its `trial_id`, its `record`, and its value on each of its `axes` ──

TRIAL_ID = INTEGER("trial_id", "Id of the trial: the position of its line in the log, in bytes.")
_AXES = {axis.name for axis in AXES}


def _build_column(field: RecordField) -> Column:
    """Return the column of a field of the record."""
    doc = f"{field.doc} In {field.unit}." if field.unit else field.doc
    path = f"{'axes' if field.name in _AXES else 'record'}.{field.name}"
    return Column(field.kind, field.name, doc, path, field.name not in CONVERSATION_FIELDS)


TRIALS = Table(
    "trials",
    "A trial: one run of a case with a model.",
    (TRIAL_ID, *map(_build_column, RECORD_FIELDS)),
    keys=("trial_id", "key"),
)

# ── A `check`, a `call`, a `reply`, a `message` of a trial, each with its number `n` ──

_DOCS = {field.name: field.doc for field in RECORD_FIELDS}

CHECKS = Table(
    "checks",
    "A check of a trial.",
    (
        TRIAL_ID,
        INTEGER("n", "Number of the check in the trial, from 1."),
        TEXT("kind", "must_call, answer_contains …", "check.kind"),
        TEXT("label", "The check in a few words.", "check.label"),
        TEXT("verdict", "passed, failed, not_judged.", "check.verdict"),
        TEXT("severity", "fail, or warn; a warning does not change the verdict.", "check.severity"),
        REAL("score", "Score from 0 to 1, if the check gives one.", "check.score"),
        TEXT("explanation", "Explanation of the verdict."),
        TEXT("hint", "A remedy that usually helps.", "check.hint"),
        TEXT("code", "The check's code for the reason.", "check.code"),
        JSON("expected", "The expected value.", "check.expected"),
        JSON("actual", "The value that was found.", "check.actual"),
        INTEGER("turn", "The turn that the check belongs to, from 1.", "check.turn"),
        BOOLEAN("attempted", _DOCS["attempted"], "check.attempted"),
        BOOLEAN("reached_server", _DOCS["reached_server"], "check.reached_server"),
        BOOLEAN("executed", _DOCS["executed"], "check.executed"),
        BOOLEAN("line_crossed", _DOCS["line_crossed"], "check.line_crossed"),
        INTEGER("line", "The line of the check in the suite."),
    ),
    keys=("trial_id",),
)

CALLS = Table(
    "calls",
    "A tool call in the MCP session.",
    (
        TRIAL_ID,
        INTEGER("n", "Number of the call in its phase, from 1."),
        TEXT(
            "phase",
            "model: the model made it; user: a simulated user; setup, teardown: the case did.",
        ),
        TEXT("tool", "The tool's name on the server.", "call.tool"),
        JSON("arguments", "The arguments of the call.", "call.arguments"),
        TEXT(
            "outcome",
            "Outcome of the call: ok, tool_error, denied, timeout … (see the run log).",
            "call.outcome",
        ),
        INTEGER("reply", "Number of the reply that asked for the call, from 1: replies.n."),
        TEXT(
            "refusal",
            "Form of the refusal: tool_error, protocol_error, http_status.",
            "call.refusal",
        ),
        INTEGER("error_code", "The JSON-RPC error code.", "call.error_code"),
        REAL("started_s", "Seconds from the start of the trial.", "call.started_s"),
        REAL("duration_s", "Seconds until the call was answered.", "call.duration_s"),
        REAL(
            "waited_s",
            "Seconds of waiting for its turn at the server, before started_s.",
            "call.waited_s",
        ),
        INTEGER("result_bytes", "Size of the whole result in bytes.", "call.result_bytes"),
        TEXT("text", "Text of the result or error, as far as the log has it.", "call.text"),
        TEXT("fault", "The fault that hit the call, or the variant that reworded its error."),
        TEXT("shown", "What the model saw in place of `text`; null if it saw that."),
    ),
    keys=("trial_id",),
)

ELICITATIONS = Table(
    "elicitations",
    "A question of the server to its user, and the answer.",
    (
        TRIAL_ID,
        INTEGER("n", "Number in the trial, from 1."),
        TEXT("tool", "The tool whose call was under way; empty if none was.", "asked.tool"),
        TEXT("message", "The question.", "asked.message"),
        TEXT("action", "The answer: accept, decline, cancel.", "asked.action"),
        JSON("content", "The values that were sent, secrets redacted.", "asked.content"),
        TEXT("answered_by", "What answered.", "asked.answered_by"),
        TEXT("flaw", "What is wrong with the question; null if nothing is.", "asked.flaw"),
        REAL("asked_s", "Seconds from the start of the trial.", "asked.asked_s"),
    ),
    keys=("trial_id",),
)

REPLIES = Table(
    "replies",
    "A reply of the model.",
    (
        TRIAL_ID,
        INTEGER("n", "Number in the trial, from 1."),
        TEXT("stop", "end, tool_calls, max_tokens, refusal, other.", "reply.stop"),
        TEXT("stop_detail", "The provider's own reason for the stop.", "reply.stop_detail"),
        INTEGER("asked_for", "Number of tool calls that the reply asks for."),
        REAL(
            "asked_s",
            "Time of the request: seconds from the start of the trial.",
            "message.asked_s",
        ),
        REAL(
            "answered_s",
            "Time of the complete reply: seconds from the start of the trial.",
            "message.answered_s",
        ),
        REAL("waited_s", "Seconds of waiting for a rate limit.", "reply.waited_s"),
        INTEGER("attempts", "Number of HTTP requests.", "reply.attempts"),
        INTEGER("tokens_in", "Input tokens.", "usage.input_tokens"),
        INTEGER("tokens_out", "Output tokens.", "usage.output_tokens"),
        INTEGER(
            "cache_read_tokens",
            "Input tokens from the provider's cache.",
            "usage.cache_read_tokens",
        ),
        REAL("cost_usd", "Cost of the reply in US dollars; null is unknown.", "usage.cost_usd"),
        TEXT("served_by", "The exact model that answered.", "reply.served_by"),
    ),
    keys=("trial_id",),
)

MESSAGES = Table(
    "messages",
    "A message of the user or the model. The results of tools are in `calls.text`.",
    (
        TRIAL_ID,
        INTEGER("n", "Number in the trial, from 1."),
        TEXT("role", "user, assistant."),
        TEXT("text", "Text of the message."),
    ),
    keys=("trial_id",),
)

# ── A `tool`, the `n`-th of the list in the line `listed` ──

TOOLS = Table(
    "tools",
    "A tool in a list that a user was offered.",
    (
        TEXT("digest", "Digest of the list: trials.tools_digest.", "listed.tools.digest"),
        INTEGER("n", "Number of the tool in the list, from 1."),
        TEXT(
            "variant",
            "The variant that a model was shown; null: the server's own list.",
            "listed.variant",
        ),
        TEXT("server", "Name of the server.", "listed.server"),
        TEXT("tool", "Name of the tool.", "tool.name"),
        TEXT("description", "Description that the model reads.", "tool.description"),
        JSON("input_schema", "JSON Schema of the arguments.", "tool.input_schema"),
        JSON("output_schema", "JSON Schema of the result.", "tool.output_schema"),
        BOOLEAN("read_only", "The server's `readOnlyHint`.", "tool.read_only"),
        BOOLEAN("destructive", "The server's `destructiveHint`.", "tool.destructive"),
    ),
)

OF_TRIALS = (TRIALS, CHECKS, CALLS, ELICITATIONS, REPLIES, MESSAGES)
"""Those that have rows of single trials."""
TABLES = (RUNS, CASES, *OF_TRIALS, TOOLS, FINDINGS, FAULTS)
"""In the order in which they are shown."""


def build_trial_row(trial_id: int, record: TrialRecord) -> tuple[Any, ...]:
    """Return the row of a trial."""
    return TRIALS.build_row(trial_id=trial_id, record=record, axes=_name_values(record.result))


def build_case_row(case: CaseResult) -> tuple[Any, ...]:
    """Return the row of a case."""
    return CASES.build_row(case=case, axes=_name_values(case))


def _name_values(of: HasEntrant) -> SimpleNamespace:
    return SimpleNamespace(**axis_fields(of.axes))


def iterate_check_rows(trial_id: int, checks: Iterable[CheckResult]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the checks of a trial."""
    for n, check in enumerate(checks, start=1):
        yield CHECKS.build_row(
            trial_id=trial_id,
            n=n,
            check=check,
            explanation=check.explanation or None,
            line=check.at and check.at.line,
        )


def iterate_conversation_rows(
    trial_id: int, said: Transcript
) -> Iterator[tuple[Table, tuple[Any, ...]]]:
    """Yield the rows of a conversation, each with its table."""
    phases = {
        "model": said.tool_calls,
        "user": said.user_calls,
        "setup": said.setup_calls,
        "teardown": said.teardown_calls,
    }
    for phase, calls in phases.items():
        for n, call in enumerate(calls, start=1):
            asked_in = call.reply or None
            hit = call.injected
            row = CALLS.build_row(
                trial_id=trial_id,
                n=n,
                phase=phase,
                call=call,
                reply=asked_in,
                fault=None if hit is None else hit.rule,
                shown=None if hit is None else hit.text,
            )
            yield CALLS, row
    for n, asked in enumerate(said.elicitations, start=1):
        yield ELICITATIONS, ELICITATIONS.build_row(trial_id=trial_id, n=n, asked=asked)
    replies = [message for message in said.messages if isinstance(message, AssistantMessage)]
    for n, message in enumerate(replies, start=1):
        row = REPLIES.build_row(
            trial_id=trial_id,
            n=n,
            message=message,
            reply=message.reply,
            usage=message.reply.usage,
            asked_for=len(message.reply.tool_requests),
        )
        yield REPLIES, row
    for n, (role, text) in enumerate(_iterate_messages(said), start=1):
        yield MESSAGES, MESSAGES.build_row(trial_id=trial_id, n=n, role=role, text=text)


def _iterate_messages(said: Transcript) -> Iterator[tuple[str, str]]:
    for message in said.messages:
        if isinstance(message, UserMessage):
            yield message.role, message.text
        elif isinstance(message, AssistantMessage) and message.reply.text:
            yield message.role, message.reply.text
