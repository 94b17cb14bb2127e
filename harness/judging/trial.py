"""Judge one trial: from its transcript and check results to a result with one status.

A tool call without a valid answer from the server (the table is in docs/servers.md, "Calls without
a valid answer") is the server's fault, and the trial cannot be judged, unless

- the model repeated the call in a later reply, and the server answered it;
- a check of the case expects this call to fail;
- a check failed that no answer could have changed: the model made a forbidden call, or the server
  allowed one;
- the end of the trial cut the call off before it had half of the trial's time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import digest_json, utc_now
from harness.judging.attacks import describe_attack
from harness.judging.checks.explaining.transcript_lines import format_call
from harness.judging.checks.registry import KINDS, every_check, get_kind
from harness.judging.deputies import find_deputies
from harness.judging.faults import describe_faults
from harness.judging.matching.failure_texts import find_failure_words
from harness.judging.trial_checks import (
    UNREAD_REPLIES,
    answer_checks,
    build_warning,
    conduct_warnings,
    echo_checks,
    limit_check,
    unseen_warnings,
)
from harness.types import (
    DEFAULT_TIMEOUT_S,
    HELD_BACK,
    NOT_SENT,
    UNMARKED_FAILURE,
    WRITTEN_CALL,
    AssistantMessage,
    Case,
    CaseFacts,
    CheckResult,
    Judgement,
    Status,
    ToolCall,
    ToolList,
    Transcript,
    Trial,
    TrialError,
    TrialResult,
    Usage,
    UserMessage,
)

_CUT_OFF_S = 0.1
"""A call that ends within this time before the end of its trial was cut off by it."""
# With less of the trial's time, the server had no fair chance: then the limit decides.
_FAIR_SHARE = 0.5


def server_fault(
    case: Case, transcript: Transcript, results: Sequence[CheckResult]
) -> TrialError | None:
    """Return why the trial cannot be judged, if the server did not answer a call."""
    # Harness itself ended the call: somebody interrupted the run, or the case aborts it.
    if transcript.stop in ("cancelled", "aborted"):
        return None
    owed = next(_find_owed(case, transcript), None)
    if owed is None or any(_stands_anyway(result, transcript) for result in results):
        return None
    place, call = owed
    unknown = "" if case.calls else ", so the model's reaction to a result is unknown"
    return TrialError(
        kind="server",
        message=f"call {place}, {format_call(call)}, has no result{unknown}: {call.text}",
        detail=transcript.stderr_tail or None,
    )


def _find_owed(case: Case, transcript: Transcript) -> Iterator[tuple[int, ToolCall]]:
    """Yield the calls whose missing answer leaves the trial without verdict, with their number."""
    calls = transcript.tool_calls
    trial_s = case.limits.timeout_s or DEFAULT_TIMEOUT_S
    for place, call in enumerate(calls, start=1):
        if not call.is_unanswered:
            continue
        is_repeated = any(
            (later.tool, later.arguments) == (call.tool, call.arguments)
            # In one reply, the model had not yet seen that the first call got no answer.
            and later.reply > call.reply
            and not later.is_unanswered
            and later.outcome not in NOT_SENT
            for later in calls[place:]  # calls are numbered from 1, so these come after it
        )
        at_the_end = call.started_s + call.duration_s >= trial_s - _CUT_OFF_S
        is_short = call.outcome == "timeout" and call.duration_s < _FAIR_SHARE * trial_s
        if not is_repeated and not (at_the_end and is_short):
            expected = (
                get_kind(check).expects_failure(check.params, call) for check in every_check(case)
            )
            if not any(expected):
                yield place, call


def _stands_anyway(result: CheckResult, transcript: Transcript) -> bool:
    """Whether a check failed for a reason that no answer could have changed."""
    return (
        result.verdict == "failed"
        and result.severity == "fail"
        # Limits and leaks are results, too, but of no check of a suite.
        and result.kind in KINDS
        and KINDS.get(result.kind).stands_anyway(result, transcript)
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
    tools: ToolList | None = None,
) -> TrialResult:
    """Return the result of a trial that was started, judged without other trials.

    Args:
        trial: The planned trial.
        transcript: Its transcript.
        checks: The check results; ``None`` if not all checks were evaluated.
        error: An error besides that of the transcript.
        judge_usage: The usage of its judges.
        judgements: The judgements of its judges.
        tools: The tools that its user was offered, if they are known.
    """
    limit = limit_check(transcript.stop, trial.case.limits, transcript)
    own = [limit] if limit else []
    unread = transcript.stop in UNREAD_REPLIES  # the reason for whatever else failed: told first
    results = (
        *(own if unread else ()),
        *(checks or ()),
        *(() if unread else own),
        *answer_checks(trial.case, transcript),
        *echo_checks(transcript),
        *teardown_warnings(transcript),
        *conduct_warnings(transcript),
        *describe_faults(trial.axes.get("fault"), transcript, checks or (), tools),
        *describe_attack(trial, transcript),
        *find_deputies(trial, transcript),
        *unseen_warnings(transcript),
        *written_call_warnings(transcript),
        *warn_of_unmarked_failures(transcript),
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
    return replace(
        not_started(trial, _trial_status(results, error, interrupted=interrupted), error=error),
        checks=results,
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
    return (build_warning(WRITTEN_CALL, said, label=f"a call of {tool} as text", actual=tool),)


def warn_of_unmarked_failures(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning if results read like failures that the server did not mark."""
    told = [
        {"tool": call.tool, "words": words}
        for call in transcript.tool_calls
        if (words := find_failure_words(call))
    ]
    if not told:
        return ()
    tools = ", ".join(dict.fromkeys(call["tool"] for call in told))
    said = "\n".join(dict.fromkeys(f"{call['tool']} → {call['words']}" for call in told))
    return (
        build_warning(
            UNMARKED_FAILURE,
            f"Reads like a failure, and is not marked as one: {said}",
            label=f"the result of {tools}",
            actual=told,
            hint="Let the tool set isError, so that every client knows that the call failed.",
        ),
    )


def warn_of_held_back(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning if the built-in baseline held tools back, so that no pass hides it."""
    held = ", ".join(transcript.held_back_tools)
    if not held:
        return ()
    said = f"Not called, because nobody asked for a change: {held}."
    return (build_warning(HELD_BACK, said, label=f"{held} held back", actual=held),)


def teardown_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for each teardown call that failed; it does not change the verdict."""
    return tuple(
        build_warning(
            "teardown",
            f"Teardown failed: {call.tool} → {call.outcome}: {call.text[:_MAX_TEARDOWN_TEXT]}",
            label=f"teardown {call.tool}",
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
            reply = message.reply
            requests = [[request.tool, request.arguments] for request in reply.tool_requests]
            events.append(["assistant", reply.text, requests])
    events += [
        [
            "call",
            *(call.tool, call.arguments, call.outcome, call.text),
            *([] if call.injected is None else [call.injected.rule, call.injected.text]),
        ]
        for call in (*transcript.tool_calls, *transcript.host_calls)
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
    words = "; ".join(
        f"{check.label}: {check.explanation}"
        for check in checks
        # A warning decides nothing, so it need not have a verdict.
        if check.verdict == "not_judged" and check.severity == "fail"
    )
    return TrialError(kind="judge", message=words) if words else None
