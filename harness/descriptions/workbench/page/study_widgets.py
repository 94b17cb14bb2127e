"""The findings of each study as widgets; a study without widgets is shown by its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.base import LEVEL
from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    build_table,
    dash_if_none,
    effect_cell,
    format_line,
    generic_tables,
    rate_cell,
    raw_json,
    verdict_cell,
)
from harness.descriptions.workbench.page.change_widgets import (
    ab_widgets,
    improve_widgets,
    kill_score_widgets,
)
from harness.reports import format_percent

Facts: TypeAlias = Mapping[str, Any]
View: TypeAlias = Callable[[Facts], Iterator[Widget]]
_TOLD = frozenset({"headline", "notes", "findings"})
"""Keys that the JSON form adds to the facts of every study."""
_NO_TOOL = "(none)"
_MOST_TEXT = 12
_KINDS = {"near": "similar"}
"""Kind of added tool → its name on the page."""


def study_widgets(name: str, facts: Facts) -> list[Widget]:
    """Return the widgets of the study of that name; all of its facts come last, folded away."""
    own = {key: value for key, value in facts.items() if key not in _TOLD}
    key, view = VIEWS.get(name, ("", generic_tables))
    if key not in own:  # an unknown study, or nothing was measured
        view = generic_tables
    return [*view(own), raw_json(own)] if own else []


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
        [
            [_format_tool(one["tool"]), dash_if_none(one["f1"], "{:.2f}".format)]
            for one in facts["f1"]
        ],
    )


def coverage_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield a row for each tool: number of cases that expect and call it, and its unused parts."""
    yield build_table(
        "What the suite's checks want and what was called in this run",
        ["tool", "parameters never wanted", "values never wanted", "cases that want it", "call it"],
        [
            [
                tool["tool"],
                *_unused_parts(tool["parameters"]),
                len(tool["wanted_by"]),
                len(tool["called_by"]),
            ]
            for tool in facts["tools"]
        ],
        left=3,
    )


def _format_tool(name: str | None) -> str:
    return _NO_TOOL if name is None else format_line(name)


