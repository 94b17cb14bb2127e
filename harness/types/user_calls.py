"""Where the calls of a simulated user, and what they were asked, stand in a conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.types.elicitations import Elicitation
from harness.types.replies import Reply
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


def attach_questions(
    messages: Sequence[Message], asked: Sequence[Elicitation]
) -> tuple[Message, ...]:
    """Return ``messages`` with each question of the server at the reply with its call.

    One during a call of the case itself is at the first reply, one during no call at the last.
    Calls that no model chose have no reply: an empty one carries what was asked.
    """
    replies = [
        place for place, message in enumerate(messages) if isinstance(message, AssistantMessage)
    ]
    if not asked:
        return tuple(messages)
    if not replies:
        said = AssistantMessage(reply=Reply(text=""), elicitations=tuple(asked))
        return (*messages, said)
    attached = list(messages)
    for question in asked:
        place = _find_reply(attached, replies, question.request_id)
        message: Any = attached[place]
        attached[place] = replace(message, elicitations=(*message.elicitations, question))
    return tuple(attached)


def _find_reply(messages: Sequence[Message], replies: Sequence[int], call: str) -> int:
    for place in replies:
        message: Any = messages[place]
        if any(request.id == call for request in message.reply.tool_requests):
            return place
    return replies[0] if call else replies[-1]
