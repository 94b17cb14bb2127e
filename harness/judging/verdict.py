"""From what happened to one status: the only place where a trial's ending is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from harness.canonical_json import digest
from harness.judging.empty_answer import answer_checks
from harness.judging.unanswered_calls import server_fault
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Limits,
    Status,
    Stop,
    Transcript,
    Trial,
    TrialError,
    TrialResult,
    UserMessage,
    written_stop,
)


def utc_now() -> str:
    """Return the time as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_of(
    trial: Trial,
    transcript: Transcript,
    checks: Sequence[CheckResult],
    error: TrialError | None = None,
) -> TrialResult:
    """Return the result of a trial that was started; ``error`` is what went wrong beyond the transcript."""
    limit = limit_check(transcript.stop, trial.case.limits, transcript)
    unanswered = answer_checks(trial.case, transcript)
    results = (*checks, *([limit] if limit else []), *unanswered, *teardown_warnings(transcript))
    error = (
        error
        or transcript.error
        or server_fault(trial.case, transcript, results)
        or _unjudged(results)
    )
    return TrialResult(
        key=trial.key,
        suite=trial.suite,
        case=CaseFacts.of(trial.case),
        model=trial.model,
        index=trial.index,
        status=_status(transcript.stop, results, error),
        checks=results,
        error=error,
        stop=transcript.stop,
        usage=transcript.usage,
        user_usage=transcript.user_usage,
        replies=transcript.replies,
        tool_calls=len(transcript.tool_calls),
        outcomes=Counter[str](call.outcome for call in transcript.tool_calls),
        offered=len(transcript.tools),
        latency_s=transcript.latency_s,
        waited_s=transcript.waited_s,
        started_at=transcript.started_at,
        finished_at=utc_now(),
        events_digest=events_digest(transcript),
        repeats=trial.repeats,
    )


def unstarted_run(
    trial: Trial, status: Status, *, error: TrialError | None = None, reason: str | None = None
) -> TrialResult:
    """Return the result of a trial that never began to converse."""
    return TrialResult(
        key=trial.key,
        suite=trial.suite,
        case=CaseFacts.of(trial.case),
        model=trial.model,
        index=trial.index,
        status=status,
        error=error,
        skip_reason=reason,
        finished_at=utc_now(),
        repeats=trial.repeats,
    )


def limit_check(stop: Stop, limits: Limits, transcript: Transcript) -> CheckResult | None:
    """Return the failed check that a limit makes of a conversation which it ended, if one did."""
    usage = transcript.usage
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    reached: dict[Stop, tuple[str, Any, Any, str]] = {
        "reply_limit": (
            "max_replies",
            limits.max_replies,
            transcript.replies,
            "the model still asked for tools",
        ),
        "call_limit": (
            "max_calls",
            limits.max_calls,
            len(transcript.tool_calls),
            "the model asked for more calls",
        ),
        "token_limit": (
            "max_tokens",
            limits.max_tokens,
            tokens,
            "the conversation used more tokens",
        ),
        "cost_limit": (
            "max_cost",
            limits.max_cost_usd,
            usage.cost_usd,
            "the conversation cost more",
        ),
        "time_limit": (
            "timeout",
            limits.timeout_s,
            round(transcript.latency_s, 3),
            "there was no answer in time",
        ),
        "user_limit": ("max_turns of the user", None, transcript.replies, "the user was not done"),
        "max_tokens": (
            "max_tokens of a reply",
            None,
            usage.output_tokens,
            "the reply was cut before it was complete",
        ),
    }
    if stop not in reached:
        return None
    name, allowed, actual, what = reached[stop]
    bound = "" if allowed is None else f" of {allowed:g}"
    return CheckResult(
        kind="limit",
        label=f"limit {name}",
        verdict="failed",
        expected=allowed,
        actual=actual,
        explanation=f"Limit reached: {name}{bound}: {what} (at {actual}).",
        hint=_LIMIT_HINTS.get(stop),
    )


def teardown_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for each call after the conversation that failed: it changes no verdict on the model."""
    return tuple(
        CheckResult(
            kind="teardown",
            label=f"teardown {call.tool}",
            verdict="failed",
            severity="warn",
            expected="ok",
            actual=call.outcome,
            explanation=f"Teardown failed: {call.tool} → {call.outcome}: "
            f"{call.text[:_MAX_TEARDOWN_TEXT]}",
            hint="What the trial has left behind may disturb others; isolation: case keeps them "
            "apart.",
        )
        for call in transcript.teardown_calls
        if call.is_error
    )


_MAX_TEARDOWN_TEXT = 500


def events_digest(transcript: Transcript) -> str:
    """Return ``sha256:…`` of what was said and done, without times, ids and cost."""
    events: list[Any] = []
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            events.append(["user", message.text, *(["fresh"] if message.fresh else [])])
        elif isinstance(message, AssistantMessage):
            requests = [
                [request.tool, request.arguments] for request in message.reply.tool_requests
            ]
            events.append(["assistant", message.reply.text, requests])
    events += [
        ["call", call.tool, call.arguments, call.outcome, call.text]
        for call in transcript.tool_calls
    ]
    return f"sha256:{digest([events, written_stop(transcript.stop)])}"


def _status(stop: Stop, checks: Sequence[CheckResult], error: TrialError | None) -> Status:
    if error is not None:
        return "error"
    if stop == "cancelled":
        return "cancelled"
    # A check of another package may use any word: what does not say that it passed has not passed.
    passed = all(check.verdict == "passed" or check.severity == "warn" for check in checks)
    return "passed" if passed else "failed"


def _unjudged(checks: Sequence[CheckResult]) -> TrialError | None:
    """Return why there is no verdict, when a deciding check has none."""
    missing = [
        check for check in checks if check.verdict == "not_judged" and check.severity == "fail"
    ]
    if not missing:
        return None
    return TrialError(
        kind="judge", message="; ".join(f"{check.label}: {check.explanation}" for check in missing)
    )


_LIMIT_HINTS: dict[Stop, str] = {
    "reply_limit": (
        "Look at the last replies: a tool whose result does not say that it is complete is called "
        "again."
    ),
    "call_limit": (
        "A tool that takes several items at once saves calls; or raise max_calls for this case."
    ),
    "time_limit": (
        "Look at where the time went: the slowest call, or waiting for the model; or raise timeout."
    ),
    "max_tokens": "Raise max_tokens of the model, or ask for a shorter answer.",
}
