"""The calls of each reply and the replies of each turn, in the form that the rules need.

Read from a transcript.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from harness.types import (
    AssistantMessage,
    JsonObject,
    Reply,
    ToolCall,
    Transcript,
    UserMessage,
    dataclass,
)


@dataclass(frozen=True, slots=True)
class OutputCall:
    """One call."""

    name: str
    """The function's name in the case."""
    arguments: JsonObject
    """The arguments that were sent."""


Unreadable: TypeAlias = Literal["words", "misshapen"]
"""Why a reply is not calls: its text or arguments are not JSON, or its arguments are not an
object."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply."""

    calls: tuple[OutputCall, ...] = ()
    """Its calls, as sent; empty if it is `unreadable`."""
    unreadable: Unreadable | None = None
    """Why it cannot be parsed as calls; ``None`` also for an empty reply."""
    text: str = ""
    """Its text."""


PYTHON = "(Python)"
"""The only key of an argument that JSON cannot express; its value is the Python notation."""


@dataclass(frozen=True, slots=True)
class UnparsedArgument:
    """An argument that is not a literal, as it was written: usually a call."""

    source: str
    """Its text."""

    def __repr__(self) -> str:
        """Return its text, so that it appears unchanged in a written call."""
        return self.source


def encode_python_value(value: Any, written: str | None = None) -> Any:
    """Return an argument for a transcript; ``{"(Python)": its text}`` if JSON would change it.

    ``written`` is its text if that differs from Python's notation.
    """
    shown = repr(value)
    if (written or shown) == shown and _is_json_value(value):
        return value
    return {PYTHON: written or shown}


def extract_turns(transcript: Transcript) -> tuple[tuple[Step, ...], ...]:
    """Return the replies to each turn."""
    sent: dict[int, list[ToolCall]] = {}
    for call in transcript.server_calls:
        # A blocked call never reached the server.
        if call.outcome != "blocked":
            sent.setdefault(call.reply, []).append(call)
    turns: list[list[Step]] = []
    number = 0
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            turns.append([])
        # A message before any of the user's answers no turn.
        elif isinstance(message, AssistantMessage) and turns:
            number += 1
            turns[-1].append(_build_step(message.reply, sent.get(number, [])))
    return tuple(tuple(steps) for steps in turns)


def is_no_conversation(transcript: Transcript) -> bool:
    """Whether the recording has no turns: messages of the model, but none of the user."""
    return bool(transcript.messages) and not any(
        isinstance(message, UserMessage) for message in transcript.messages
    )


def get_first_step(transcript: Transcript) -> Step:
    """Return the first reply, the only one that counts in single-reply cases."""
    return next((step for steps in extract_turns(transcript) for step in steps), Step())


def _build_step(reply: Reply, sent: Sequence[ToolCall]) -> Step:
    for request in reply.tool_requests:
        if request.malformed is not None:
            why: Unreadable = "misshapen" if _is_json_text(request.malformed) else "words"
            return Step(unreadable=why, text=reply.raw_text)
    if not reply.tool_requests:
        # The latter is an empty list of calls as text.
        no_words = not reply.raw_text or reply.stop == "tool_calls"
        return Step(unreadable=None if no_words else "words", text=reply.raw_text)
    calls = tuple(OutputCall(call.tool, _read_back(call.arguments)) for call in sent)
    return Step(calls=calls, text=reply.raw_text)


def _read_back(arguments: JsonObject) -> JsonObject:
    """Return arguments with the values of `encode_python_value` restored."""
    if not any(isinstance(value, dict) and PYTHON in value for value in arguments.values()):
        return arguments
    return {name: _decode_literal(value) for name, value in arguments.items()}


def _decode_literal(value: Any) -> Any:
    match value:
        case {"(Python)": str() as source} if len(value) == 1:
            try:
                return ast.literal_eval(source)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return UnparsedArgument(source)
    return value


def _is_json_value(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_json_value(one) for one in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json_value(one) for key, one in value.items())
    return value is None or isinstance(value, str | int | float)


def _is_json_text(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
