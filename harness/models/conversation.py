"""Shared by the three APIs for mapping a conversation: answers in order, ids, arguments, text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.base import find_shortcoming, load_json
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    ToolAnswer,
    ToolMessage,
    ToolRequest,
    UserMessage,
)

UNANSWERED = "This call was not executed."
"""The answer for a call without a result: APIs reject a conversation with open calls."""


def iterate_steps(conversation: Sequence[Message]) -> Iterator[str | Reply | list[ToolAnswer]]:
    """Yield the parts in order: a user's message, a reply, or the answers to the calls of a reply.

    There is exactly one answer for each call, in the order of the calls, right after the reply.
    """
    for position, message in enumerate(conversation):
        if isinstance(message, UserMessage):
            yield message.text
        elif isinstance(message, AssistantMessage):
            yield message.reply
            if message.reply.tool_requests:
                following = conversation[position + 1] if position + 1 < len(conversation) else None
                yield _match_answers(message.reply.tool_requests, following)


def _match_answers(requests: Iterable[ToolRequest], following: Message | None) -> list[ToolAnswer]:
    answers = following.answers if isinstance(following, ToolMessage) else ()
    given = {answer.request_id: answer for answer in answers}
    return [
        # APIs refuse a conversation in which a call is open, for instance after a trial's limit.
        given.get(request.id) or ToolAnswer(request_id=request.id, text=UNANSWERED, is_error=True)
        for request in requests
    ]


def error_text(answer: ToolAnswer) -> str:
    """Return the text of ``answer`` for an API without a field for failed calls."""
    # Some servers begin with that word themselves: it is not said twice.
    if not answer.is_error or answer.text[:5].lower() == "error":
        return answer.text
    return f"Error: {answer.text or 'the call failed'}"


def parse_arguments(raw: object) -> tuple[dict[str, Any], str | None]:
    """Return a call's arguments, or none and the text that is not a JSON object or is too large.

    An empty text and ``null`` mean no arguments: several servers send them for a tool without
    parameters.
    """
    if isinstance(raw, dict):
        fits = find_shortcoming(raw) is None
        return (raw, None) if fits else ({}, json.dumps(raw, ensure_ascii=False))
    # A dictionary came first: Messages has objects, the APIs of OpenAI have JSON as text.
    if raw is None or (isinstance(raw, str) and raw.strip() in ("", "null")):
        return {}, None
    # A list or a number is the model's mistake, which is recorded as it came and never sent.
    if not isinstance(raw, str):
        return {}, json.dumps(raw)
    try:
        parsed = load_json(raw, strict=True)
    except ValueError:
        return {}, raw
    fits = isinstance(parsed, dict) and find_shortcoming(parsed) is None
    return (parsed, None) if fits else ({}, raw)


def require_text(value: object) -> str:
    """Return ``value`` if it is text, else an empty text."""
    return value if isinstance(value, str) else ""


def dump_arguments(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON text, for OpenAI's APIs."""
    return json.dumps(dict(arguments), ensure_ascii=False)
