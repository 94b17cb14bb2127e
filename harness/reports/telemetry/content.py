"""Messages in the JSON of the semantic conventions; sent only if the user asked for content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.base import bounded
from harness.reports.telemetry.conventions import FINISH
from harness.types import AssistantMessage, Message, Reply, ToolMessage, UserMessage

LONGEST = 16_000
"""Most characters of one text; the rest is in the log."""


def messages_json(messages: Iterable[Message]) -> str:
    """Return all messages that a model had received before a reply."""
    return as_json([_message(message) for message in messages])


def reply_json(reply: Reply) -> str:
    """Return what a model answered."""
    return as_json([_reply(reply)])


def as_json(value: Any) -> str:
    """Return ``value`` as JSON text."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _message(message: Message) -> Mapping[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "parts": [_text(message.text)]}
        case AssistantMessage():
            return _reply(message.reply)
        case ToolMessage():
            parts = [
                {
                    "type": "tool_call_response",
                    "id": answer.request_id,
                    "response": bounded(answer.text, LONGEST),
                }
                for answer in message.answers
            ]
            return {"role": "tool", "parts": parts}


def _reply(reply: Reply) -> Mapping[str, Any]:
    asked = [
        {
            "type": "tool_call",
            "id": request.id,
            "name": request.tool,
            "arguments": request.arguments,
        }
        for request in reply.tool_requests
    ]
    said = [_text(reply.text)] if reply.text else []
    if reply.thinking:
        said.insert(0, {**_text(reply.thinking), "type": "reasoning"})
    return {
        "role": "assistant",
        "parts": [*said, *asked],
        "finish_reason": FINISH.get(reply.stop, reply.stop),
    }


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "content": bounded(text, LONGEST)}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)
