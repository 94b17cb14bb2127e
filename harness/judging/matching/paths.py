"""Paths into JSON values: ``orders[0].status``, ``orders[*].total``, ``["odd.key"][-1]``.

A leading ``$`` is allowed and means the whole value, as in JSONPath.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from harness.base import InvalidValue
from harness.types import JsonPath

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
    place = 1 if text.startswith("$") else 0
    rooted = place == 1
    found: list[Step] = []
    while place < len(text):
        step = _STEP.match(text, place)
        # Only the first name stands without a dot, and after a `$` none does.
        starts = place == 0 and not rooted
        if step is None or (step["name"] is not None and (step["dot"] is None) != starts):
            raise ValueError(f"the path {text!r} is wrong at character {place + 1}")
        found.append(_parse_step(step))
        place = step.end()
    if not found and not rooted:
        raise ValueError("the path is empty")
    return tuple(found)


def _parse_step(step: re.Match[str]) -> Step:
    if step["index"] is not None:
        return int(step["index"])
    if step["all"] is not None:
        return None
    return str(json.loads(step["quoted"])) if step["quoted"] is not None else step["name"]


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
