"""The page's overview: totals, the grid of cases, tools, and tools taken for others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.base import money, number, seconds
from harness.judging import leak_lines
from harness.reports.formats.html_report.cells import first_grid
from harness.reports.sections.access_matrix import (
    LEGEND,
    access_warnings,
    by_urgency,
    cell_words,
    cells_of,
    distinct_leaks,
    row_name,
)
from harness.reports.sections.audit import audit
from harness.reports.sections.remarks import remark_lines
from harness.reports.sections.repeats import repeat_lines
from harness.reports.sections.sentences import endings, model_words, pass_rate
from harness.reports.sections.tool_use import (
    NO_CALL,
    ToolFacts,
    ToolUse,
    tool_facts,
)
from harness.reports.viewer.grid import short
from harness.runlog import RunLog
from harness.types import AccessCell, AccessRow, Report

_TEXT = 500
_COMMAND = 2_500
_MOST_FINDINGS = 200


def overview(report: Report, log: RunLog) -> dict[str, Any]:
    """Return the page's first block of data, ready to show: texts made safe, figures in words."""
    facts = tool_facts(report, log)
    return {
        "run": short(report.run_id),
        "suites": [_suite(name, facts) for name, facts in report.suites.items()],
        "models": [
            {"name": short(name), "words": short(model_words(facts, name))}
            for name, facts in report.models.items()
        ],
        "when": report.started_at[:16].replace("T", " ") + " UTC" if report.started_at else "",
        "damaged": [short(words, _TEXT) for words in report.damaged],
        "early": None if report.reason == "complete" else report.reason,
        "planned": report.counts.planned,
        "endings": [{"status": status, "amount": amount} for status, amount in endings(report)],
        "rate": _rate(report),
        "repeats": [
            short(words, _TEXT) for words in (*remark_lines(report), *repeat_lines(report))
        ],
        "figures": _figures(report),
        "grid": first_grid(report, log),
        "access": _access(report),
        "audit": _audit(report, log),
        "tools": [_tool(use) for use in facts.tools],
        "heat": _heat(facts),
    }


def _suite(name: str, facts: Any) -> dict[str, Any]:
    return {"name": short(name), "description": short(facts.get("description") or "", _TEXT)}


def _rate(report: Report) -> dict[str, Any] | None:
    rate = pass_rate(report)
    return (
        None
        if rate is None
        else {"rate": rate.rate, "low": rate.low, "high": rate.high, "words": str(rate)}
    )


def _figures(report: Report) -> list[list[str]]:
    usage, judging = report.usage, report.judge_usage
    figures = [
        ["time", "interrupted" if report.elapsed_s is None else seconds(report.elapsed_s)],
        ["tokens in", number(usage.input_tokens)],
        ["tokens out", number(usage.output_tokens)],
        ["cost", money(usage.cost_usd)],
    ]
    others = {"cost of judging": judging, "cost of simulated users": report.user_usage}
    return figures + [
        [name, money(used.cost_usd)] for name, used in others.items() if used.cost_usd != 0
    ]


def _audit(report: Report, log: RunLog) -> dict[str, Any] | None:
    """Return what an auditor asks of a probe, made safe; nothing for other runs."""
    found = audit(report, log)
    if found is None:
        return None
    return {
        "facts": [[short(name), short(value)] for name, value in found["facts"]],
        "findings": [
            {name: short(text, _COMMAND) for name, text in one.items()}
            for one in found["findings"][:_MOST_FINDINGS]
        ],
        "more": max(0, len(found["findings"]) - _MOST_FINDINGS),
        "told": [short(words, _COMMAND) for words in found["told"]],
    }


def _access(report: Report) -> dict[str, Any] | None:
    """Return the access matrix; nothing where all cases have the same identity."""
    access = report.access
    warnings = [short(words, _TEXT) for words in access_warnings(access)]
    if not access.rows and not warnings:
        return None
    numbers = {
        (case.suite, case.case, case.model): place
        for place, case in enumerate(report.cases, start=1)
    }
    return {
        "legend": LEGEND,
        "identities": [short(identity) for identity in access.identities],
        "leaks": [
            {"case": short(leak.case), "lines": [short(line, _TEXT) for line in leak_lines(leak)]}
            for leak, _ in distinct_leaks(access)
        ],
        "warnings": warnings,
        "rows": [
            {
                "test": short(row_name(row, report)),
                "cells": [
                    _access_cell(row, cell, numbers) for cell in cells_of(row, access.identities)
                ],
            }
            for row in by_urgency(access)
        ],
    }


def _access_cell(
    row: AccessRow, cell: AccessCell | None, numbers: Mapping[tuple[str, str, str], int]
) -> dict[str, Any] | None:
    if cell is None:
        return None
    kept = [path for decision in cell.decisions for path in (*decision.missing, *decision.masked)]
    return {
        "words": cell_words(cell),
        "leaked": bool(cell.leaks),
        "status": cell.status,
        "number": numbers[row.suite, cell.case, row.model],
        "note": short(f"kept back: {', '.join(dict.fromkeys(kept))}", _TEXT) if kept else "",
    }


def _tool(use: ToolUse) -> list[Any]:
    return [short(use.tool), use.offered, use.called, use.errors, use.denied, use.blocked]


def _heat(facts: ToolFacts) -> dict[str, Any]:
    """Return expected tools as rows, called tools as columns, and the trials of non-empty cells."""
    rows = sorted({expected for expected, _ in facts.matrix})
    called = {called for _, called in facts.matrix}
    columns = sorted({*rows, *called} - {NO_CALL}) + ([NO_CALL] if NO_CALL in called else [])
    cells = [
        [rows.index(row), columns.index(column), trials]
        for (row, column), trials in facts.matrix.items()
    ]
    return {
        "rows": [short(row) for row in rows],
        "columns": [short(column) for column in columns],
        "cells": cells,
    }
