"""The state of a conversation of several turns after each of them."""

from __future__ import annotations

from dataclasses import replace

from harness.types import (
    AssistantMessage,
    Check,
    CheckResult,
    Message,
    Reply,
    Transcript,
    Usage,
    UserMessage,
    sum_server_waits,
)


def transcript_until(transcript: Transcript, number: int) -> Transcript | None:
    """Return the transcript up to the end of user turn ``number`` (from 1), or ``None``.

    It is ``None`` if the turn did not take place; the last turn ends with the conversation.
    """
    said = [place for place, message in enumerate(transcript.messages) if _begins_turn(message)]
    if number > len(said):
        return None
    if number == len(said):
        return transcript
    return _cut_transcript(transcript, said[number])


def _begins_turn(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.injected


def _cut_transcript(transcript: Transcript, end: int) -> Transcript:
    """Return ``transcript`` up to the user message at ``end``."""
    messages, following = transcript.messages[:end], transcript.messages[end]
    replies = [message.reply for message in messages if isinstance(message, AssistantMessage)]
    last = replies[-1] if replies else Reply()
    calls = tuple(call for call in transcript.tool_calls if call.reply <= len(replies))
    # Recorded for the whole only, so it is added up again from its parts.
    waited_s = sum(reply.waited_s for reply in replies) + sum_server_waits(calls)
    return replace(
        transcript,
        messages=messages,
        tool_calls=calls,
        # Made when the conversation is over.
        teardown_calls=(),
        states=(),  # they are read when the conversation is over
        answer=last.text,
        # After any other end the user would not have gone on.
        stop="refusal" if last.stop == "refusal" else "answer",
        usage=sum((reply.usage for reply in replies), Usage()),
        replies=len(replies),
        latency_s=following.said_s if isinstance(following, UserMessage) else transcript.latency_s,
        waited_s=round(waited_s, 6),
    )


def unreached_result(check: Check, transcript: Transcript) -> CheckResult:
    """Return the result of a check of a turn that did not take place."""
    said = sum(map(_begins_turn, transcript.messages))
    return CheckResult(
        kind=check.kind,
        label=check.kind,
        verdict="failed",
        severity=check.params.get("severity", check.severity),
        explanation=f"This turn never came: the conversation ended in turn {said} "
        f"({transcript.stop}).",
        hint="See why it ended there; what follows could not be asked.",
        at=check.at,
    )
