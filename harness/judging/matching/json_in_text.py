"""The JSON of an answer: the whole text, or its first code block of JSON."""

from __future__ import annotations

import json
import re
from typing import Any

_OPENING = re.compile(r"^[ \t]*```", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*```|```[ \t]*$", re.MULTILINE)
_INFO = (
    re.compile(r"[^\n`]*\n\s*"),
    re.compile(r"[\w+-]*[ \t]*(?=[{\[])"),
)  # on a line of its own, or before the JSON
_FENCE = re.compile(r"\s*```")

MISSING = object()
"""Stands for a missing value; ``None`` is JSON's null, which is a value."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_constant)


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
