"""The first difference between two states, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.leaderboards.bfcl.apis.file_tree import Directory, File

_MISSING = object()
_LONGEST = 200


def difference(place: str, is_now: Any, should_be: Any) -> str:
    """Return the first difference between two unequal values, with its path from ``place`` on."""
    mine, theirs = _parts(is_now), _parts(should_be)
    if mine is None or theirs is None or type(is_now) is not type(should_be):
        return f"{place} is {shortened(repr(is_now))}, expected {shortened(repr(should_be))}"
    for key in [*theirs, *(key for key in mine if key not in theirs)]:
        left, right = mine.get(key, _MISSING), theirs.get(key, _MISSING)
        if left is _MISSING:
            return f"{place} lacks {key!r}: {shortened(repr(right))}"
        if right is _MISSING:
            return f"{place} has the extra {key!r}: {shortened(repr(left))}"
        if left != right:
            return difference(f"{place}[{key!r}]", left, right)
    return f"{place} is {shortened(repr(is_now))}, expected {shortened(repr(should_be))}"


def shortened(text: str) -> str:
    """Return ``text``, shortened if it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _parts(value: Any) -> Mapping[Any, Any] | None:
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
