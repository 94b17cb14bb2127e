"""The axes as columns of the tables of trials and cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.reports.querying.columns import Column, Row
from harness.suites import AXES
from harness.types import HasEntrant

ENTRANT = " || ".join(["model", *(f"coalesce('+' || \"{axis.name}\", '')" for axis in AXES)])
"""What gives the name of a trial's entrant in SQL: `HasEntrant.entrant`."""


def axis_columns(get_entrant: Callable[[Row], HasEntrant]) -> tuple[Column[Row], ...]:
    """Return a column for each axis; ``get_entrant`` returns what a row says it of."""

    def get_value(row: Row, axis: str) -> str | None:
        return get_entrant(row).axes.get(axis)

    return tuple(
        Column(axis.name, "TEXT", axis.doc, partial(get_value, axis=axis.name)) for axis in AXES
    )
