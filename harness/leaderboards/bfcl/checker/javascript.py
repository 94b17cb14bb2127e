"""JavaScript values written as text. A value that cannot be parsed stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.leaderboards.bfcl.checker.java import parse_number_or_text

_WHOLE = re.compile(r"-?\d+$")
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_BIGINT = re.compile(r"-?\d+n$")
_ROWS = re.compile(
    r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)",
)
_ROW = re.compile(r"\[(.*?)\]")
_ARRAY = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_ENTRY = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def parse_javascript_value(text: str, kind: str, element: str | None = None) -> Any:
    """Return ``text`` as a JavaScript value of type ``kind``, with elements of type ``element``."""
    if kind == "array":
        return _parse_array(text.strip(), element)
    return _READERS[kind](text) if kind in _READERS else text


def _parse_array(text: str, element: str | None) -> Any:
    # Before flat arrays, whose pattern would match the beginning of nested ones.
    if rows := _ROWS.match(text):
        first, *others = _ROW.findall(rows[0])
        # Without the bracket of the surrounding array.
        first = first.strip().removeprefix("[")
        return [[_parse_undeclared(item) for item in row.split(",")] for row in (first, *others)]
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] if found[1] is not None else found[2]).strip()
    items = [item.strip() for item in inside.split(",")] if inside else []
    if not element:
        return [_parse_undeclared(item) for item in items]
    return [parse_javascript_value(item, element) for item in items]


def _parse_object(text: str) -> Any:
    text = text.strip()
    if text == "{}":
        return {}
    found = _OBJECT.match(text)
    if found is None:
        return text
    return {
        key.strip().strip("'\""): _parse_member(value.strip())
        for key, value in _ENTRY.findall(found[1])
    }


def _parse_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _parse_array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _parse_object(text)
    return _parse_undeclared(text.strip("'\""))


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")


_READERS: Mapping[str, Callable[[str], Any]] = {
    "String": lambda text: text[1:-1] if _is_quoted(text) else text,
    "integer": lambda text: int(text) if _WHOLE.match(text) else text,
    "float": lambda text: float(text) if _NUMBER.match(text) else text,
    "Bigint": lambda text: int(text.strip()[:-1]) if _BIGINT.match(text) else text,
    "Boolean": lambda text: {"true": True, "false": False}.get(text, text),
    "dict": _parse_object,
}


def _parse_undeclared(text: str) -> Any:
    """Return a value whose type is not declared."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else parse_number_or_text(text)
