"""What a model did, as the rules look at it: calls per reply, replies per turn; read from a transcript."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness.types import AssistantMessage, JsonObject, Reply, ToolCall, Transcript, UserMessage


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    name: str
    """The function, as the case describes it."""
    arguments: JsonObject
    """What was sent."""


Unreadable: TypeAlias = Literal["words", "misshapen"]
"""Why a reply is not calls: it is words or arguments that are no JSON, or arguments that are no object."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply."""

    calls: tuple[Call, ...] = ()
    """What it asked for, as it was sent; none where it is `unreadable`."""
    unreadable: Unreadable | None = None
    """Why it cannot be read as calls; ``None`` also where there is nothing at all in it."""
    text: str = ""
    """Its words."""


def turns_of(transcript: Transcript) -> tuple[tuple[Step, ...], ...]:
    """Return the replies to each thing that the user said."""
    sent: dict[int, list[ToolCall]] = {}
    for call in transcript.tool_calls:
        if call.outcome != "blocked":
            sent.setdefault(call.turn, []).append(call)
    turns: list[list[Step]] = []
    number = 0
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            turns.append([])
        elif isinstance(message, AssistantMessage) and turns:
            number += 1
            turns[-1].append(_step(message.reply, sent.get(number, [])))
    return tuple(tuple(steps) for steps in turns)


def first_step(transcript: Transcript) -> Step:
    """Return the first reply, which is all that counts where one is asked for."""
    return next((step for steps in turns_of(transcript) for step in steps), Step())


def _step(reply: Reply, sent: Sequence[ToolCall]) -> Step:
    malformed = next((request.malformed for request in reply.tool_requests if request.malformed is not None), None)
    if malformed is not None:
        return Step(unreadable="misshapen" if _is_json(malformed) else "words", text=reply.text)
    if not reply.tool_requests:
        return Step(unreadable="words" if reply.text else None, text=reply.text)
    return Step(calls=tuple(Call(call.tool, call.arguments) for call in sent), text=reply.text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
