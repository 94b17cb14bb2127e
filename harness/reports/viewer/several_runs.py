"""The grids of several runs as one: a column for each run and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from harness.types import JsonObject

Told: TypeAlias = tuple[str, str, JsonObject]
"""Name of a run, what its columns are called, and its grid."""


def join_grids(runs: Sequence[Told]) -> dict[str, Any]:
    """Return the grid of ``runs``, whose cells know their run; each column keeps its own rates."""
    columns, cells = [], []
    for run, title, grid in runs:
        by_model = next(axis for axis in grid["axes"] if axis["name"] == "model")
        columns += [
            {
                **column,
                "key": [run, *column["key"]],
                "title": f"{title} · {column['title']}",
                "words": run,
            }
            for column in by_model["columns"]
        ]
        cells += [{**cell, "run": run} for cell in grid["cells"]]
    axis = {
        "name": "run",
        "column": ["run", "entrant"],
        "row": ["suite", "case"],
        "columns": columns,
    }
    return {"urgency": runs[0][2]["urgency"], "axes": [axis], "cells": cells}
