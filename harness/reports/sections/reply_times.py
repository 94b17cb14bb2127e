"""When a model was at work on its replies: measured, or inferred where a log does not say.

Recordings of others have the time of each call and of what the user said, and none of replies. A
model is then taken to be at work from the last answer that it got until its next call was sent, or
until the conversation went on or ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.types import AssistantMessage, ToolCall, Transcript, UserMessage, dataclass


@dataclass(frozen=True, slots=True)
class ReplyTime:
    """When one reply was made, in seconds from the start of the trial."""

    begin: float
    """When the model was asked."""
    end: float
    """When the reply had come; never before ``begin``."""
    measured: bool
    """Whether both were recorded; otherwise they are inferred."""


def reply_times(said: Transcript) -> Iterator[ReplyTime]:
    """Yield the time of each reply, in their order."""
    of_reply: dict[int, list[ToolCall]] = {}
    for call in said.tool_calls:
        of_reply.setdefault(call.reply, []).append(call)
    now, number = 0.0, 0
    for place, message in enumerate(said.messages):
        if isinstance(message, UserMessage):
            now = max(now, message.said_s)
        elif isinstance(message, AssistantMessage):
            number += 1
            calls = of_reply.get(number, ())
            if message.asked_s is not None and message.answered_s is not None:
                end = max(message.asked_s, message.answered_s)
                yield ReplyTime(message.asked_s, end, measured=True)
            else:
                end = max(now, _inferred_end(said, place, calls))
                yield ReplyTime(now, end, measured=False)
            now = max((end, *(call.started_s + call.duration_s for call in calls)))


def _inferred_end(said: Transcript, place: int, calls: Sequence[ToolCall]) -> float:
    if calls:
        # The first call was sent when the reply was there; the others may have waited for it.
        return min(call.started_s for call in calls)
    later = (one.said_s for one in said.messages[place + 1 :] if isinstance(one, UserMessage))
    return next(later, said.latency_s)
