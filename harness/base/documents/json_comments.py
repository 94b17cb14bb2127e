"""Reads JSON with comments, trailing commas and tabs, which editors accept."""

from __future__ import annotations

import json
import re

from harness.base.errors import InvalidInput, Problem
from harness.types import Location

_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_NOT_LINE_END = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return ``text`` with comments and tabs replaced by spaces, so that all positions stay.

    The result is YAML, whose flow style accepts JSON with trailing commas.
    """
    return _PART.sub(
        lambda part: part[0] if part[0].startswith('"') else _NOT_LINE_END.sub(" ", part[0]), text
    )


def require_json(text: str, file: str) -> str:
    """Return ``text`` (JSON without comments) unchanged, or raise its error as a JSON error.

    Raises:
        InvalidInput: it is not JSON; trailing commas are allowed.
    """
    try:
        # Checked as JSON first: YAML would accept much that no JSON reader does.
        json.loads(_LAST_COMMA.sub(lambda part: part[0] if part[0] != "," else " ", text))
    except json.JSONDecodeError as error:
        at = Location(file=file, line=error.lineno, column=error.colno)
        meant = "Look at the commas, quotation marks and brackets around this place."
        raise InvalidInput(
            [
                Problem(
                    at=at, message=f"this is not JSON: {_reword_message(error.msg)}.", meant=meant
                )
            ]
        ) from error
    except (RecursionError, ValueError):
        pass  # too deep, or a number too long: the YAML reader reports both
    return text


def _reword_message(message: str) -> str:
    return message[:1].lower() + message[1:]
