"""Cells and widgets of the page: plain JSON, with texts made safe and numbers formatted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from harness.base import limit_text, make_one_line, shorten_text
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
    low, high = fact["interval"]
    verdict = str(fact["verdict"])
    return {
        "interval": [fact["difference"], low, high],
        "scale": [-1, 1],
        "tone": verdict if verdict in MARKS else "undecided",
        "text": f"{format_points(fact['difference'])} points",
        "more": f"95 %: {format_points(low)} to {format_points(high)}",
    }


def rate_cell(rate: float, interval: Sequence[float] | None) -> Cell:
    """Return the cell of a share from 0 to 1 and its 95 % interval."""
    if interval is None:
        return format_percent(rate)
    low, high = interval
    return {
        "interval": [rate, low, high],
        "scale": [0, 1],
        "tone": "plain",
        "text": format_percent(rate),
        "more": f"95 %: {format_percent(low)} to {format_percent(high)}",
    }


def verdict_cell(verdict: Any) -> Cell:
    """Return a verdict with its symbol."""
    told = format_line(verdict)
    mark = MARKS.get(told)
    return told if mark is None else {"text": f"{mark} {told}", "tone": told}


def build_table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, left: int = 1
) -> Widget:
    """Return a table; its first ``left`` columns have words and are left-aligned.

    More rows than `MOST_ROWS` are left out, and the caption says so.
    """
    if len(rows) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(rows):,} rows; the JSON document has all."
    return {
        "kind": "table",
        "caption": format_line(caption),
        "columns": [format_line(column) for column in columns],
        "rows": [list(row) for row in rows[:MOST_ROWS]],
        "left": left,
    }


def _is_number(value: Any) -> bool:
    # A bool is an int in Python, and no figure here.
    return isinstance(value, int | float) and not isinstance(value, bool)
