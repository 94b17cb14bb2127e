"""When a model was at work: as recorded, and inferred only where a log does not say."""

from __future__ import annotations

from dataclasses import replace

from harness.reports.sections.reply_times import ReplyTime, reply_times
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    ToolCall,
    ToolRequest,
    Transcript,
    UserMessage,
)

ASKS = Reply(tool_requests=(ToolRequest(id="r", tool="t"),))
CALL = ToolCall(
    tool="t",
    arguments={},
    outcome="ok",
    reply=1,
    request_id="r",
    started_s=1.0,
    duration_s=0.25,
)


def a_transcript(*messages: Message) -> Transcript:
    return Transcript(
        messages=(UserMessage(text="?"), *messages), tool_calls=(CALL,), latency_s=3.0
    )


def test_recorded_times_are_taken_as_they_are() -> None:
    said = a_transcript(
        AssistantMessage(reply=ASKS, asked_s=0.125, answered_s=0.5),
        AssistantMessage(reply=Reply(text="done"), asked_s=1.5, answered_s=2.75),
    )
    assert list(reply_times(said)) == [
        ReplyTime(0.125, 0.5, measured=True),
        ReplyTime(1.5, 2.75, measured=True),
    ]


def test_without_them_a_reply_lasts_from_the_last_answer_to_its_own_first_call() -> None:
    said = a_transcript(AssistantMessage(reply=ASKS), AssistantMessage(reply=Reply(text="done")))
    assert list(reply_times(said)) == [
        ReplyTime(0.0, 1.0, measured=False),
        ReplyTime(1.25, 3.0, measured=False),
    ]


def test_a_reply_without_calls_ends_when_the_user_goes_on() -> None:
    said = replace(
        a_transcript(
            AssistantMessage(reply=Reply(text="yes?")),
            UserMessage(text="well", said_s=2.0),
            AssistantMessage(reply=Reply(text="done")),
        ),
        tool_calls=(),
    )
    assert [(time.begin, time.end) for time in reply_times(said)] == [(0.0, 2.0), (2.0, 3.0)]


def test_half_a_time_is_none() -> None:
    said = a_transcript(AssistantMessage(reply=ASKS, asked_s=0.125))
    assert list(reply_times(said)) == [ReplyTime(0.0, 1.0, measured=False)]
