"""Where the calls of a simulated user stand in a conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from harness.types.transcripts import AssistantMessage, Message, ToolCall, UserMessage


def attach_user_calls(
    messages: Sequence[Message], calls: Sequence[ToolCall]
) -> tuple[Message, ...]:
    """Return ``messages`` with each call of a simulated user at what they said next.

    Calls after which they said nothing become a message without text.
    """
    waiting, replies = deque(calls), 0
    attached: list[Message] = []
    for message in messages:
        replies += isinstance(message, AssistantMessage)
        if isinstance(message, UserMessage):
            own: list[ToolCall] = []
            while waiting and waiting[0].reply <= replies:
                own.append(waiting.popleft())
            message = replace(message, calls=tuple(own))  # noqa: PLW2901 - the same message
        attached.append(message)
    return (*attached, UserMessage(text="", calls=tuple(waiting))) if waiting else tuple(attached)
