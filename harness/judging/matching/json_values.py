"""JSON values as suites write them and models send them: their types, equality and display."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from harness.base import InvalidValue
from harness.judging.matching.texts import clean_text, clip_text
from harness.types import JsonPath

MAX_DEPTH = 40
"""Levels to which a value from a suite may nest; keeps every walk over it clear of the recursion
limit."""

_MAX_BITS = 1023  # a larger integer cannot be compared with a float


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "(not given)"


ABSENT: Final = Absent.ABSENT
"""Stands for a missing value; ``None`` is JSON's null, which is a value."""


def to_plain_json(value: Any, path: JsonPath = ()) -> Any:
    """Return a copy of ``value`` made of dicts, lists and JSON scalars only.

    Raises:
        InvalidValue: a part of it is not JSON: a date, a key that is not a string, infinity.
    """
    if len(path) > MAX_DEPTH:
        raise InvalidValue("this is nested too deeply", path=path[:MAX_DEPTH])
    if isinstance(value, Mapping):
        return {
            _check_key(key, path): to_plain_json(part, (*path, key)) for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [to_plain_json(part, (*path, index)) for index, part in enumerate(value)]
    return _check_scalar(value, path)


def _check_key(key: Any, path: JsonPath) -> str:
    if not isinstance(key, str):
        raise InvalidValue(
            f"the key {format_value(key)} is not a string",
            path=path,
            meant=f'Quote it: "{format_value(key)}".',
        )
    return str(_check_scalar(key, path))


def _check_scalar(value: Any, path: JsonPath) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # UTF-8 cannot encode such a text, so no log could hold it.
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InvalidValue(
                "this text is not valid Unicode (it holds half of a surrogate pair)", path=path
            )
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise InvalidValue("this number is too large", path=path)
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidValue("infinity and NaN are not JSON numbers", path=path)
        return value
    raise InvalidValue(
        f"this is a {type(value).__name__} to YAML, which JSON does not have",
        path=path,
        meant=f'Quote it to make it a string: "{clip_text(clean_text(str(value)), 60)}".',
    )


def is_number(value: Any) -> bool:
    """Whether ``value`` is a JSON number; ``true`` is not a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: types count, but ``5`` and ``5.0`` are equal."""
    # First, since to Python `True` equals 1.
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            is_equal(part, right[key]) for key, part in left.items()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(is_equal, left, right))
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return left is None and right is None


def type_name(value: Any) -> str:
    """Return JSON's name for the type of ``value``; integers are ``number`` too."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def format_value(value: Any, width: int = 60) -> str:
    """Return ``value`` as JSON on one line of at most ``width`` characters, safe for terminals."""
    if isinstance(value, Absent):
        return value.value
    try:
        text = json.dumps(value, ensure_ascii=False, default=_to_readable)
    # A server's value may be nested deeper than Python recurses.
    except RecursionError:
        text = "(nested very deeply)"
    # Escape beyond the cut, so that a secret there is still whole when `clip_text` redacts it.
    return clip_text(clean_text(text[: width * 8]), width)


def _to_readable(value: Any) -> Any:
    # Read-only mappings, which `json` does not know.
    return dict(value) if isinstance(value, Mapping) else str(value)


def shorten_value(value: Any, width: int = 2_000) -> Any:
    """Return ``value``, or the first ``width`` characters of its text if that is longer."""
    text = format_value(value, width + 1)
    return value if len(text) <= width else clip_text(text, width)


def iterate_leaves(value: Any) -> Iterator[str]:
    """Yield every scalar and key inside a JSON value as text, at any depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield from (str(key) for key in part)
            waiting.extend(reversed(list(part.values())))
        elif isinstance(part, list | tuple):
            waiting.extend(reversed(part))
        else:
            yield part if isinstance(part, str) else json.dumps(part, default=str)
