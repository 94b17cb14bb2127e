"""The failed check of a conversation that a limit ended."""

from __future__ import annotations

from typing import Any

from harness.types import AssistantMessage, CheckResult, Limits, Stop, Transcript


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
