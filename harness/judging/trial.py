"""Judge one trial: from its transcript and check results to a result with one status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import digest_json, utc_now
from harness.judging.agent_conduct import conduct_warnings
from harness.judging.echoed_tokens import echo_checks
from harness.judging.empty_answer import answer_checks
from harness.judging.limits import UNREAD_REPLIES, limit_check
from harness.judging.trial_warnings import build_warning
from harness.judging.unanswered_calls import server_fault
from harness.judging.unseen_content import unseen_warnings
from harness.types import (
    HELD_BACK,
    WRITTEN_CALL,
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Judgement,
    Status,
    Transcript,
    Trial,
    TrialError,
    TrialResult,
    Usage,
    UserMessage,
)

NOTHING_USED = Usage()


def judge_trial(
    trial: Trial,
    transcript: Transcript,
    checks: Sequence[CheckResult] | None,
    error: TrialError | None = None,
    *,
    judge_usage: Usage = NOTHING_USED,
    judgements: Sequence[Judgement] = (),
) -> TrialResult:
    """Return the result of a trial that was started, judged without other trials.

    Args:
        trial: The planned trial.
        transcript: Its transcript.
        checks: The check results; ``None`` if not all checks were evaluated.
        error: An error besides that of the transcript.
        judge_usage: The usage of its judges.
        judgements: The judgements of its judges.
    """
    limit = limit_check(transcript.stop, trial.case.limits, transcript)
    unanswered = answer_checks(trial.case, transcript)
    own = [limit] if limit else []
    unread = transcript.stop in UNREAD_REPLIES  # the reason for whatever else failed: told first
    results = (
        *(own if unread else ()),
        *(checks or ()),
        *(() if unread else own),
        *unanswered,
        *echo_checks(transcript),
        *teardown_warnings(transcript),
        *conduct_warnings(transcript),
        *unseen_warnings(transcript),
        *written_call_warnings(transcript),
        *warn_of_held_back(transcript),
    )
    # The first one counts, since the later ones may follow from it.
    error = (
        error
        or transcript.error
        # After the checks: a failure that no answer could have changed stands.
        or server_fault(trial.case, transcript, results)
        or _unjudged_error(results)
    )
    # A trial that was interrupted while it was judged has no verdict.
    interrupted = transcript.stop == "cancelled" or checks is None
    return TrialResult(
        key=trial.key,
        suite=trial.suite,
        case=CaseFacts.from_case(trial.case),
        model=trial.model,
        axes=trial.axes,
        trial=trial.number,
        repeats=trial.repeats,
        status=_trial_status(results, error, interrupted=interrupted),
        checks=results,
        error=error,
        stop=transcript.stop,
        usage=transcript.usage,
        judge_usage=judge_usage,
        user_usage=transcript.user_usage,
        judgements=tuple(judgements),
        replies=transcript.replies,
        outcomes=count_outcomes(transcript),
        offered=len(transcript.tools),
        latency_s=transcript.latency_s,
        waited_s=transcript.waited_s,
        started_at=transcript.started_at,
        finished_at=utc_now(),
        events_digest=events_digest(transcript),
    )


def not_judged(trial: Trial, transcript: Transcript, *, reason: str) -> TrialResult:
    """Return the result of a conversation that nothing was expected of: it was skipped."""
    facts = judge_trial(trial, transcript, ())
    return replace(facts, status="skipped", skip_reason=reason, checks=(), error=None)


def not_started(
    trial: Trial, status: Status, *, error: TrialError | None = None, reason: str | None = None
) -> TrialResult:
    """Return the result of a trial whose conversation did not start."""
    return TrialResult(
        key=trial.key,
        suite=trial.suite,
        case=CaseFacts.from_case(trial.case),
        model=trial.model,
        axes=trial.axes,
        trial=trial.number,
        repeats=trial.repeats,
        status=status,
        error=error,
        skip_reason=reason,
        finished_at=utc_now(),
    )


def add_failures(result: TrialResult, checks: Sequence[CheckResult]) -> TrialResult:
    """Return ``result`` with further failed ``checks``, which concern several trials.

    A result without a verdict keeps its status.
    """
    failed = result.status in {"passed", "failed"}
    return replace(
        result,
        checks=(*result.checks, *checks),
        status="failed" if failed and checks else result.status,
    )


def count_outcomes(transcript: Transcript) -> Mapping[str, int]:
    """Return the number of tool calls by `Outcome`, searches for tools included."""
    return Counter[str](call.outcome for call in transcript.tool_calls)


def written_call_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning if the model wrote a call as text, of the first one."""
    tool = transcript.written_call
    if tool is None:
        return ()
    said = f"The model wrote a call of {tool} as text."
    return (build_warning(WRITTEN_CALL, f"a call of {tool} as text", said, actual=tool),)


def warn_of_held_back(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning if the built-in baseline held tools back, so that no pass hides it."""
    held = ", ".join(transcript.held_back_tools)
    if not held:
        return ()
    said = f"Not called, because nobody asked for a change: {held}."
    return (build_warning(HELD_BACK, f"{held} held back", said, actual=held),)


def teardown_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for each teardown call that failed; it does not change the verdict."""
    return tuple(
        build_warning(
            "teardown",
            f"teardown {call.tool}",
            f"Teardown failed: {call.tool} → {call.outcome}: {call.text[:_MAX_TEARDOWN_TEXT]}",
            expected="ok",
            actual=call.outcome,
            hint="State that the trial left behind may affect other trials; isolation: case "
            "separates them.",
        )
        for call in transcript.teardown_calls
        if call.is_error
    )


_MAX_TEARDOWN_TEXT = 500


def events_digest(transcript: Transcript) -> str:
    """Return ``sha256:…`` of messages and calls, without times, ids and cost."""
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
    return f"sha256:{digest_json([events, transcript.stop])}"


def _trial_status(
    checks: Sequence[CheckResult], error: TrialError | None, *, interrupted: bool
) -> Status:
    # Before failed checks: it is unknown what they would say without the error.
    if error is not None:
        return "error"
    if interrupted:
        return "cancelled"
    # A check of another package may use other words: only ``passed`` counts as passed.
    passed = all(check.verdict == "passed" or check.severity == "warn" for check in checks)
    return "passed" if passed else "failed"


def _unjudged_error(checks: Sequence[CheckResult]) -> TrialError | None:
    """Return the error of a trial with a required check that has no verdict, or ``None``."""
    # A warning decides nothing, so it need not have a verdict.
    missing = [
        check for check in checks if check.verdict == "not_judged" and check.severity == "fail"
    ]
    if not missing:
        return None
    return TrialError(
        kind="judge", message="; ".join(f"{check.label}: {check.explanation}" for check in missing)
    )
