"""The first difference between two states, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.leaderboards.bfcl.apis.file_tree import Directory, File

_MISSING = object()
_LONGEST = 200


def describe_difference(place: str, is_now: Any, should_be: Any) -> str:
    """Return the first difference between two unequal values, with its path from ``place`` on."""
    mine, theirs = _get_parts(is_now), _get_parts(should_be)
    if mine is None or theirs is None or type(is_now) is not type(should_be):
        return f"{place} is {shorten_text(repr(is_now))}, expected {shorten_text(repr(should_be))}"
    for key in [*theirs, *(key for key in mine if key not in theirs)]:
        left, right = mine.get(key, _MISSING), theirs.get(key, _MISSING)
        if left is _MISSING:
            return f"{place} lacks {key!r}: {shorten_text(repr(right))}"
        if right is _MISSING:
            return f"{place} has the extra {key!r}: {shorten_text(repr(left))}"
        if left != right:
            return describe_difference(f"{place}[{key!r}]", left, right)
    # All parts are equal, so the values differ by something else, such as a directory's name.
    return f"{place} is {shorten_text(repr(is_now))}, expected {shorten_text(repr(should_be))}"


def shorten_text(text: str) -> str:
    """Return ``text``, shortened if it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _get_parts(value: Any) -> Mapping[Any, Any] | None:
    """Return the parts of ``value`` by key or index; ``None`` if it has none."""
    match value:
        case Directory(contents=contents):
            return contents
        case File(content=content):
            return {"content": content}
        case dict():
            return value
        case list():
            return dict(enumerate(value))
    return None
