"""Java values written as text. A value that cannot be parsed stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_WHOLE = re.compile(r"-?\d+")
_LONG = re.compile(r"-?\d+[lL]")
_DOUBLE = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_FLOAT = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]")

_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_WITH_ADDS = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADD = re.compile(r"add\((.+?)\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_WITH_PUTS = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")


def parse_java_value(text: str, kind: str, element: str | None = None) -> Any:
    """Return ``text`` as a Java value of type ``kind``, with elements of type ``element``."""
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](text, element)
    return _SCALARS[kind](text) if kind in _SCALARS else text


def _parse_if_matching(
    pattern: re.Pattern[str], read: Callable[[str], Any]
) -> Callable[[str], Any]:
    # As in the rule, `$` also matches before a final line break; the parsers ignore the
    # line break.
    whole = re.compile(f"(?:{pattern.pattern})$")
    return lambda text: read(text) if whole.match(text) else text


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("byte", "short", "integer"), _parse_if_matching(_WHOLE, int)),
    "long": _parse_if_matching(_LONG, lambda text: int(text.strip()[:-1])),
    "float": _parse_if_matching(_FLOAT, lambda text: float(text.strip()[:-1])),
    "double": _parse_if_matching(_DOUBLE, float),
    "boolean": lambda text: {"true": True, "false": False}.get(text, text),
}


def _parse_array_list(text: str, element: str | None) -> Any:
    if listed := _AS_LIST.search(text):
        return [_parse_element(item.strip(), element) for item in listed[1].split(",")]
    if added := _WITH_ADDS.search(text):
        return [_parse_element(item.strip(), element) for item in _ADD.findall(added[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _parse_array(text: str, element: str | None) -> Any:
    listed = _ARRAY.search(text)
    if listed is None:
        return text
    items = [item.strip() for item in listed[1].split(",") if item.strip()]
    if not element:
        return [_parse_undeclared(item) for item in items]
    return [parse_java_value(item, element) for item in items]


def _parse_map(text: str, _element_type: str | None) -> Any:
    if filled := _WITH_PUTS.search(text):
        return {key: _parse_undeclared(value.strip()) for key, value in _PUT.findall(filled[1])}
    return {} if _EMPTY_MAP.search(text) else text


_COLLECTIONS: Mapping[str, Callable[[str, str | None], Any]] = {
    "ArrayList": _parse_array_list,
    "Array": _parse_array,
    "HashMap": _parse_map,
}


def _parse_element(text: str, kind: str | None) -> Any:
    if kind in ("char", "String"):
        return text[1:-1]  # without its quotes
    return parse_java_value(text, kind) if kind else _parse_undeclared(text)


def _parse_undeclared(text: str) -> Any:
    """Return a value whose type is not declared."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    # Before plain numbers, whose readers would refuse the letter at the end.
    for kind in ("long", "float"):
        if (value := _SCALARS[kind](text)) is not text:
            return value
    return parse_number_or_text(text)


def parse_number_or_text(text: str) -> Any:
    """Return a number if Python parses ``text`` as one, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
