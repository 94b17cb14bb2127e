"""The page's data: the summary, the tools, every study, and the conversations that fit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, TypeAlias

from harness.base import format_money, format_number
from harness.descriptions.workbench.analysis.effects import PART_VERDICTS
from harness.descriptions.workbench.arms import (
    INSTRUCTIONS,
    Part,
    ServerTexts,
    count_tokens,
    iterate_parts,
)
from harness.descriptions.workbench.console import BASELINE, rank_findings
from harness.descriptions.workbench.page.cells import (
    MARKS,
    effect_cell,
    format_block,
    format_line,
    is_effect,
)
from harness.descriptions.workbench.page.study_widgets import study_widgets
from harness.descriptions.workbench.stages import COMMAND
from harness.descriptions.workbench.study import STUDIES
from harness.descriptions.workbench.workbench_result import (
    ModelResults,
    WorkbenchResult,
    build_workbench_document,
)
from harness.judging import judge_log
from harness.reports import trial_detail
from harness.runlog import RESUMED_BY, read_log, resume_command

MOST_BYTES = 3_000_000
"""Most bytes of all conversations of a page; the others are in the run log."""

Blocks: TypeAlias = list[tuple[str, Any]]
_STRONG = 0.3
"""The effect, as a rate, at which the colour is strongest."""
_SHADES = 4


def build_overview(result: WorkbenchResult) -> dict[str, Any]:
    """Return the page's first block, ready to show: texts made safe, figures in words."""
    written = build_workbench_document(result)
    return {
        "suite": format_line(result.suite),
        "run": format_line(result.run_id),
        "facts": [
            ["trials", format_number(result.recorded)],
            ["without a verdict", format_number(result.not_judged)],
            ["tokens in", format_number(result.spent.input_tokens)],
            ["tokens out", format_number(result.spent.output_tokens)],
            ["cost", format_money(result.spent.cost_usd)],
            ["tools", format_number(len(result.texts.tools))],
        ],
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
        "list": tool_list(result.texts, facts.get("ablation")),
        "studies": [
            {
                "name": format_line(study.study),
                "question": STUDIES.get(study.study).question if study.study in STUDIES else "",
                "headline": format_line(study.headline),
                "lines": [format_block(text) for text in study.lines],
                "notes": [format_line(note) for note in study.notes],
                "widgets": study_widgets(study.study, facts[study.study]),
            }
            for study in one.studies
        ],
    }


def tool_list(texts: ServerTexts, facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the tools with their parts, the server's instructions before them, if it has any.

    ``facts`` are those of the ablation, if it was done.
    """
    effects = {
        tuple(map(effect["part"].get, ("tool", "kind", "parameter", "number"))): effect
        for effect in (facts or {}).get("parts", ())
        if is_effect(effect) and "part" in effect
    }
    by_tool: dict[str | None, list[Part]] = {}
    for part in iterate_parts(texts):
        by_tool.setdefault(part.tool, []).append(part)
    listed = [_tool_data(tool or INSTRUCTIONS, parts, effects) for tool, parts in by_tool.items()]
    return {
        "tools": listed,
        "tokens": sum(tool["tokens"] for tool in listed),
        "measured": len(effects),
        "parts": sum(len(tool["parts"]) for tool in listed),
        "margin": (facts or {}).get("margin"),
    }


def _tool_data(
    name: str, words: Sequence[Part], effects: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> dict[str, Any]:
    parts = [_part_data(part, effects) for part in words]
    return {
        "name": format_line(name),
        "parts": parts,
        "tokens": count_tokens(words),
        "shown": sum(part["tone"] in {"better", "worse"} for part in parts),
        "largest": max((part["weight"] for part in parts), default=0),
    }


def _part_data(part: Part, effects: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> dict[str, Any]:
    effect = effects.get((part.tool, part.kind, part.parameter, part.number))
    verdict = "" if effect is None else str(effect["verdict"])
    difference = 0.0 if effect is None else effect["difference"]
    share = min(1.0, abs(difference) / _STRONG)
    return {
        "what": format_line(part.label.removeprefix(f"{part.tool or INSTRUCTIONS}: ")),
        "text": format_block(part.text),
        "tokens": part.tokens,
        "tone": verdict,
        "says": f"{MARKS.get(verdict, '·')} {PART_VERDICTS.get(verdict, 'not measured')}",
        # From 0 (none); any effect has a colour, however small it is.
        "shade": ceil(share) and max(1, round(_SHADES * share)),
        "sure": _certainty(effect),
        "sign": "helps" if difference > 0 else "hurts" if difference < 0 else "none",
        "weight": abs(difference),
        "effect": None if effect is None else effect_cell(effect),
        "decide": None if effect is None else effect.get("cases_to_decide"),
        "cases": None if effect is None else effect.get("cases"),
    }


def _certainty(effect: Mapping[str, Any] | None) -> str:
    """Return how certain an effect is: ``shown``, ``likely`` or ``open``.

    A likely effect has an interval on one side of 0, which may be chance among so many parts.
    """
    if effect is None:
        return "open"
    if effect["verdict"] != "undecided":
        return "shown"
    low, high = effect["interval"]
    return "likely" if low > 0 or high < 0 else "open"


def collect_conversations(
    result: WorkbenchResult, keys: Sequence[str], most: int = MOST_BYTES
) -> tuple[dict[str, Any], Blocks]:
    """Return the facts of each trial of ``keys``, and the conversations that fit into the page.

    ``keys`` are `TrialResult.key`; the first are the most important. A trial without a block names
    the command that shows it.
    """
    found = {}
    for path in result.logs if keys else ():
        log = read_log(path)
        found.update({one.key: (one, log) for one in judge_log(log).results})
    known: dict[str, Any] = {}
    blocks: Blocks = []
    room = most
    for key in dict.fromkeys(key for key in keys if key in found):
        one, log = found[key]
        told: dict[str, Any] = {
            "case": format_line(one.case.name),
            "model": format_line(one.model),
            "trial": one.trial,
            "trials": one.repeats,
            "status": one.status,
            "run": format_line(log.header.run_id),
            "block": None,
        }
        detail = trial_detail(one, log.read_transcript(key))
        # As ASCII, so that its characters are bytes of the page.
        size = len(json.dumps(detail))
        # If a long one does not fit, shorter ones after it still may.
        if size <= room:
            room -= size
            told["block"] = f"trial-{len(blocks)}"
            blocks.append((told["block"], detail))
        known[key] = told
    return known, blocks
