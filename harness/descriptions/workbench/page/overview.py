"""The page's first block of data: the summary, the tools, and every study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import money, number
from harness.descriptions.workbench.console import BASELINE, most_important
from harness.descriptions.workbench.json_form import document
from harness.descriptions.workbench.page.cells import block_of, line
from harness.descriptions.workbench.page.studies import widgets_of
from harness.descriptions.workbench.page.tool_list import tool_list
from harness.descriptions.workbench.staging import COMMAND
from harness.descriptions.workbench.study import STUDIES
from harness.descriptions.workbench.workbench import ModelResults, WorkbenchResult
from harness.runner import RESUMED_BY, resume_command


def overview(result: WorkbenchResult) -> dict[str, Any]:
    """Return the page's first block, ready to show: texts made safe, figures in words."""
    written = document(result)
    return {
        "suite": line(result.suite),
        "run": line(result.run_id),
        "facts": list(_facts(result)),
        "notices": [line(words) for words in _notices(result)],
        "models": [
            _model(one, facts["studies"], result)
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


def _facts(result: WorkbenchResult) -> Iterator[list[str]]:
    spent = result.spent
    yield ["trials", number(result.recorded)]
    yield ["without a verdict", number(result.not_judged)]
    yield ["tokens in", number(spent.input_tokens)]
    yield ["tokens out", number(spent.output_tokens)]
    yield ["cost", money(spent.cost_usd)]
    yield ["tools", number(len(result.tools))]


def _notices(result: WorkbenchResult) -> Iterator[str]:
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


def _model(
    one: ModelResults, facts: Mapping[str, Mapping[str, Any]], result: WorkbenchResult
) -> dict[str, Any]:
    return {
        "name": line(one.model),
        "baseline": BASELINE if one.baseline else None,
        "findings": [
            {
                "text": line(finding.text),
                "certain": finding.certain,
                "study": study,
                "tool": None if finding.tool is None else line(finding.tool),
            }
            for study, finding in most_important(one)
        ],
        "found": sum(len(study.findings) for study in one.studies),
        "list": tool_list(result.tools, facts.get("ablation")),
        "studies": [
            {
                "name": line(study.study),
                "question": _question(study.study),
                "headline": line(study.headline),
                "lines": [block_of(text) for text in study.lines],
                "notes": [line(note) for note in study.notes],
                "widgets": widgets_of(study.study, facts[study.study]),
            }
            for study in one.studies
        ],
    }


def _question(name: str) -> str:
    return STUDIES.get(name).question if name in STUDIES else ""