def _unused_parts(parameters: list[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the parameters without a case, and the values without one."""
    values = (
        f"{parameter['name']}: {value}"
        for parameter in parameters
        for value, cases in parameter["members"].items()
        if not cases
    )
    names = (parameter["name"] for parameter in parameters if not parameter["cases"])
    return ", ".join(names) or "–", ", ".join(values) or "–"


def decoys_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the pass rate by the number of added tools: a curve and a table."""
    kinds = facts["kinds"]
    if not kinds:
        return
    yield {
        "kind": "curve",
        "caption": "Pass rate by the number of tools that were added. Line and band: the fitted "
        "curve and its 95 % band. Dots: what was measured.",
        "x": "tools added",
        "series": [
            {
                "name": _KINDS.get(kind["kind"], format_line(kind["kind"])),
                "fitted": [[one["added"], one["accuracy"], *one["band"]] for one in kind["curve"]],
                "measured": [
                    [length["added"], length["pass_rate"]]
                    for length in kind["lengths"]
                    if length["pass_rate"] is not None
                ],
            }
            for kind in kinds
        ],
    }
    yield build_table(
        "The same as figures",
        ["added tools", "added", "pass rate", "cases", "an added tool was called first"],
        [
            [
                _KINDS.get(kind["kind"], kind["kind"]),
                length["added"],
                dash_if_none(length["pass_rate"], format_percent),
                length["cases"],
                f"{length['decoy_called_first']:,} of {length['trials']:,}",
            ]
            for kind in kinds
            for length in kind["lengths"]
        ],
    )


def cost_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the cost of a right first call, and the parts that cost tokens and are useless."""
    chosen = facts.get("selection") or {}
    each = chosen.get("tokens_each")
    told = [
        ["tokens of the list's words, in each request", facts["tokens"]],
        ["tokens of parts that carry nothing", facts.get("idle_tokens", 0)],
        ["right first calls", f"{chosen.get('right', 0):,} of {chosen.get('trials', 0):,}"],
        ["tokens for each right first call", "unknown" if each is None else f"{each:,.0f}"],
    ]
    yield build_table("", ["price", ""], told)
    idle = [part for part in facts["parts"] if part["idle"]]
    shown = idle or facts["parts"][:_MOST_TEXT]
    yield build_table(
        "Parts that cost tokens and are shown to carry nothing"
        if idle
        else "No part is shown to carry nothing. The dearest parts",
        ["part", "effect", "verdict", "tokens"],
        [
            [part["label"], effect_cell(part), verdict_cell(part["verdict"]), part["tokens"]]
            for part in shown
        ],
    )


def paraphrase_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the effect of wording on the pass rate, and the cases that depend on it."""
    same = rate_cell(facts["consistent"], facts["interval"])
    yield build_table(
        "Do the verdicts depend on the wording of the prompts?",
        ["", "share"],
        [
            ["cases with one verdict in all wordings", same],
            ["cases that pass in every wording", format_percent(facts["every"])],
            ["mean pass rate in the worst wording", format_percent(facts["worst"])],
            ["other wordings against the prompts", effect_cell(_add_difference(facts["others"]))],
        ],
    )
    if hanging := [case for case in facts["cases"] if case["hangs"]]:
        yield build_table(
            "Cases whose verdict depends on the wording, and the wordings in which they fail",
            ["case", "fails as"],
            [[case["name"], " | ".join(map(str, case["failing"]))] for case in hanging],
            left=2,
        )


def steering_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the share of calls to the tool with assertive text, and the share by chance."""
    said = {"equal": "equal texts", "brag": "a stock brag", "own": "its own assertive words"}
    yield build_table(
        "Share of the calls of a tool among its copies; without any effect it is the even share",
        ["what was set apart", "tool", "share of calls", "even share", "result", "cases"],
        [
            [
                said.get(contest["kind"], contest["kind"]),
                contest["tool"] or "all tools",
                rate_cell(contest["share"]["share"], contest["share"]["interval"]),
                format_percent(contest["share"]["even"]),
                _wins_cell(contest),
                contest["share"]["cases"],
            ]
            for contest in facts["contests"]
        ],
        left=2,
    )
    yield {"kind": "text", "text": format_line(f"The stock brag: {facts['brag']}")}


def _wins_cell(contest: Mapping[str, Any]) -> Cell:
    share = contest["share"]
    if contest["kind"] == "equal":
        return "for comparison"
    if contest["steered"]:
        return {"text": "▲ wins calls", "tone": "better"}
    if contest["p_adjusted"] < LEVEL and share["share"] < share["even"]:
        return {"text": "▼ loses calls", "tone": "worse"}
    return {"text": "? nothing is shown", "tone": "undecided"}


def order_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the effect of the wanted tool's position, and the pass rate under each order."""
    moved = {
        "pass rate, wanted tool first against last": facts["passing"],
        "share of first calls, first against last": facts["choosing"],
    }
    rows = [
        [name, effect_cell(_add_difference(one)), verdict_cell(one["verdict"]), one["pairs"]]
        for name, one in moved.items()
        if one is not None
    ]
    if rows:
        yield build_table(
            "Does the place in the list matter?", ["", "effect", "verdict", "cases"], rows
        )
    if orders := facts.get("orders"):
        yield build_table(
            f"Pass rate under each order, {orders['cases']:,} cases",
            ["order", "pass rate"],
            [
                ["the server's own order" if name == "own" else name, format_percent(rate)]
                for name, rate in orders["rates"].items()
            ],
        )


def _add_difference(effect: Mapping[str, Any]) -> dict[str, Any]:
    """Return a paired effect with its difference."""
    return {**effect, "difference": effect["after"] - effect["before"]}


def _refer_to_tool_list(_facts: Facts) -> Iterator[Widget]:
    """Yield where to look: the facts are the colours of the tool list."""
    yield {"kind": "text", "text": "The tool list above shows each part with its effect."}


VIEWS: Mapping[str, tuple[str, View]] = {
    "ab": ("variants", ab_widgets),
    "ablation": ("parts", _refer_to_tool_list),
    "confusion": ("cells", confusion_widgets),
    "coverage": ("tools", coverage_widgets),
    "decoys": ("kinds", decoys_widgets),
    "cost": ("parts", cost_widgets),
    "paraphrase": ("others", paraphrase_widgets),
    "order": ("passing", order_widgets),
    "steering": ("contests", steering_widgets),
    "kill-score": ("mutants", kill_score_widgets),
    "improve": ("rewrite", improve_widgets),
}
"""Study → the fact that exists if anything was measured, and its view."""
