"""Reads values of a reply by their documented types; other types make the reply unusable.

A field that is null counts as absent. Values of another type are never coerced, since they cannot
be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.models.failure_events import MEANINGS, Event, event_of_ending
from harness.types import ReplyStop

Json = dict[str, Any]

MAX_WORD = 100
"""Most characters of an API's own word that a message quotes."""


class Unusable(Exception):
    """A successful response that is no valid reply; the text says why."""

    def __init__(self, message: str, event: Event = "unexplained") -> None:
        """``event`` is what happened, where the response has a word for it."""
        super().__init__(message)
        self.event: Event = event


def text_in(record: Json, name: str, path: str = "") -> str:
    """Return the text in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unusable(f"{path}{name} is {kind_of(value)}, not a text")
    return value


def object_in(record: Json, name: str, path: str = "") -> Json:
    """Return the object in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unusable(f"{path}{name} is {kind_of(value)}, not an object")
    return value


def objects_in(record: Json, name: str, path: str = "") -> list[Json]:
    """Return the list of objects in a field; empty if absent."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unusable(f"{path}{name} is {kind_of(value)}, not a list")
    for place, item in enumerate(value):
        if not isinstance(item, dict):
            raise Unusable(f"{path}{name}[{place}] is {kind_of(item)}, not an object")
    return value


def type_in(record: Json, path: str) -> str:
    """Return the type of a block, part or item, which is required."""
    if not (kind := text_in(record, "type", path)):
        raise Unusable(f"{path}type is missing")
    return kind


def name_in(record: Json, path: str) -> str:
    """Return the name of the called tool; a call without one is malformed."""
    if not (name := text_in(record, "name", path)):
        problem = f"{path.rstrip('.')} is a call without the name of a tool"
        raise Unusable(problem, "malformed_call")
    return name


def check_role(record: Json, path: str = "") -> None:
    """Accept only messages with the role of the assistant."""
    if (role := text_in(record, "role", path)) not in ("", "assistant"):
        raise Unusable(f"{path}role is {quoted(role)}, and not 'assistant'")


def ending(
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
    event = event_of_ending(word) if own is None else None
    own = own or (MEANINGS[event].stop if event else None)
    if own == "context_limit" and (text.strip() or calls):
        own = "max_tokens"
    if own in (None, "malformed_call", "context_limit"):
        problem = f"{field} is {quoted(word)}" if word else f"it has no {field}"
        unknown = ", which is not a known ending" if word and event is None else ""
        raise Unusable(problem + unknown, event or "unexplained")
    stop = "refusal" if refusal else own
    if calls and stop not in ("max_tokens", "refusal"):
        return "tool_calls"
    if stop == "tool_calls":
        raise Unusable(f"{field} is {quoted(word)}, but there is no call in it")
    return stop


def quoted(word: str) -> str:
    """Return an API's own word for a message, bounded and on one line."""
    return repr(word if len(word) <= MAX_WORD else word[: MAX_WORD - 1] + "…")


def kind_of(value: object) -> str:
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
