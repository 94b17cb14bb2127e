"""Reads values of a reply by their documented types; other types make the reply unusable.

A field that is null counts as absent. Values of another type are never coerced, since they cannot
be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.models.failure_events import MEANINGS, Event, find_ending_event
from harness.types import ReplyStop

Json = dict[str, Any]

MAX_WORD = 100
"""Most characters of an API's own word that a message quotes."""


class UnusableResponse(Exception):
    """A successful response that is no valid reply; the text says why."""

    def __init__(self, message: str, event: Event = "unexplained") -> None:
        """``event`` is what happened, where the response has a word for it."""
        super().__init__(message)
        self.event: Event = event


def get_text(record: Json, name: str, path: str = "") -> str:
    """Return the text in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnusableResponse(f"{path}{name} is {describe_kind(value)}, not a text")
    return value


def get_object(record: Json, name: str, path: str = "") -> Json:
    """Return the object in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnusableResponse(f"{path}{name} is {describe_kind(value)}, not an object")
    return value


def get_objects(record: Json, name: str, path: str = "") -> list[Json]:
    """Return the list of objects in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnusableResponse(f"{path}{name} is {describe_kind(value)}, not a list")
    for place, item in enumerate(value):
        if not isinstance(item, dict):
            raise UnusableResponse(f"{path}{name}[{place}] is {describe_kind(item)}, not an object")
    return value


def get_type(record: Json, path: str) -> str:
    """Return the type of a block, part or item, which is required."""
    if not (kind := get_text(record, "type", path)):
        raise UnusableResponse(f"{path}type is missing")
    return kind


def get_name(record: Json, path: str) -> str:
    """Return the name of the called tool; a call without one is malformed."""
    if not (name := get_text(record, "name", path)):
        problem = f"{path.rstrip('.')} is a call without the name of a tool"
        raise UnusableResponse(problem, "malformed_call")
    return name


def check_role(record: Json, path: str = "") -> None:
    """Accept only messages with the role of the assistant."""
    if (role := get_text(record, "role", path)) not in ("", "assistant"):
        raise UnusableResponse(f"{path}role is {quote_word(role)}, and not 'assistant'")


def read_ending(
    word: str,
    known: Mapping[str, ReplyStop],
    field: str,
    *,
    text: str,
    calls: bool,
    refusal: str = "",
) -> ReplyStop:
    """Return why a reply ended, by its ``field``'s ``word`` in any case and what it holds.

    Calls count even if the word does not announce them; a cut or refused reply stays so. A full
    context cuts a reply that has begun; without a beginning the conversation did not fit.

    Raises:
        Unusable: the word is unknown, or it announces calls but there is none.
    """
    own = known.get(word.lower())
    event = find_ending_event(word) if own is None else None
    own = own or (MEANINGS[event].stop if event else None)
    # What has begun to be said did fit: the reply was cut, as by its own limit.
    if own == "context_limit" and (text.strip() or calls):
        own = "max_tokens"
    # No reply came of these: as errors they are judged like the same words in an error's body.
    if own in (None, "malformed_call", "context_limit"):
        problem = f"{field} is {quote_word(word)}" if word else f"it has no {field}"
        unknown = ", which is not a known ending" if word and event is None else ""
        raise UnusableResponse(problem + unknown, event or "unexplained")
    # A text of refusal counts more than an ending that knows nothing of it.
    stop = "refusal" if refusal else own
    # A cut reply may have cut its last call, too.
    if calls and stop not in ("max_tokens", "refusal"):
        return "tool_calls"
    if stop == "tool_calls":
        raise UnusableResponse(f"{field} is {quote_word(word)}, but there is no call in it")
    return stop


def quote_word(word: str) -> str:
    """Return an API's own word for a message, bounded and on one line."""
    return repr(word if len(word) <= MAX_WORD else word[: MAX_WORD - 1] + "…")


def describe_kind(value: object) -> str:
    """Return the kind of a JSON value in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
