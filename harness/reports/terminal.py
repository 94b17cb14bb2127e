"""Text for a terminal: wrapped to its width where there is one, and never anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from harness.base import make_printable

_ENDLESS = 1_000_000
"""Columns where nobody looks at them: a line of a file or a pipe is as long as what it says."""
_NARROWEST = 20
"""Columns into which text is wrapped at least."""


def stdout_console() -> Console:
    """Return a console on stdout; where that is no terminal, it wraps and pads nothing."""
    width = None if sys.stdout.isatty() else _ENDLESS
    return Console(width=width, highlight=False, markup=False, emoji=False)


def print_text(console: Console, text: Text, depth: int = 0, lead: Text | None = None) -> None:
    """Print ``text``, every line indented by ``depth`` columns and within the console's width.

    ``lead``, which is shorter than ``depth``, stands before the first line.
    """
    for line in text.wrap(console, max(_NARROWEST, console.width - depth)):
        line.rstrip()
        # Wrapping may have moved to the start of a line what a CI system takes for a command there.
        tame = make_printable(line.plain)
        shown = line if tame == line.plain else Text(tame, style=text.style)
        before, lead = lead or Text(), None
        before = before + Text(" " * (depth - len(before)))
        console.print(before.append_text(shown), soft_wrap=True)


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return a table's lines, each column aligned right but for those at the places ``left``."""
    widths = [_measure_width(column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table_lines(names: list[str], columns: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield a table line by line, ``names`` on the left, the first line its head.

    Columns that have no room within ``width`` come in a block of their own, with the names once
    more.
    """
    left = max(map(len, names))
    while columns:
        fitting, used = 0, left
        while fitting < len(columns) and (
            # One column at least, however narrow the terminal is: otherwise this would never end.
            not fitting or used + 2 + _measure_width(columns[fitting]) <= width
        ):
            used += 2 + _measure_width(columns[fitting])
            fitting += 1
        block, columns = columns[:fitting], columns[fitting:]
        widths = [_measure_width(column) for column in block]
        for name, *cells in zip(names, *block, strict=True):
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            yield f"{name.ljust(left)}  {'  '.join(padded)}".rstrip()
        if columns:
            yield ""


def _measure_width(column: Sequence[str]) -> int:
    return max(map(len, column))
