"""Shared by the three APIs for mapping a conversation: answers in order, ids, arguments, text.

The id of a call is used once in a conversation, whatever a model's endpoint gives. Some endpoints
give no ids, some count from zero in every reply, and some give one id to two calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import find_shortcoming, load_json
from harness.types import (
    AssistantMessage,
    Media,
    Message,
    Reply,
    ToolAnswer,
    ToolMessage,
    ToolRequest,
    UserMessage,
)

FILE_NAME = "file.pdf"
"""What APIs are told that a PDF is called: a server gives it no name."""

UNANSWERED = "This call was not executed."
"""The answer for a call without a result: APIs reject a conversation with open calls."""


def iterate_steps(
    conversation: Sequence[Message],
) -> Iterator[UserMessage | Reply | list[ToolAnswer]]:
    """Yield the parts in order: a user's message, a reply, or the answers to the calls of a reply.

    There is exactly one answer for each call, in the order of the calls, right after the reply.
    """
    for position, message in enumerate(conversation):
        if isinstance(message, UserMessage):
            # What is not given is described in the text.
            given = tuple(one for one in message.media if one.given)
            yield message if given == message.media else replace(message, media=given)
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


def build_data_url(media: Media) -> str:
    """Return the bytes of ``media`` as a URL, the form of OpenAI's APIs."""
    return f"data:{media.mime};base64,{media.data}"


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


class CallIds:
    """The ids that a conversation has used."""

    def __init__(self, conversation: Iterable[Message] = ()) -> None:
        """Start with those of the replies in ``conversation``."""
        self._taken = {
            request.id
            for message in conversation
            if isinstance(message, AssistantMessage)
            for request in message.reply.tool_requests
        }

    def take(self, given: object) -> str:
        """Return ``given`` if it is an unused id, else a new one."""
        own = given if isinstance(given, str) and given.strip() else None
        # Not from 0: in a long conversation most numbers below are in use.
        number = len(self._taken)
        while own is None or own in self._taken:
            number += 1
            own = f"call{number:05}"  # nine letters and digits: Mistral accepts no other form
        self._taken.add(own)
        return own

    def take_all(self, reply: Reply) -> Reply:
        """Return ``reply`` with an unused id for each of its calls; its own where it is unused."""
        requests = tuple(
            replace(request, id=self.take(request.id)) for request in reply.tool_requests
        )
        # The same object where nothing changed, which is nearly always.
        return reply if requests == reply.tool_requests else replace(reply, tool_requests=requests)


def make_ids_unique(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield recorded ``messages`` with every id of a call used once, and answers to the new ids."""
    ids = CallIds()
    open_calls: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            reply = ids.take_all(message.reply)
            # Pairs and no dictionary: two calls of one reply may have come with the same id.
            pairs = zip(message.reply.tool_requests, reply.tool_requests, strict=True)
            open_calls = [(given.id, own.id) for given, own in pairs]
            yield replace(message, reply=reply)
        elif isinstance(message, ToolMessage):
            answers = []
            for answer in message.answers:
                pair = next((call for call in open_calls if call[0] == answer.request_id), None)
                if pair is not None:
                    # Answered: the next answer to the same id belongs to the second call.
                    open_calls.remove(pair)
                    answer = replace(answer, request_id=pair[1])  # noqa: PLW2901
                answers.append(answer)
            yield replace(message, answers=tuple(answers))
        else:
            yield message


def restore_ids(messages: Sequence[Message], given: Mapping[str, str]) -> Sequence[Message]:
    """Return ``messages`` with the ids that the model gave; ``given`` maps ours to them."""
    return [_restore_message_ids(message, given) for message in messages] if given else messages


def _restore_message_ids(message: Message, given: Mapping[str, str]) -> Message:
    if isinstance(message, AssistantMessage):
        requests = tuple(
            replace(request, id=given.get(request.id, request.id))
            for request in message.reply.tool_requests
        )
        return replace(message, reply=replace(message.reply, tool_requests=requests))
    if isinstance(message, ToolMessage):
        answers = tuple(
            replace(answer, request_id=given.get(answer.request_id, answer.request_id))
            for answer in message.answers
        )
        return replace(message, answers=answers)
    return message
