"""Checks of every trial, whatever its suite says: limits, an answer, the token, and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from harness.judging.checks.kind import passed_if
from harness.types import (
    AssistantMessage,
    Case,
    CheckResult,
    Limits,
    Reply,
    Status,
    Stop,
    ToolCall,
    Transcript,
    UserMessage,
)


def build_warning(
    kind: str, explanation: str, *, actual: Any, label: str = "", **more: Any
) -> CheckResult:
    """Return the warning that ``actual`` was there where only what is expected should be.

    Without a ``label`` it is called by its kind.
    """
    return CheckResult(
        kind=kind,
        label=label or kind,
        verdict="failed",
        severity="warn",
        actual=actual,
        explanation=explanation,
        **{"expected": "none", **more},
    )


def limit_check(stop: Stop, limits: Limits, transcript: Transcript) -> CheckResult | None:
    """Return the failed check for the limit that ended the conversation, or ``None``."""
    if stop in UNREAD_REPLIES:
        label, what, hint = UNREAD_REPLIES[stop]
        last = transcript.last_reply
        detail = (last and last.stop_detail) or "no words were given"
        return _failed_limit(label, f"{what}: {detail}", hint, actual=stop)
    if stop not in _LIMITS:
        return None
    usage = transcript.usage
    numbers: dict[Stop, tuple[float | None, float | None]] = {
        "reply_limit": (limits.max_replies, transcript.replies),
        "call_limit": (limits.max_calls, len(transcript.tool_calls)),
        "token_limit": (limits.max_tokens, (usage.input_tokens or 0) + (usage.output_tokens or 0)),
        "cost_limit": (limits.max_cost_usd, usage.cost_usd),
        "time_limit": (limits.timeout_s, round(transcript.latency_s, 3)),
        # The case does not have these two limits: they are set for the user and for the model.
        "user_limit": (None, transcript.replies),
        "max_tokens": (None, usage.output_tokens),
    }
    (name, what, advice), (allowed, actual) = _LIMITS[stop], numbers[stop]
    if stop == "max_tokens" and transcript.only_thinking:
        what += ", and holds only thinking"
    bound = "" if allowed is None else f" of {allowed:g}"
    words = f"Limit reached: {name}{bound}: {what} (at {actual})."
    return _failed_limit(f"limit {name}", words, advice, expected=allowed, actual=actual)


def _failed_limit(label: str, words: str, hint: str | None, **facts: Any) -> CheckResult:
    return CheckResult(
        kind="limit", label=label, verdict="failed", explanation=words, hint=hint, **facts
    )


UNREAD_REPLIES: dict[Stop, tuple[str, str, str]] = {
    "malformed_call": (
        "a call that can be read",
        "The model called a tool in a form that its API could not read",
        "Simplify the parameters; or the API's parser of tool calls does not fit the model.",
    ),
    "context_limit": (
        "a conversation that fits the model",
        "With the results of tools, the conversation is too large for the model",
        "Let the tools return less (filters, pages, fewer fields), or enlarge the context.",
    ),
}
"""How a conversation ends whose last reply is known only by the error of its API → what the failed
check says: its label, what happened, and what helps."""

_LIMITS: dict[Stop, tuple[str, str, str | None]] = {
    "reply_limit": (
        "max_replies",
        "the model still asked for tools",
        (
            "Look at the last replies: models call a tool again if its result does not say that it "
            "is complete."
        ),
    ),
    "call_limit": (
        "max_calls",
        "the model asked for more calls",
        "A tool that takes several items at once saves calls; or raise max_calls for this case.",
    ),
    "token_limit": ("max_tokens", "the conversation used more tokens", None),
    "cost_limit": ("max_cost", "the conversation cost more", None),
    "time_limit": (
        "timeout",
        "there was no answer in time",
        (
            "Look at where the time went: the slowest call, or waiting for the model; or raise "
            "timeout."
        ),
    ),
    "user_limit": ("max_turns of the user", "the user was not done", None),
    "max_tokens": (
        "max_tokens of a reply",
        "the reply was cut before it was complete",
        "Raise max_tokens of the model, or ask for a shorter answer.",
    ),
}
"""How a conversation ends at a limit → its name, what happened, and what helps."""

_HANDED_ON = "transfer"


def answer_checks(case: Case, transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check for each turn whose last reply has no text, no call and no refusal.

    An empty reply would pass every check that only forbids something. Three kinds of turn need no
    answer: turns that only give the model information (``ingest``), those of a leaderboard with
    its own rule for empty replies, and calls that no model chooses.
    """
    if case.calls or case.leaderboard.silence or transcript.stop == _HANDED_ON:
        return ()
    return tuple(
        CheckResult(
            kind="answered",
            label="an answer",
            verdict="failed",
            expected="an answer",
            actual="",
            explanation="No answer: the reply holds only thinking (no text for the user, no tool "
            "call, no refusal)."
            if reply.only_thinking
            else "No answer: the model's reply was empty (no text, no tool call, no refusal).",
            hint="Say in the system prompt that every question must be answered in words, also "
            "after tool calls.",
            turn=place + 1 if case.turns else None,
        )
        for place, reply in _find_silent_turns(transcript)
        if not (place < len(case.turns) and case.turns[place].ingest)
    )


