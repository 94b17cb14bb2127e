"""The page's overview: totals, the grid of cases, tools, and tools taken for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from harness.base import (
    format_money,
    format_number,
    format_seconds,
    iterate_batches,
    make_printable,
    shorten_text,
)
from harness.judging import leak_lines
from harness.reports.findings import build_audit
from harness.reports.sections.attacks import attack_lines
from harness.reports.sections.fault_tables import fault_tables
from harness.reports.sections.matrices import (
    LEGEND,
    access_warnings,
    align_cells,
    cell_words,
    distinct_leaks,
    row_name,
    sort_rows_by_urgency,
)
from harness.reports.sections.remarks import remark_lines
from harness.reports.sections.repeats import repeat_lines
from harness.reports.sections.scores import score_lines, score_tables
from harness.reports.sections.sentences import (
    URGENCY,
    format_names,
    list_pass_rates,
    list_servers,
    list_status_counts,
    model_words,
)
from harness.reports.sections.tool_use import NO_CALL, ToolFacts, tool_facts
from harness.reports.single_page import Block
from harness.reports.viewer.grid import build_grid, build_grid_frame, iterate_cells, shorten_line
from harness.runlog import RunLog
from harness.types import AccessCell, JsonObject, Report

MOST_AT_ONCE = 2_000
"""Cells that a page shows at once: a browser takes seconds for 100,000 cases."""
FIRST = 60
"""Rows that are shown at once of a larger run: more than a screen."""
BLOCK = 1_000
"""Cells of one block of the others."""


def first_grid(report: Report, log: RunLog) -> JsonObject:
    """Return the grid with all cells, or with those of the first rows and the number of blocks."""
    if len(report.cases) <= MOST_AT_ONCE:
        return build_grid(report, log)
    numbers = {id(case): number for number, case in enumerate(report.cases)}
    # Failures come first: nothing else of the order is known without reading every conversation.
    urgent = sorted(report.cases, key=lambda case: URGENCY.index(case.status))
    rows = set(islice(dict.fromkeys((case.suite, case.case) for case in urgent), FIRST))
    first = tuple(case for case in report.cases if (case.suite, case.case) in rows)
    made = iterate_cells(replace(report, cases=first), log)
    return {
        **build_grid_frame(report),
        "cells": [
            {**one, "place": numbers[id(case)]} for case, one in zip(first, made, strict=True)
        ],
        "blocks": -(-len(report.cases) // BLOCK),
    }


def further_cells(report: Report, log: RunLog) -> Iterator[Block]:
    """Yield all cells of a large run, a block of the page's data each."""
    if len(report.cases) <= MOST_AT_ONCE:
        return
    for number, block in enumerate(iterate_batches(iterate_cells(report, log), BLOCK)):
        yield f"cells-{number}", block


_TEXT = 500
_COMMAND = 2_500
_MOST_FINDINGS = 200


def build_overview(report: Report, log: RunLog) -> dict[str, Any]:
    """Return the page's first block of data, ready to show: texts made safe, figures in words."""
    facts = tool_facts(report, log)
    return {
        "run": shorten_line(report.run_id),
        "suites": [
            {
                "name": shorten_line(name),
                "description": shorten_line(suite.get("description") or "", _TEXT),
            }
            for name, suite in report.suites.items()
        ],
        "models": [
            {"name": shorten_line(name), "words": shorten_line(model_words(report, name))}
            for name in report.entrants
        ],
        "servers": shorten_line(format_names(list_servers(report)), _TEXT),
        "when": report.started_at[:16].replace("T", " ") + " UTC" if report.started_at else "",
        "damaged": [shorten_line(words, _TEXT) for words in report.damaged],
        "early": None if report.reason == "complete" else report.reason,
        "planned": report.counts.planned,
        "endings": [{"status": one, "amount": many} for one, many in list_status_counts(report)],
        "rates": [
            {
                "name": shorten_line(name),
                "rate": rate.rate,
                "low": rate.low,
                "high": rate.high,
                "words": str(rate),
            }
            for name, rate in list_pass_rates(report)
        ],
        "repeats": [
            shorten_line(words, _TEXT) for words in (*remark_lines(report), *repeat_lines(report))
        ],
        "scores": [
            # Columns of such a table are aligned by spaces.
            {
                "title": shorten_line(title),
                "lines": [make_printable(shorten_text(line, _TEXT)) for line in lines],
            }
            for title, lines in _list_tables(report, log)
        ],
        "figures": _list_figures(report),
        "grid": first_grid(report, log),
        "access": _encode_access(report),
        "audit": _encode_audit(report, log),
        "tools": [
            [shorten_line(it.tool), it.offered, it.called, it.errors, it.denied, it.blocked]
            # Those that fail most come first: nobody looks for them among a hundred.
            for it in sorted(facts.tools, key=lambda it: -it.errors)
        ],
        "heat": _encode_heat_map(facts),
    }


