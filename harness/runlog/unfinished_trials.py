"""What is known of a session that was cut off: its calls, as a conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import groupby

from harness.runlog.lines import TrialLine
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialResult,
)


def build_partial_line(
    result: TrialResult, transcript: Transcript, calls: Collection[ToolCall]
) -> TrialLine:
    """Return the line of a trial that has begun as ``result`` and ``transcript`` say.

    ``calls`` are those that it made until it was cut off.
    """
    # Answers without a call are not known: they were in the memory of whoever was killed.
    replies = max((call.reply for call in calls), default=0)
    took = max((call.started_s + (call.duration_s or 0.0) for call in calls), default=0.0)
    return TrialLine(
        run=replace(
            result,
            outcomes=Counter[str](call.outcome for call in calls),
            replies=replies,
            latency_s=round(took, 6),
        ),
        transcript=replace(
            transcript,
            messages=(*transcript.messages, *build_conversation(calls)),
            tool_calls=tuple(calls),
            replies=replies,
            latency_s=round(took, 6),
        ),
    )


def build_conversation(calls: Iterable[ToolCall]) -> tuple[Message, ...]:
    """Return calls as replies of a model, each followed by what it was told."""
    told: list[Message] = []
    # `groupby` joins only neighbours, and calls of one reply may be answered in any order.
    in_order = sorted(calls, key=_get_reply_number)
    for _, made in groupby(in_order, key=_get_reply_number):
        group = tuple(made)
        asked = tuple(
            ToolRequest(id=call.request_id, tool=call.tool, arguments=call.arguments)
            for call in group
        )
        told += [
            AssistantMessage(reply=Reply(tool_requests=asked, stop="tool_calls")),
            ToolMessage(answers=tuple(_build_answer(call) for call in group)),
        ]
    return tuple(told)


def _get_reply_number(call: ToolCall) -> int:
    return call.reply


def _build_answer(call: ToolCall) -> ToolAnswer:
    return ToolAnswer(request_id=call.request_id, text=call.text, is_error=call.is_error)
