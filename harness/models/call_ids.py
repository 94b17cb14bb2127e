"""Ids of calls: each is used once in a conversation, whatever a model's endpoint gives.

Some endpoints give no ids, some count from zero in every reply, and some give one id to two calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.types import AssistantMessage, Message, Reply, ToolMessage


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
