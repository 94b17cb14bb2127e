"""Widgets of the studies coverage and confusion: exercised tools, and confused tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.descriptions.workbench.page.cells import Cell, Widget, line, table

_NO_TOOL = "(none)"


def confusion(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the matrix of wanted and called tools, and F1 of each tool."""
    rows, columns = facts["wanted"], facts["called"]
    yield {
        "kind": "heat",
        "caption": "Rows: the tool that a case wants first. Columns: the tool that was called "
        "first. Each number opens its conversations.",
        "rows": [_tool(name) for name in rows],
        "columns": [_tool(name) for name in columns],
        "cells": [
            {
                "row": rows.index(cell["wanted"]),
                "column": columns.index(cell["called"]),
                "right": cell["wanted"] == cell["called"],
                "trials": cell["count"],
                "keys": cell["trials"],
            }
            for cell in facts["cells"]
        ],
    }
    yield table(
        "F1 of each tool: 1 when it is called first whenever it is wanted, and only then.",
        ["tool", "F1"],
        [[_tool(one["tool"]), _share(one["f1"])] for one in facts["f1"]],
    )


def coverage(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a row for each tool: number of cases that expect and call it, and its unused parts."""
    yield table(
        "What the suite's checks want and what was called in this run",
        ["tool", "parameters never wanted", "values never wanted", "cases that want it", "call it"],
        [
            [
                line(tool["tool"]),
                _never(tool["parameters"]),
                _values_never(tool["parameters"]),
                f"{len(tool['wanted_by']):,}",
                f"{len(tool['called_by']):,}",
            ]
            for tool in facts["tools"]
        ],
        left=3,
    )


def _tool(name: str | None) -> str:
    return _NO_TOOL if name is None else line(name)


def _share(value: float | None) -> Cell:
    return "–" if value is None else f"{value:.2f}"


def _never(parameters: list[Mapping[str, Any]]) -> str:
    return line(", ".join(one["name"] for one in parameters if not one["cases"])) or "–"


def _values_never(parameters: list[Mapping[str, Any]]) -> str:
    unused = [
        f"{one['name']}: {value}"
        for one in parameters
        for value, cases in one["members"].items()
        if not cases
    ]
    return line(", ".join(unused)) or "–"
