"""Widgets of the studies on the whole list: its length, its cost, its competing texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import LEVEL
from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    build_table,
    effect_cell,
    format_line,
    rate_cell,
    verdict_cell,
)
from harness.reports import format_percent

_MOST_TEXT = 12
_ORDERS = {"own": "the server's own order"}
_KINDS = {"near": "similar"}
"""Kind of added tool → its name on the page."""


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
                _KINDS.get(kind["kind"], format_line(kind["kind"])),
                f"{length['added']:,}",
                "–" if length["pass_rate"] is None else format_percent(length["pass_rate"]),
                f"{length['cases']:,}",
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
        ["tokens of the list's words, in each request", f"{facts['tokens']:,}"],
        ["tokens of parts that carry nothing", f"{facts.get('idle_tokens', 0):,}"],
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
            [
                format_line(part["label"]),
                effect_cell(part),
                verdict_cell(part["verdict"]),
                f"{part['tokens']:,}",
            ]
            for part in shown
        ],
    )


def paraphrase_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the effect of wording on the pass rate, and the cases that depend on it."""
    effect = _add_difference(facts["others"])
    yield build_table(
        "Do the verdicts depend on the wording of the prompts?",
        ["", "share"],
        [
            [
                "cases with one verdict in all wordings",
                rate_cell(facts["consistent"], facts["interval"]),
            ],
            ["cases that pass in every wording", format_percent(facts["every"])],
            ["mean pass rate in the worst wording", format_percent(facts["worst"])],
            ["other wordings against the prompts", effect_cell(effect)],
        ],
    )
    hanging = [case for case in facts["cases"] if case["hangs"]]
    if hanging:
        yield build_table(
            "Cases whose verdict depends on the wording, and the wordings in which they fail",
            ["case", "fails as"],
            [
                [format_line(case["name"]), format_line(" | ".join(map(str, case["failing"])))]
                for case in hanging
            ],
            left=2,
        )


def steering_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the share of calls to the tool with assertive text, and the share by chance."""
    said = {
        "equal": "equal texts",
        "brag": "a stock brag",
        "own": "its own assertive words",
    }
    yield build_table(
        "Share of the calls of a tool among its copies; without any effect it is the even share",
        ["what was set apart", "tool", "share of calls", "even share", "result", "cases"],
        [
            [
                said.get(contest["kind"], format_line(contest["kind"])),
                format_line(contest["tool"] or "all tools"),
                rate_cell(contest["share"]["share"], contest["share"]["interval"]),
                format_percent(contest["share"]["even"]),
                _wins_cell(contest),
                f"{contest['share']['cases']:,}",
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
        [name, effect_cell(_add_difference(one)), verdict_cell(one["verdict"]), f"{one['pairs']:,}"]
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
                [_ORDERS.get(name, format_line(name)), format_percent(rate)]
                for name, rate in orders["rates"].items()
            ],
        )


def _add_difference(effect: Mapping[str, Any]) -> dict[str, Any]:
    """Return a paired effect with its difference."""
    return {**effect, "difference": effect["after"] - effect["before"]}
