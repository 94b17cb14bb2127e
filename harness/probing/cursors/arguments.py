"""Find the argument of a tool that takes a cursor, and the result's field that has one."""

from __future__ import annotations

from collections.abc import Mapping

from harness.judging import Result, fold_text
from harness.types import Tool

_TAKES = frozenset(
    {"cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuation"}
    | {"continuationtoken", "marker", "nextmarker", "startingafter", "after", "scrollid"}
)
"""Folded names of arguments that take a cursor."""
_GIVES = ("cursor", "pagetoken", "nexttoken", "continuation", "continuationtoken", "marker", "next")
"""Folded endings of the names of fields that hold a cursor; ``scroll_id`` is one, too."""
LISTS: Mapping[str, str] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""Lists of the server itself, which take a ``cursor``: method → where its result has the list."""


def find_cursor_argument(tool: Tool) -> str | None:
    """Return the text argument of ``tool`` that takes a cursor; ``None`` if there is none."""
    declared = tool.input_schema.get("properties")
    for name, part in declared.items() if isinstance(declared, Mapping) else ():
        if _normalize_name(name) in _TAKES and _allows_text(part):
            return str(name)
    return None


def _allows_text(part: object) -> bool:
    """Whether a schema allows text."""
    kinds = part.get("type") if isinstance(part, Mapping) else None
    options = part.get("anyOf") if isinstance(part, Mapping) else None
    # Pydantic declares an optional text as "anyOf" of it and null.
    if isinstance(options, list):
        return any(map(_allows_text, options))
    # A schema that states no type allows every one.
    return kinds is None or kinds == "string" or (isinstance(kinds, list) and "string" in kinds)


def get_cursor(result: Result) -> str | None:
    """Return the cursor to the page after ``result``; ``None`` if there is none."""
    for leaf in result.leaves:
        if isinstance(leaf.value, str) and leaf.value and is_cursor_field(leaf.name):
            return leaf.value
    return None


def is_cursor_field(name: str) -> bool:
    """Whether a field of that name holds a cursor."""
    return _normalize_name(name).endswith(_GIVES) or _normalize_name(name) == "scrollid"


def _normalize_name(name: str) -> str:
    # Letters alone, so that "next_page_token" and "nextPageToken" are one name.
    return "".join(filter(str.isalpha, fold_text(name)))
