"""Widgets of the studies coverage and confusion: exercised tools, and confused tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.descriptions.workbench.page.cells import Cell, Widget, build_table, format_line

_NO_TOOL = "(none)"


def confusion_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the matrix of wanted and called tools, and F1 of each tool."""
    rows, columns = facts["wanted"], facts["called"]
    yield {
        "kind": "heat",
        "caption": "Rows: the tool that a case wants first. Columns: the tool that was called "
        "first. Each number opens its conversations.",
        "rows": [_format_tool(name) for name in rows],
        "columns": [_format_tool(name) for name in columns],
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
    yield build_table(
        "F1 of each tool: 1 when it is called first whenever it is wanted, and only then.",
        ["tool", "F1"],
        [[_format_tool(one["tool"]), _share_cell(one["f1"])] for one in facts["f1"]],
    )


def coverage_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a row for each tool: number of cases that expect and call it, and its unused parts."""
    yield build_table(
        "What the suite's checks want and what was called in this run",
        ["tool", "parameters never wanted", "values never wanted", "cases that want it", "call it"],
        [
            [
                format_line(tool["tool"]),
                _format_unused(tool["parameters"]),
                _format_unused_values(tool["parameters"]),
                f"{len(tool['wanted_by']):,}",
                f"{len(tool['called_by']):,}",
            ]
            for tool in facts["tools"]
        ],
        left=3,
    )


def _format_tool(name: str | None) -> str:
    return _NO_TOOL if name is None else format_line(name)


def _share_cell(value: float | None) -> Cell:
    return "–" if value is None else f"{value:.2f}"


def _format_unused(parameters: list[Mapping[str, Any]]) -> str:
    return (
        format_line(
            ", ".join(parameter["name"] for parameter in parameters if not parameter["cases"])
        )
        or "–"
    )


def _format_unused_values(parameters: list[Mapping[str, Any]]) -> str:
    unused = [
        f"{parameter['name']}: {value}"
        for parameter in parameters
        for value, cases in parameter["members"].items()
        if not cases
    ]
    return format_line(", ".join(unused)) or "–"
