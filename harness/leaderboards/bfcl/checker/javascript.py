"""JavaScript values written as text. A value that cannot be parsed stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.leaderboards.bfcl.checker.java import number_or_text

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


def javascript_value(text: str, kind: str, element: str | None = None) -> Any:
    """Return ``text`` as a JavaScript value of type ``kind``, with elements of type ``element``."""
    if kind == "array":
        return _array(text.strip(), element)
    return _READERS[kind](text) if kind in _READERS else text


def _array(text: str, element: str | None) -> Any:
    if rows := _ROWS.match(text):
        return [_row(row, first=place == 0) for place, row in enumerate(_ROW.findall(rows[0]))]
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] if found[1] is not None else found[2]).strip()
    items = [item.strip() for item in inside.split(",")] if inside else []
    return [javascript_value(item, element) if element else _guessed(item) for item in items]


def _row(text: str, *, first: bool) -> list[Any]:
    text = text.strip()
    if first:
        text = text.removeprefix("[")  # the bracket of the surrounding array
    return [_guessed(item) for item in text.split(",")]


def _object(text: str) -> Any:
    text = text.strip()
    if text == "{}":
        return {}
    found = _OBJECT.match(text)
    if found is None:
        return text
    return {
        key.strip().strip("'\""): _member(value.strip()) for key, value in _ENTRY.findall(found[1])
    }


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _object(text)
    return _guessed(text.strip("'\""))


def _string(text: str) -> str:
    return text[1:-1] if _is_quoted(text) else text


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")


_READERS: Mapping[str, Callable[[str], Any]] = {
    "String": _string,
    "integer": lambda text: int(text) if _WHOLE.match(text) else text,
    "float": lambda text: float(text) if _NUMBER.match(text) else text,
    "Bigint": lambda text: int(text.strip()[:-1]) if _BIGINT.match(text) else text,
    "Boolean": lambda text: {"true": True, "false": False}.get(text, text),
    "dict": _object,
}


def _guessed(text: str) -> Any:
    """Return a value whose type is not declared."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else number_or_text(text)
