"""JSON as editors write it: with comments, commas behind the last item, and tabs."""

from __future__ import annotations

import re

_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return ``text`` with spaces in place of comments and tabs, so that every other part stays where it is.

    What is left is YAML, whose flow style reads JSON and forgives a comma behind the last item.
    """
    return _PART.sub(lambda part: part[0] if part[0].startswith('"') else _NOT_LINE_END.sub(" ", part[0]), text)
