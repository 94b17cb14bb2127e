"""JSON values as suites write them and models send them: types, equality, display, and paths.

A path is written ``orders[0].status``, ``orders[*].total``, ``["odd.key"][-1]``. A leading ``$`` is
allowed and means the whole value, as in JSONPath.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
    if isinstance(value, list | tuple):
        return [to_plain_json(part, (*path, index)) for index, part in enumerate(value)]
    if not isinstance(value, Mapping):
        return _check_scalar(value, path)
    plain = {}
    for key, part in value.items():
        if not isinstance(key, str):
            shown = format_value(key)
            meant = f'Quote it: "{shown}".'
            raise InvalidValue(f"the key {shown} is not a string", path=path, meant=meant)
        plain[_check_scalar(key, path)] = to_plain_json(part, (*path, key))
    return plain


def _check_scalar(value: Any, path: JsonPath) -> Any:
    """Return ``value``, if it is a JSON scalar."""
    why = ""
    # UTF-8 cannot encode such a text, so no log could hold it.
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        why = "this text is not valid Unicode (it holds half of a surrogate pair)"
    elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
        why = "this number is too large"
    elif isinstance(value, float) and not math.isfinite(value):
        why = "infinity and NaN are not JSON numbers"
    if why:
        raise InvalidValue(why, path=path)
    if value is None or isinstance(value, str | int | float):
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
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
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


_OPENING = re.compile(r"^[ \t]*```", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*```|```[ \t]*$", re.MULTILINE)
_INFO = (
    re.compile(r"[^\n`]*\n\s*"),
    re.compile(r"[\w+-]*[ \t]*(?=[{\[])"),
)  # on a line of its own, or before the JSON
_FENCE = re.compile(r"\s*```")

MISSING = object()
"""Stands for a missing value; ``None`` is JSON's null, which is a value."""


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def load_strict_json(text: str) -> Any:
    """Return the value of strict JSON.

    Raises:
        ValueError: ``text`` is not strict JSON; NaN and Infinity are not JSON either.
        RecursionError: it is nested too deeply.
    """
    return _STRICT.decode(text)


def find_json(answer: str) -> Any:
    """Return the JSON of an answer: of the whole text, or of its first code block of JSON."""
    try:
        return load_strict_json(answer)
    # As a whole it is no JSON; a block of it may be.
    except (ValueError, RecursionError):
        pass
    place = 0
    while opening := _OPENING.search(answer, place):
        if (value := _read_json_block(answer, opening.end())) is not MISSING:
            return value
        closing = _CLOSING.search(answer, opening.end())
        # A block that is never closed is the rest of the answer.
        if closing is None:
            break
        place = closing.end()
    return MISSING


def _read_json_block(answer: str, place: int) -> Any:
    """Return the JSON of the code block that opens before ``place``, up to its closing fence."""
    for info in _INFO:
        begun = info.match(answer, place)
        try:
            # Up to the end of the JSON itself, since a string in it may have a fence.
            value, end = _STRICT.raw_decode(answer, begun.end() if begun else place)
        except (ValueError, RecursionError):
            continue
        if _FENCE.match(answer, end):
            return value
    return MISSING


class JsonField(NamedTuple):
    """One field of an object somewhere in a value."""

    path: str
    """Its keys from the outside in, joined by dots; list indexes are left out."""
    name: str
    """Its own key."""
    value: Any
    """The field's value."""


def every_field(value: Any) -> Iterator[JsonField]:
    """Yield every field within ``value``, also fields with empty values."""
    waiting = [("", value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping):
            for key, each in part.items():
                inner = f"{path}.{key}" if path else str(key)
                yield JsonField(inner, str(key), each)
                waiting.append((inner, each))
        elif isinstance(part, list | tuple):
            waiting.extend((path, each) for each in part)


_STEP = re.compile(
    r"""\[(?P<index>-?\d{1,9})\]
      | \[(?P<all>\*)\]
      | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]
      | (?P<dot>\.)?(?P<name>[^.\[\]"$\s][^.\[\]"]*)""",
    re.VERBOSE,
)
_MEANT = 'A path is written orders[0].status, orders[*].total or ["odd.key"].'

Step = str | int | None
"""A key, an index, or ``None`` for every element."""


def check_path(text: Any, path: JsonPath = ()) -> None:
    """Make sure that ``text`` is a path.

    Raises:
        InvalidValue: it is not a path.
    """
    if not isinstance(text, str):
        raise InvalidValue("a path is a string", path=path, meant=_MEANT)
    try:
        parse_path(text)
    except ValueError as error:
        raise InvalidValue(str(error), path=path, meant=_MEANT) from error


# Cached, since the path of a check is followed in every result of every trial.
@lru_cache(maxsize=256)
def parse_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path.

    Raises:
        ValueError: it is not a path; the message names the first wrong character.
    """
    is_rooted = text.startswith("$")
    place = int(is_rooted)
    found: list[Step] = []
    while place < len(text):
        step = _STEP.match(text, place)
        # Only the first name stands without a dot, and after a `$` none does.
        if step is None or (step["name"] and (step["dot"] is None) != (place == 0)):
            raise ValueError(f"the path {text!r} is wrong at character {place + 1}")
        if step["index"] is not None:
            found.append(int(step["index"]))
        else:
            name = str(json.loads(step["quoted"])) if step["quoted"] else step["name"]
            found.append(None if step["all"] else name)
        place = step.end()
    if not found and not is_rooted:
        raise ValueError("the path is empty")
    return tuple(found)


def select_values(text: str, value: Any) -> list[Any]:
    """Return the values at a path: none, one, or with ``[*]`` several."""
    found = [value]
    for step in parse_path(text):
        found = [part for parent in found for part in _follow_step(step, parent)]
    return found


def _follow_step(step: Step, parent: Any) -> list[Any]:
    if isinstance(step, str):
        return [parent[step]] if isinstance(parent, Mapping) and step in parent else []
    if not isinstance(parent, list | tuple):
        return []
    if step is None:
        return list(parent)
    return [parent[step]] if -len(parent) <= step < len(parent) else []
