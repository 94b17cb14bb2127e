"""The page's first block of data: the summary, the tools, and every study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import format_money, format_number
from harness.descriptions.workbench.console import BASELINE, rank_findings
from harness.descriptions.workbench.json_document import build_workbench_document
from harness.descriptions.workbench.page.cells import format_block, format_line
from harness.descriptions.workbench.page.studies import study_widgets
from harness.descriptions.workbench.page.tool_list import tool_list
from harness.descriptions.workbench.stage_plan import COMMAND
from harness.descriptions.workbench.study import STUDIES
from harness.descriptions.workbench.workbench_result import ModelResults, WorkbenchResult
from harness.runner import RESUMED_BY, resume_command


def build_overview(result: WorkbenchResult) -> dict[str, Any]:
    """Return the page's first block, ready to show: texts made safe, figures in words."""
    written = build_workbench_document(result)
    return {
        "suite": format_line(result.suite),
        "run": format_line(result.run_id),
        "facts": list(_overview_facts(result)),
        "notices": [format_line(words) for words in _build_notices(result)],
        "models": [
            _model_block(one, facts["studies"], result)
            for one, facts in zip(result.models, written["models"], strict=True)
        ],
    }


def conversation_keys(whole: Mapping[str, Any]) -> list[str]:
    """Return the trials that the heat maps of a page link to, mistakes first."""
    cells = [
        cell
        for model in whole["models"]
        for study in model["studies"]
        for widget in study["widgets"]
        if widget["kind"] == "heat"
        for cell in widget["cells"]
    ]
    cells.sort(key=lambda cell: cell["right"])
    return [key for cell in cells for key in cell["keys"]]


def _overview_facts(result: WorkbenchResult) -> Iterator[list[str]]:
    spent = result.spent
    yield ["trials", format_number(result.recorded)]
    yield ["without a verdict", format_number(result.not_judged)]
    yield ["tokens in", format_number(spent.input_tokens)]
    yield ["tokens out", format_number(spent.output_tokens)]
    yield ["cost", format_money(spent.cost_usd)]
    yield ["tools", format_number(len(result.tools))]


def _build_notices(result: WorkbenchResult) -> Iterator[str]:
    yield from result.notes
    if result.reason != "complete":
        command = resume_command(result.run_id, {RESUMED_BY: COMMAND})
        yield (
            f"The workbench ended early: {result.reason}. The page shows what is there; "
            f"{command} goes on."
        )
    if result.not_judged:
        yield (
            f"{result.not_judged:,} of {result.recorded:,} trials have no verdict (errors, skipped "
            "or cut off). They count neither as passed nor as failed."
        )


def _model_block(
    one: ModelResults, facts: Mapping[str, Mapping[str, Any]], result: WorkbenchResult
) -> dict[str, Any]:
    return {
        "name": format_line(one.model),
        "baseline": BASELINE if one.baseline else None,
        "findings": [
            {
                "text": format_line(finding.text),
                "certain": finding.certain,
                "study": study,
                "tool": None if finding.tool is None else format_line(finding.tool),
            }
            for study, finding in rank_findings(one)
        ],
        "found": sum(len(study.findings) for study in one.studies),
        "list": tool_list(result.tools, facts.get("ablation")),
        "studies": [
            {
                "name": format_line(study.study),
                "question": _study_question(study.study),
                "headline": format_line(study.headline),
                "lines": [format_block(text) for text in study.lines],
                "notes": [format_line(note) for note in study.notes],
                "widgets": study_widgets(study.study, facts[study.study]),
            }
            for study in one.studies
        ],
    }


def _study_question(name: str) -> str:
    return STUDIES.get(name).question if name in STUDIES else ""
