"""The meaning of an unquoted YAML word: a JSON value, or else text.

YAML 1.1 turns ``no`` into false, ``2024-05-01`` into a date, ``1_000`` into a number and ``010``
into eight. Here, as in JSON and in YAML 1.2, only ``null``, ``true``, ``false`` and numbers are
special.
"""

from __future__ import annotations

import math
import re
from typing import Any

_WORDS: dict[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 1000  # Python refuses to print integers of more than 4300 digits
_NUMBER_STARTS = frozenset("+-.0123456789")


def resolve_scalar(word: str) -> Any:
    """Return the JSON value of an unquoted ``word``.

    Raises:
        ValueError: it is a number that JSON cannot express.
    """
    if word in _WORDS:
        return _WORDS[word]
    # Most words are text, and no pattern need be tried for them.
    return _parse_number(word) if word[0] in _NUMBER_STARTS else word


def _parse_number(word: str) -> Any:
    if len(word) > _MAX_DIGITS and (_INTEGER.fullmatch(word) or _BASED.fullmatch(word)):
        raise ValueError("this number has too many digits")
    if _INTEGER.fullmatch(word):
        return int(word)
    if _BASED.fullmatch(word):
        return int(word, 0)
    if _FRACTION.fullmatch(word):
        number = float(word)
        if math.isfinite(number):
            return number
        raise ValueError("this number is too large")
    if _NOT_FINITE.fullmatch(word):
        raise ValueError(f"{word} is not a number in JSON")
    return word
