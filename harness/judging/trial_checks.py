"""Checks of every trial, whatever its suite says: limits, an answer, the token, and warnings."""

from __future__ import annotations

from typing import Any

from harness.types import (
    AssistantMessage,
    Case,
    CheckResult,
    Limits,
    Reply,
    Stop,
    ToolCall,
    Transcript,
    UserMessage,
)


def build_warning(
    kind: str,
    label: str,
    explanation: str,
    *,
    actual: Any,
    expected: str = "none",
    hint: str | None = None,
) -> CheckResult:
    """Return the warning that ``actual`` was there where only ``expected`` should be."""
    return CheckResult(
        kind=kind,
        label=label,
        verdict="failed",
        severity="warn",
        expected=expected,
        actual=actual,
        explanation=explanation,
        hint=hint,
    )


def limit_check(stop: Stop, limits: Limits, transcript: Transcript) -> CheckResult | None:
    """Return the failed check for the limit that ended the conversation, or ``None``."""
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
        # The case does not have these two limits: they are set for the user and for the model.
        "user_limit": ("max_turns of the user", None, transcript.replies, "the user was not done"),
        "max_tokens": (
            "max_tokens of a reply",
            None,
            usage.output_tokens,
            "the reply was cut before it was complete"
            + (", and holds only thinking" if transcript.only_thinking else ""),
        ),
    }
    if stop in UNREAD_REPLIES:
        return _unread_reply(stop, transcript)
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


def _unread_reply(stop: Stop, transcript: Transcript) -> CheckResult:
    """Return the failed check for a reply of which only the error of the API is known."""
    replies = [
        message.reply for message in transcript.messages if isinstance(message, AssistantMessage)
    ]
    said = (replies[-1].stop_detail if replies else None) or "no words were given"
    label, what, hint = UNREAD_REPLIES[stop]
    return CheckResult(
        kind="limit",
        label=label,
        verdict="failed",
        actual=stop,
        explanation=f"{what}: {said}",
        hint=hint,
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

_LIMIT_HINTS: dict[Stop, str] = {
    "reply_limit": (
        "Look at the last replies: models call a tool again if its result does not say that it is "
        "complete."
    ),
    "call_limit": (
        "A tool that takes several items at once saves calls; or raise max_calls for this case."
    ),
    "time_limit": (
        "Look at where the time went: the slowest call, or waiting for the model; or raise timeout."
    ),
    "max_tokens": "Raise max_tokens of the model, or ask for a shorter answer.",
}


_HANDED_ON = "transfer"


def answer_checks(case: Case, transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check for each turn whose last reply has no text, no call and no refusal.

    An empty reply would pass every check that only forbids something. Two kinds of turn need no
    answer: turns that only give the model information (``ingest``), and those of a leaderboard with
    its own rule for empty replies.
    """
    if case.leaderboard.silence or transcript.stop == _HANDED_ON:
        return ()
    silent = _silent_turns(transcript)
    needed = [
        place for place in silent if not (place < len(case.turns) and case.turns[place].ingest)
    ]
    return tuple(
        _failed_check(place + 1 if case.turns else None, _describe_emptiness(silent[place]))
        for place in needed
    )


def _silent_turns(transcript: Transcript) -> dict[int, Reply]:
    """Return the turns (from 0) that ended with an empty reply, and that reply."""
    last: dict[int, Reply] = {}
    turn = -1
    for message in transcript.messages:
        if isinstance(message, UserMessage) and not message.injected:
            turn += 1
        elif isinstance(message, AssistantMessage):
            # The last reply of a turn is its answer; those before it ask for tools.
            last[turn] = message.reply
    return {
        turn: reply
        for turn, reply in last.items()
        # A refusal is an answer, and a reply that was cut fails by its limit (`limits`).
        if reply.stop in ("end", "tool_calls", "other")
        and not (reply.text.strip() or reply.tool_requests)
    }


def _describe_emptiness(reply: Reply) -> str:
    if reply.only_thinking:
        return "the reply holds only thinking (no text for the user, no tool call, no refusal)"
    return "the model's reply was empty (no text, no tool call, no refusal)"


def _failed_check(turn: int | None, why: str) -> CheckResult:
    return CheckResult(
        kind="answered",
        label="an answer",
        verdict="failed",
        expected="an answer",
        actual="",
        explanation=f"No answer: {why}.",
        hint="Say in the system prompt that every question must be answered in words, also after "
        "tool calls.",
        turn=turn,
    )


TOKEN_ECHOED = "token_echoed"  # noqa: S105 - the name of a check
"""Kind of the check that a server does not send a token back."""


def echo_checks(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check if an answer contained the caller's token."""
    made = [
        call
        for call in (
            # The server gets the same token before and after the conversation.
            *transcript.setup_calls,
            *transcript.tool_calls,
            *transcript.teardown_calls,
        )
        if call.echoed_token
    ]
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
    facts = transcript.agent
    if facts is None:
        return ()
    found = []
    if facts.own_tools:
        used = ", ".join(f"{name} {times}" for name, times in sorted(facts.own_tools.items()))
        found.append(
            build_warning(
                "own_tools",
                "own_tools",
                f"The agent used tools of its own, and what they did is not seen: {used}.",
                actual=dict(facts.own_tools),
                hint="List under 'tools' of its entry only what it needs; by default it has none.",
            )
        )
    if facts.refused_requests:
        one = facts.refused_requests == 1
        words = "1 request" if one else f"{facts.refused_requests} requests"
        found.append(
            build_warning(
                "refused_requests",
                "refused_requests",
                f"{words} without the session's token {'was' if one else 'were'} refused.",
                actual=facts.refused_requests,
                hint="The agent, or another program, tried addresses that it was not given.",
            )
        )
    return tuple(found)


def unseen_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for each call whose result the model was given only in part.

    It does not change the verdict. An agent gets results from the server itself, and whole.
    """
    if transcript.agent is not None:
        return ()
    return tuple(
        build_warning(
            "unseen_content",
            f"not given to the model: content of {call.tool}",
            f"{call.tool} returned {'; '.join(call.unseen)}. Harness gives models the "
            "text of results: this model was told that the content is there, and has not seen it.",
            expected="text",
            actual=list(call.unseen),
            hint="Do not expect of the answer what only that content shows; a tool can return a "
            "description as text beside it.",
        )
        for call in transcript.tool_calls
        if call.unseen
    )
