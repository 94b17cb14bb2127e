"""Cells and tables of the page: plain JSON, with texts made safe and numbers formatted.

The facts of a study without widgets of its own are shown as tables, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness.base import limit_text, make_one_line, shorten_text
from harness.models import word_set
from harness.reports import format_percent, format_points

Widget: TypeAlias = dict[str, Any]
"""One widget of the page; its ``kind`` names it."""
Cell: TypeAlias = Any
"""A text, or an object with a text and how it is shown."""

_LINE = 400
_TEXT = 20_000
MOST_ROWS = 500
"""Most rows of a table; the JSON document has all."""
_EFFECT = ("difference", "interval", "verdict")
_OF_EFFECTS = word_set(
    "difference interval interval_method test p_value smallest_difference verdict"
)
"""Keys of an effect that its cells already show, or that only programs need."""
_TITLES = {"p_adjusted": "p (adjusted)", "cases_to_decide": "cases that would decide"}
_MOST_ITEMS = 20
_SCALARS = (str, int, float, bool, type(None))
MARKS = {"better": "▲", "worse": "▼", "equivalent": "=", "undecided": "?"}
"""Symbol of each verdict, for readers who do not see colours."""


def format_line(text: Any) -> str:
    """Return a harmless text on one line, of limited length."""
    plain = str(text)
    # Cut before, since making megabytes harmless would take long.
    return shorten_text(make_one_line(plain[: 4 * _LINE]), _LINE)


def format_block(text: Any) -> str:
    """Return a harmless text of limited length that keeps its lines."""
    return limit_text(str(text), _TEXT)


def is_effect(fact: Any) -> bool:
    """Return whether ``fact`` has a difference with an interval and a verdict."""
    return (
        isinstance(fact, Mapping)
        and all(key in fact for key in _EFFECT)
        and _is_number(fact["difference"])
        and is_interval(fact["interval"])
    )


def is_interval(value: Any) -> bool:
    """Return whether ``value`` is a pair of numbers."""
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))  # noqa: PLR2004 - low and high


def effect_cell(fact: Mapping[str, Any]) -> Cell:
    """Return the cell of a difference: its value, its 95 % interval, and its verdict."""
    verdict = str(fact["verdict"])
    tone = verdict if verdict in MARKS else "undecided"
    return points_cell(fact["difference"], fact["interval"], tone)


def points_cell(value: float, interval: Sequence[float], tone: str, level: str = "95") -> Cell:
    """Return the cell of a difference of rates, and its interval at ``level`` %."""
    return {
        "interval": [value, *interval],
        "scale": [-1, 1],
        "tone": tone,
        "text": f"{format_points(value)} points",
        "more": f"{level} %: {' to '.join(map(format_points, interval))}",
    }


def rate_cell(rate: float, interval: Sequence[float] | None) -> Cell:
    """Return the cell of a share from 0 to 1 and its 95 % interval."""
    if interval is None:
        return format_percent(rate)
    return {
        "interval": [rate, *interval],
        "scale": [0, 1],
        "tone": "plain",
        "text": format_percent(rate),
        "more": f"95 %: {' to '.join(map(format_percent, interval))}",
    }


def verdict_cell(verdict: Any) -> Cell:
    """Return a verdict with its symbol."""
    told = format_line(verdict)
    mark = MARKS.get(told)
    return told if mark is None else {"text": f"{mark} {told}", "tone": told}


def dash_if_none(value: Any, write: Callable[[Any], str]) -> str:
    """Return what ``write`` makes of a value, or a dash for ``None``."""
    return "–" if value is None else write(value)


def build_table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, left: int = 1
) -> Widget:
    """Return a table; its first ``left`` columns have words and are left-aligned.

    Texts and numbers of cells are made safe and readable here. More rows than `MOST_ROWS` are left
    out, and the caption says so.
    """
    if len(rows) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(rows):,} rows; the JSON document has all."
    return {
        "kind": "table",
        "caption": format_line(caption),
        "columns": [format_line(column) for column in columns],
        "rows": [list(map(_write_cell, row)) for row in rows[:MOST_ROWS]],
        "left": left,
    }


def generic_tables(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a table for each list of records in ``facts``, and one of its single values."""
    single = {name: value for name, value in facts.items() if isinstance(value, _SCALARS)}
    if len(single) > 1:
        rows = [[_humanize_key(name), _build_cell(value)] for name, value in single.items()]
        yield build_table("", ["fact", "value"], rows, left=2)
    for name, value in facts.items():
        if records := [record for record in _list_records(value) if isinstance(record, Mapping)]:
            yield _records_table(_humanize_key(name), records)


def _records_table(caption: str, records: Sequence[Mapping[str, Any]]) -> Widget:
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
            *(_build_cell(record.get(key)) for key in named),
            *([effect_cell(record), verdict_cell(record["verdict"])] if effects else []),
            *(_build_cell(record.get(key)) for key in figures),
        ]
        for record in records
    ]
    columns = [*map(_humanize_key, named), *middle, *map(_humanize_key, figures)]
    return build_table(caption, columns, rows, left=max(1, len(named)))


def raw_json(facts: Mapping[str, Any]) -> Widget:
    """Return all of ``facts`` as collapsed JSON."""
    text = json.dumps(facts, ensure_ascii=False, indent=1, default=str)
    return {"kind": "raw", "text": format_block(text)}


def _humanize_key(name: str) -> str:
    """Return a key as words."""
    return _TITLES.get(name, format_line(name.replace("_", " ")))


def _build_cell(value: Any) -> str:
    """Return a value as the text of a cell."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.3g}"
        case list():
            texts = map(_build_cell if is_interval(value) else str, value)
            return (" to " if is_interval(value) else ", ").join(texts) or "–"
        case _:
            return str(value)


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


def _write_cell(cell: Cell) -> Cell:
    if isinstance(cell, int):
        return f"{cell:,}"
    return format_line(cell) if isinstance(cell, str) else cell


def _is_number(value: Any) -> bool:
    # A bool is an int in Python, and no figure here.
    return isinstance(value, int | float) and not isinstance(value, bool)
