"""Add data to recorded results: fields of a more complete result, or a value under another name."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.judging import ComparableValue, Leaf, Result, compare_results, to_comparable
from harness.types import ToolCall


def find_withheld(own: Result, full: Result) -> dict[str, str]:
    """Return the fields that ``full`` has and ``own`` withholds: path → ``left out``, ``masked``.

    Fields of rows that are left out completely are not included.
    """
    return {
        leaf.path: kept for leaf, kept, _ in compare_results(full, own) if kept != "row left out"
    }


def find_most_distinctive(leaves: Iterable[Leaf], known: Container[ComparableValue]) -> Leaf | None:
    """Return the field with the most recognisable value that is not ``known``."""
    graded = [
        (value.grade, len(value.text), leaf)
        for leaf in leaves
        # Grade 0 is left out: such a value may be anywhere by chance, so nobody would notice it.
        if (value := to_comparable(leaf.value)) is not None and value.grade and value not in known
    ]
    return max(graded, key=lambda each: each[:2])[2] if graded else None


def add_fields(
    own: Result, full: Result, paths: Collection[str], *, first_only: bool = False
) -> ToolCall:
    """Return the call of ``own`` with the fields at ``paths`` from ``full``.

    ``first_only``: only in the first record of each list.
    """
    filled = _FieldFiller(paths, first_only=first_only)
    call = own.call
    # A faulty server would show it in both forms of the result.
    if call.structured is not None and full.call.structured is not None:
        call = replace(call, structured=filled.fill_value(call.structured, full.call.structured))
    if not own.is_prose and not full.is_prose:
        call = _replace_text(call, own, filled.fill_value(own.text_json, full.text_json))
    elif call.structured is None:
        lines = [f"{leaf.name}: {leaf.value}" for leaf in full.leaves if leaf.path in paths]
        call = replace(call, text="\n".join([call.text, *(lines[:1] if first_only else lines)]))
    return call


def add_row(own: Result, full: Result) -> ToolCall:
    """Return the call of ``own`` with one more record of a list from ``full``."""
    call = own.call
    if call.structured is not None and full.call.structured is not None:
        call = replace(call, structured=_add_list_item(call.structured, full.call.structured))
    if not own.is_prose and not full.is_prose:
        call = _replace_text(call, own, _add_list_item(own.text_json, full.text_json))
    return call


def add_value(own: Result, name: str, value: Any) -> ToolCall:
    """Return the call of ``own`` with ``value`` added under ``name``."""
    call = own.call
    if call.structured is not None:
        call = replace(call, structured=_insert_value(call.structured, name, value))
    if own.is_prose:
        return replace(call, text=f"{call.text}\n{name}: {value}")
    return replace(
        call, text=json.dumps(_insert_value(own.text_json, name, value), ensure_ascii=False)
    )


def _replace_text(call: ToolCall, own: Result, shown: Any) -> ToolCall:
    """Return ``call`` with ``shown`` as its text, unless the text already says the same."""
    # A text that already says the same keeps its layout.
    same = shown == own.text_json
    return call if same else replace(call, text=json.dumps(shown, ensure_ascii=False))


def _insert_value(document: Any, name: str, value: Any) -> Any:
    if isinstance(document, Mapping):
        return {**document, name: value}
    if isinstance(document, list | tuple) and document and isinstance(document[0], Mapping):
        return [{**document[0], name: value}, *document[1:]]
    return [*document, value] if isinstance(document, list | tuple) else {name: value}


class _FieldFiller:
    """Copies fields of a more complete document into another one of the same call."""

    def __init__(self, paths: Collection[str], *, first_only: bool) -> None:
        self._paths = paths
        self._first_only = first_only

    def fill_value(self, own: Any, full: Any, path: str = "") -> Any:
        if isinstance(own, Mapping) and isinstance(full, Mapping):
            filled = dict(own)
            for key, theirs in full.items():
                inner = f"{path}.{key}" if path else str(key)
                if key in own:
                    filled[key] = self.fill_value(own[key], theirs, inner)
                elif self._has_path(inner):
                    filled[key] = theirs
            return filled
        if isinstance(own, list | tuple) and isinstance(full, list | tuple):
            inner = f"{path}[]"
            pairs = [
                (item, _find_partner(item, place, own, full)) for place, item in enumerate(own)
            ]
            last = 1 if self._first_only else len(pairs)
            return [
                self.fill_value(item, twin, inner) if place < last else item
                for place, (item, twin) in enumerate(pairs)
            ]
        return full if path in self._paths and not isinstance(full, Mapping) else own

    def _has_path(self, path: str) -> bool:
        return any(
            each == path or each.startswith((f"{path}.", f"{path}[]")) for each in self._paths
        )


def _find_partner(item: Any, place: int, own: Any, full: Any) -> Any:
    """Return the record of ``full`` that corresponds to ``item`` of ``own``."""
    # In lists of equal length no row is left out, so that the order is the same.
    if len(own) == len(full) or not isinstance(item, Mapping):
        return full[place] if place < len(full) else item
    return max(full, key=lambda other: _count_equal_fields(item, other), default=item)


def _count_equal_fields(item: Mapping[str, Any], other: Any) -> int:
    """Return the number of equal fields of two records."""
    if not isinstance(other, Mapping):
        return -1
    return sum(key in other and other[key] == value for key, value in item.items())


def _add_list_item(own: Any, full: Any) -> Any:
    if isinstance(own, Mapping) and isinstance(full, Mapping):
        for key, value in own.items():
            longer = _add_list_item(value, full[key]) if key in full else value
            if longer != value:
                return {**own, key: longer}
        return own
    if isinstance(own, list | tuple) and isinstance(full, list | tuple) and len(own) < len(full):
        twins = [_find_partner(item, place, own, full) for place, item in enumerate(own)]
        # If all records are twins of others, they are equal, and any of them is one more.
        return [*own, next((item for item in full if item not in twins), full[-1])]
    return own
