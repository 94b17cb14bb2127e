"""JSON as editors write it: with comments, commas behind the last item, and tabs."""

from __future__ import annotations

import json
import re

from harness.errors import InvalidInput, Problem
from harness.types import Location

_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_NOT_LINE_END = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return ``text`` with spaces in place of comments and tabs, so that every other part stays where it is.

    What is left is YAML, whose flow style reads JSON and forgives a comma behind the last item.
    """
    return _PART.sub(
        lambda part: part[0] if part[0].startswith('"') else _NOT_LINE_END.sub(" ", part[0]), text
    )


def require_json(text: str, file: str) -> str:
    """Return ``text`` (JSON without comments) as it is: a mistake in it is told in words of JSON, with its place.

    Raises:
        InvalidInput: it is no JSON, commas behind last items aside.
    """
    try:
        json.loads(_LAST_COMMA.sub(lambda part: part[0] if part[0] != "," else " ", text))
    except json.JSONDecodeError as error:
        at = Location(file=file, line=error.lineno, column=error.colno)
        meant = "Look at the commas, quotation marks and brackets around this place."
        raise InvalidInput(
            [Problem(at=at, message=f"this is not JSON: {_worded(error.msg)}.", meant=meant)]
        ) from error
    except (RecursionError, ValueError):
        pass  # too deep, or a number too long: whoever reads it bounds both, and says so
    return text


def _worded(message: str) -> str:
    return message[:1].lower() + message[1:]
