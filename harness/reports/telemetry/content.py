"""Messages in the JSON of the semantic conventions; sent only if the user asked for content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.base import limit_text
from harness.reports.telemetry.conventions import FINISH
from harness.types import AssistantMessage, Message, Reply, ToolMessage, UserMessage

LONGEST = 16_000
"""Most characters of one text; the rest is in the log."""


def messages_json(messages: Iterable[Message]) -> str:
    """Return all messages that a model had received before a reply."""
    return encode_json(list(map(_encode_message, messages)))


def reply_json(reply: Reply) -> str:
    """Return what a model answered."""
    return encode_json([_encode_reply(reply)])


def encode_json(value: Any) -> str:
    """Return ``value`` as JSON text."""
    return json.dumps(value, ensure_ascii=False, default=_to_plain)


def _encode_message(message: Message) -> Mapping[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "parts": [_encode_text(message.text)]}
        case AssistantMessage():
            return _encode_reply(message.reply)
        case ToolMessage():
            kind = "tool_call_response"
            parts = [
                {"type": kind, "id": one.request_id, "response": limit_text(one.text, LONGEST)}
                for one in message.answers
            ]
            return {"role": "tool", "parts": parts}


def _encode_reply(reply: Reply) -> Mapping[str, Any]:
    asked = [
        {"type": "tool_call", "id": one.id, "name": one.tool, "arguments": one.arguments}
        for one in reply.tool_requests
    ]
    said = [_encode_text(reply.text)] if reply.text else []
    if reply.thinking:
        said.insert(0, {**_encode_text(reply.thinking), "type": "reasoning"})
    return {
        "role": "assistant",
        "parts": [*said, *asked],
        "finish_reason": FINISH.get(reply.stop, reply.stop),
    }


def _encode_text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "content": limit_text(text, LONGEST)}


def _to_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)