def _list_tables(report: Report, log: RunLog) -> Iterator[tuple[str, Sequence[str]]]:
    for table in score_tables(report):
        yield f"Scores of {table.suite}, {table.entrant}", list(score_lines(table))
    yield from fault_tables(report, log)
    if lines := attack_lines(report):
        yield "Attacks", lines


def _list_figures(report: Report) -> list[list[str]]:
    usage, judging = report.usage, report.judge_usage
    figures = [
        ["time", "interrupted" if report.elapsed_s is None else format_seconds(report.elapsed_s)],
        ["tokens in", format_number(usage.input_tokens)],
        ["tokens out", format_number(usage.output_tokens)],
        ["cost", format_money(usage.cost_usd)],
    ]
    others = {"cost of judging": judging, "cost of simulated users": report.user_usage}
    costs = {name: used.cost_usd for name, used in others.items() if used.cost_usd != 0}
    return figures + [[name, format_money(cost)] for name, cost in costs.items()]


def _encode_audit(report: Report, log: RunLog) -> dict[str, Any] | None:
    """Return what an auditor asks of a probe, made safe; nothing for other runs."""
    found = build_audit(report, log)
    if found is None:
        return None
    return {
        "facts": [[shorten_line(name), shorten_line(value)] for name, value in found["facts"]],
        "findings": [
            {name: shorten_line(text, _COMMAND) for name, text in finding.items()}
            for finding in found["findings"][:_MOST_FINDINGS]
        ],
        "more": max(0, len(found["findings"]) - _MOST_FINDINGS),
        "told": [shorten_line(words, _COMMAND) for words in found["told"]],
    }


def _encode_access(report: Report) -> dict[str, Any] | None:
    """Return the access matrix; nothing where all cases have the same identity."""
    access = report.access
    warnings = [shorten_line(words, _TEXT) for words in access_warnings(access)]
    if not access.rows and not warnings:
        return None
    cases = enumerate(report.cases, start=1)
    numbers = {(case.suite, case.case, case.entrant): place for place, case in cases}
    return {
        "legend": LEGEND,
        "identities": [shorten_line(identity) for identity in access.identities],
        "leaks": [
            {
                "case": shorten_line(leak.case),
                "lines": [shorten_line(line, _TEXT) for line in leak_lines(leak)],
            }
            for leak, _ in distinct_leaks(access)
        ],
        "warnings": warnings,
        "rows": [
            {
                "test": shorten_line(row_name(row, report)),
                "cells": [
                    cell and _encode_cell(cell, numbers[row.suite, cell.case, row.entrant])
                    for cell in align_cells(row, access.identities)
                ],
            }
            for row in sort_rows_by_urgency(access)
        ],
    }


def _encode_cell(cell: AccessCell, number: int) -> dict[str, Any]:
    kept = [path for decision in cell.decisions for path in (*decision.missing, *decision.masked)]
    return {
        "words": cell_words(cell),
        "leaked": bool(cell.leaks),
        "status": cell.status,
        "number": number,
        "note": shorten_line(f"kept back: {', '.join(dict.fromkeys(kept))}", _TEXT) if kept else "",
    }


def _encode_heat_map(facts: ToolFacts) -> dict[str, Any]:
    """Return expected tools as rows, called tools as columns, and the trials of non-empty cells."""
    rows = sorted({expected for expected, _ in facts.matrix})
    called = {called for _, called in facts.matrix}
    # An expected tool has a column even if nobody called it, so that each row can be read the same
    # way.
    columns = sorted({*rows, *called} - {NO_CALL}) + ([NO_CALL] if NO_CALL in called else [])
    return {
        "rows": list(map(shorten_line, rows)),
        "columns": list(map(shorten_line, columns)),
        "cells": [
            [rows.index(row), columns.index(column), trials]
            for (row, column), trials in facts.matrix.items()
        ],
    }
