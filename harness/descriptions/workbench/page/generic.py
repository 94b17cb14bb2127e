"""The facts of a study as tables, for studies without widgets of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    build_table,
    effect_cell,
    format_block,
    format_line,
    is_effect,
    is_interval,
    verdict_cell,
)

_OF_EFFECTS = frozenset(
    {
        "difference",
        "interval",
        "interval_method",
        "test",
        "p_value",
        "smallest_difference",
        "verdict",
    }
)
"""Keys of an effect that its cells already show, or that only programs need."""
_TITLES = {"p_adjusted": "p (adjusted)", "cases_to_decide": "cases that would decide"}
_MOST_ITEMS = 20
_SCALARS = (str, int, float, bool, type(None))


def generic_tables(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a table for each list of records in ``facts``, and one of its single values."""
    single = {name: value for name, value in facts.items() if isinstance(value, _SCALARS)}
    if len(single) > 1:
        rows = [[humanize_key(name), build_cell(value)] for name, value in single.items()]
        yield build_table("", ["fact", "value"], rows, left=2)
    for name, value in facts.items():
        if records := [record for record in _list_records(value) if isinstance(record, Mapping)]:
            yield records_table(humanize_key(name), records)


def records_table(caption: str, records: Sequence[Mapping[str, Any]]) -> Widget:
    """Return a table of ``records``: words first, then effects as intervals, then figures."""
    # Only if all of them are effects can they share columns.
    effects = all(map(is_effect, records))
    keys = [
        key
        for key in dict.fromkeys(key for record in records for key in record)
        if not (effects and key in _OF_EFFECTS)
    ]
    # An object or a long list would not fit into a cell.
    shown = [key for key in keys if all(_is_plain(record.get(key)) for record in records)]
    named = [key for key in shown if any(isinstance(record.get(key), str) for record in records)]
    figures = [key for key in shown if key not in named]
    middle = ["effect", "verdict"] if effects else []
    rows = [
        [
            *(build_cell(record.get(key)) for key in named),
            *([effect_cell(record), verdict_cell(record["verdict"])] if effects else []),
            *(build_cell(record.get(key)) for key in figures),
        ]
        for record in records
    ]
    columns = [*map(humanize_key, named), *middle, *map(humanize_key, figures)]
    return build_table(caption, columns, rows, left=max(1, len(named)))


def raw_json(facts: Mapping[str, Any]) -> Widget:
    """Return all of ``facts`` as collapsed JSON."""
    text = json.dumps(facts, ensure_ascii=False, indent=1, default=str)
    return {"kind": "raw", "text": format_block(text)}


def humanize_key(name: str) -> str:
    """Return a key as words."""
    return _TITLES.get(name, format_line(name.replace("_", " ")))


def build_cell(value: Any) -> Cell:
    """Return a value as a cell."""
    if isinstance(value, int | float | None):
        return _format_number(value)
    if is_interval(value):
        return " to ".join(map(_format_number, value))
    if isinstance(value, list):
        return format_line(", ".join(map(str, value)) or "–")
    return format_line(value)


def _format_number(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _is_plain(value: Any) -> bool:
    """Return whether a value fits into a cell."""
    if isinstance(value, list):
        return len(value) <= _MOST_ITEMS and all(isinstance(one, _SCALARS) for one in value)
    return isinstance(value, _SCALARS)


def _list_records(value: Any) -> list[Any]:
    """Return the records of a list, or of a mapping whose values are records, with their keys."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [{"name": name, **one} for name, one in value.items() if isinstance(one, Mapping)]
    return []
