"""Values of a reply by the types that the APIs document; anything else makes the reply unusable, and is never coerced.

A field that is absent or null says nothing. What it says in another type than the documented one
cannot be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.types import ReplyStop

Json = dict[str, Any]

MAX_WORD = 100
"""Characters of an API's own word that a message repeats."""


class Unusable(Exception):
    """A response of success that is no reply; the text says why."""


def text_in(record: Json, name: str, path: str = "") -> str:
    """Return the text in a field, or no text where it says nothing."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unusable(f"{path}{name} is {kind_of(value)}, not a text")
    return value


def object_in(record: Json, name: str, path: str = "") -> Json:
    """Return the object in a field, or an empty one where it says nothing."""
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unusable(f"{path}{name} is {kind_of(value)}, not an object")
    return value


def objects_in(record: Json, name: str, path: str = "") -> list[Json]:
    """Return the list of objects in a field, or an empty one where it says nothing."""
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
    """Return the type of a block, part or item, which each of them has to name."""
    if not (kind := text_in(record, "type", path)):
        raise Unusable(f"{path}type is missing")
    return kind


def name_in(record: Json, path: str) -> str:
    """Return the name of the tool that a call names."""
    if not (name := text_in(record, "name", path)):
        raise Unusable(f"{path.rstrip('.')} is a call without the name of a tool")
    return name


def check_arguments(value: object, path: str) -> None:
    """Take arguments that are an object or a text, or not there: a text that is no object is the model's own fault."""
    if not (value is None or isinstance(value, str | dict)):
        raise Unusable(f"{path} is {kind_of(value)}, not an object or a text")


def check_role(record: Json, path: str = "") -> None:
    """Take what the assistant says, and nobody else's words."""
    if (role := text_in(record, "role", path)) not in ("", "assistant"):
        raise Unusable(f"{path}role is {quoted(role)}, and not 'assistant'")


def ending(
    word: str, known: Mapping[str, ReplyStop], field: str, *, calls: bool, refusal: str = ""
) -> ReplyStop:
    """Return why a reply ended whose ``field`` says ``word``, and which has ``calls`` or the words of a ``refusal``.

    Calls are believed over a word that forgets them; a cut or refused reply stays what it is.

    Raises:
        Unusable: nobody knows the word, or it promises calls of which there is none.
    """
    if word not in known:
        raise Unusable(
            f"{field} is {quoted(word)}, which is no known ending" if word else f"it has no {field}"
        )
    stop = "refusal" if refusal else known[word]
    if calls and stop not in ("max_tokens", "refusal"):
        return "tool_calls"
    if stop == "tool_calls":
        raise Unusable(f"{field} is {quoted(word)}, and there is no call in it")
    return stop


def quoted(word: str) -> str:
    """Return an API's own word for a message, bounded and on one line."""
    return repr(word if len(word) <= MAX_WORD else word[: MAX_WORD - 1] + "…")


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