def _find_silent_turns(transcript: Transcript) -> Iterator[tuple[int, Reply]]:
    """Yield the turns (from 0) that ended with an empty reply, and that reply."""
    last: dict[int, Reply] = {}
    turn = -1
    for message in transcript.messages:
        if isinstance(message, UserMessage) and not message.injected:
            turn += 1
        elif isinstance(message, AssistantMessage):
            # The last reply of a turn is its answer; those before it ask for tools.
            last[turn] = message.reply
    for turn, reply in last.items():
        # A refusal is an answer, and a reply that was cut fails by its limit.
        is_whole = reply.stop in ("end", "tool_calls", "other")
        if is_whole and not (reply.text.strip() or reply.tool_requests):
            yield turn, reply


TOKEN_ECHOED = "token_echoed"  # noqa: S105 - the name of a check
"""Kind of the check that a server does not send a token back."""


def echo_checks(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check if an answer contained the caller's token."""
    # The server gets the same token before and after the conversation.
    calls = (
        *transcript.setup_calls,
        *transcript.tool_calls,
        *transcript.user_calls,
        *transcript.teardown_calls,
    )
    made = [call for call in calls if call.echoed_token]
    if not made:
        return ()
    return (
        CheckResult(
            kind=TOKEN_ECHOED,
            label=TOKEN_ECHOED,
            verdict="failed",
            expected="no token in any answer",
            actual=[call.tool for call in made],
            explanation=echo_words(made[0]) + "\nLine crossed: what the server allowed.",
            hint="Leave the Authorization header out of what tools return, log and put into "
            "errors: whoever reads a token can act as its user.",
            attempted=True,
            reached_server=True,
            executed=any(call.outcome == "ok" for call in made),
            line_crossed=True,
        ),
    )


def echo_words(call: ToolCall) -> str:
    """Return the finding on one line."""
    return (
        f"Token was sent back: the answer of {call.tool} contains the caller's token. It was "
        "removed before the model read it"
    )


def conduct_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for own tools that an agent used, and one for refused requests.

    They do not change the verdict.
    """
    facts, found = transcript.agent, []
    if facts is not None and facts.own_tools:
        used = ", ".join(f"{name} {times}" for name, times in sorted(facts.own_tools.items()))
        found.append(
            build_warning(
                "own_tools",
                f"The agent used tools of its own, and what they did is not seen: {used}.",
                actual=dict(facts.own_tools),
                hint="List under 'tools' of its entry only what it needs; by default it has none.",
            )
        )
    if facts is not None and facts.refused_requests:
        number = facts.refused_requests
        words, were = ("1 request", "was") if number == 1 else (f"{number} requests", "were")
        found.append(
            build_warning(
                "refused_requests",
                f"{words} without the session's token {were} refused.",
                actual=number,
                hint="The agent, or another program, tried addresses that it was not given.",
            )
        )
    return tuple(found)


def unseen_warnings(transcript: Transcript) -> Iterator[CheckResult]:
    """Yield a warning for each call whose result the model was given only in part.

    It does not change the verdict. An agent gets results from the server itself, and whole.
    """
    hint = (
        "Do not expect of the answer what only that content shows. If the model takes it, say so "
        "in its configuration: 'takes: [image]'."
    )
    said = (one for one in transcript.messages if isinstance(one, UserMessage))
    media = (one for message in said for one in message.all_media)
    attached = [one.words for one in media if not one.given]
    if attached:
        told = f"The prompt came with {'; '.join(attached)}. This model was only told so."
        label = "not given to the model: attached files"
        yield build_warning("unseen_content", told, label=label, actual=attached, hint=hint)
    yield from (
        build_warning(
            "unseen_content",
            f"{call.tool} returned {'; '.join(call.unseen)}. This model was told that the content "
            "is there, and has not seen it.",
            label=f"not given to the model: content of {call.tool}",
            expected="text",
            actual=list(call.unseen),
            hint=hint,
        )
        for call in (transcript.tool_calls if transcript.agent is None else ())
        if call.unseen
    )


RECORDED_REWARD: Final = "recorded_reward"
"""The kind of check that compares a recorded reward with ours."""
_ROUNDING = 1e-6


def reward_check(recorded: float, status: Status) -> CheckResult | None:
    """Return a warning if the recorded reward contradicts a trial that ended as ``status``.

    ``None`` if the trial has no verdict.
    """
    if status not in ("passed", "failed"):
        return None
    ours = 1.0 if status == "passed" else 0.0
    agrees = (abs(recorded - 1.0) < _ROUNDING) == (status == "passed")
    words = f"The file records a reward of {recorded:g}; by the rules it is {ours:g}."
    return CheckResult(
        kind=RECORDED_REWARD,
        label="recorded reward",
        verdict=passed_if(agrees),
        severity="warn",
        expected=recorded,
        actual=ours,
        explanation="" if agrees else words,
    )
