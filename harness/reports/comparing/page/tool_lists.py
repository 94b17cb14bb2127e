"""What differs between the tools that two sides were shown, word by word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from harness.base import limit_text
from harness.reports.viewer.grid import shorten_line
from harness.runlog import tool_forms
from harness.types import Tool, ToolList

_LONGEST = 20_000
_MOST = 200
_PARTS = ("title", "description", "input_schema", "output_schema", "read_only", "destructive")


def changed_tools(
    before: Mapping[str, ToolList], after: Mapping[str, ToolList]
) -> list[dict[str, Any]]:
    """Return each tool that differs: ``{name, change, parts: [{part, before, after}]}``.

    ``change`` is ``new``, ``gone`` or ``changed``. Where users see a tool in several forms, form is
    compared with form.
    """
    # A side that listed no tools, for example after a failed start, has not lost all of them.
    if set(before) == set(after) or not before or not after:
        return []
    old, new = tool_forms(before), tool_forms(after)
    found = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name, []), new.get(name, [])
        if was == now:
            continue
        change = "new" if not was else "gone" if not now else "changed"
        pairs = zip_longest(was, now)
        parts = [part for one, other in pairs for part in _compare_parts(one, other)]
        found.append({"name": shorten_line(name), "change": change, "parts": parts})
    return found[:_MOST]


def _compare_parts(one: Tool | None, other: Tool | None) -> Iterator[dict[str, str]]:
    for part in _PARTS:
        was, now = getattr(one, part, None), getattr(other, part, None)
        if was != now:
            name, before, after = part.replace("_", " "), _format_value(was), _format_value(now)
            yield {"part": name, "before": before, "after": after}


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=dict)
    return limit_text(value, _LONGEST)
