"""The facts of a study as tables, for studies without widgets of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    block_of,
    effect_cell,
    is_effect,
    is_interval,
    line,
    table,
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


def tables_of(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a table for each list of records in ``facts``, and one of its single values."""
    single = {name: value for name, value in facts.items() if isinstance(value, _SCALARS)}
    if len(single) > 1:
        rows = [[words(name), cell(value)] for name, value in single.items()]
        yield table("", ["fact", "value"], rows, left=2)
    for name, value in facts.items():
        if records := [one for one in _items(value) if isinstance(one, Mapping)]:
            yield records_table(words(name), records)


def records_table(caption: str, records: Sequence[Mapping[str, Any]]) -> Widget:
    """Return a table of ``records``: words first, then effects as intervals, then figures."""
    effects = all(map(is_effect, records))
    keys = [
        key
        for key in dict.fromkeys(key for record in records for key in record)
        if not (effects and key in _OF_EFFECTS)
    ]
    shown = [key for key in keys if all(_fits(record.get(key)) for record in records)]
    named = [key for key in shown if any(isinstance(one.get(key), str) for one in records)]
    figures = [key for key in shown if key not in named]
    middle = ["effect", "verdict"] if effects else []
    rows = [
        [
            *(cell(record.get(key)) for key in named),
            *([effect_cell(record), verdict_cell(record["verdict"])] if effects else []),
            *(cell(record.get(key)) for key in figures),
        ]
        for record in records
    ]
    columns = [*map(words, named), *middle, *map(words, figures)]
    return table(caption, columns, rows, left=max(1, len(named)))


def raw(facts: Mapping[str, Any]) -> Widget:
    """Return all of ``facts`` as collapsed JSON."""
    text = json.dumps(facts, ensure_ascii=False, indent=1, default=str)
    return {"kind": "raw", "text": block_of(text)}


def words(name: str) -> str:
    """Return a key as words."""
    return _TITLES.get(name, line(name.replace("_", " ")))


def cell(value: Any) -> Cell:
    """Return a value as a cell."""
    if isinstance(value, int | float | None):
        return _figure(value)
    if is_interval(value):
        return " to ".join(map(_figure, value))
    if isinstance(value, list):
        return line(", ".join(map(str, value)) or "–")
    return line(value)


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _fits(value: Any) -> bool:
    """Return whether a value fits into a cell."""
    if isinstance(value, list):
        return len(value) <= _MOST_ITEMS and all(isinstance(one, _SCALARS) for one in value)
    return isinstance(value, _SCALARS)


def _items(value: Any) -> list[Any]:
    """Return the records of a list, or of a mapping whose values are records, with their keys."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [{"name": name, **one} for name, one in value.items() if isinstance(one, Mapping)]
    return []
