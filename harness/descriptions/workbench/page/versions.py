"""Widgets of the A/B study: verdicts, and two servers tool by tool and case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    build_table,
    effect_cell,
    format_block,
    format_line,
    is_effect,
    verdict_cell,
)
from harness.descriptions.workbench.page.proposals import split_pieces
from harness.reports import format_percent, format_points


def ab_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the verdict on every version, then the differences between two servers."""
    against = facts.get("against")
    versions = [(f"variant {variant['variant']}", variant) for variant in facts["variants"]]
    if against is not None and is_effect(against):
        versions.append((f"server {against['server']}", against))
    if versions:
        yield build_table(
            "Beside the server's own list",
            ["version", "effect", "verdict", "before", "after", "cases"],
            [
                [
                    format_line(name),
                    effect_cell(one),
                    verdict_cell(one["verdict"]),
                    format_percent(one["before"]),
                    format_percent(one["after"]),
                    f"{one['cases']:,}",
                ]
                for name, one in versions
            ],
        )
    if against is not None:
        yield from _server_widgets(against)


def _server_widgets(against: Mapping[str, Any]) -> Iterator[Widget]:
    other = format_line(against["server"])
    yield build_table(
        "Tokens, about",
        ["of what", "own server", other],
        [
            ["list, in each request", *map(_format_number, against["tokens_of_the_list"])],
            ["a trial", *map(_format_number, against["tokens_of_a_trial"])],
        ],
    )
    if missing := against["not_asked"]:
        yield build_table(
            f"Cannot be asked of {other}: left out of the comparison",
            ["case", "why"],
            [[format_line(one["case"]), format_line(one["why"])] for one in missing],
            left=2,
        )
    yield build_table(
        "Tool by tool: tokens, and the cases that want it called first",
        ["tool", "differs in", "tokens", f"on {other}", "cases", "pass", f"on {other}"],
        [_tool_row(tool, other) for tool in against["tools"]],
        left=2,
    )
    moved = [one for one in against["cases_on_both"] if one["moved"]]
    yield build_table(
        f"Cases that fare differently: {len(moved):,} of {len(against['cases_on_both']):,}",
        ["case", "called first", f"on {other}", "moved"],
        [
            [
                format_line(one["case"]),
                *map(_format_called, one["called"]),
                f"{format_points(one['moved'])} points",
            ]
            for one in sorted(moved, key=lambda one: one["moved"])
        ],
        left=3,
    )
    if changes := [_change_data(tool) for tool in against["tools"] if tool["descriptions"]]:
        yield {
            "kind": "changes",
            "caption": f"Descriptions of the suite's own server, and of {other}.",
            "changes": changes,
        }


def _tool_row(one: Mapping[str, Any], other: str) -> Sequence[Cell]:
    before, after = one["tokens"]
    changed = ", ".join(one["changed"]) or "–"
    if before is None or after is None:
        changed = f"only {'own server' if after is None else other}"
    return [
        format_line(one["tool"]),
        format_line(changed),
        _format_number(before),
        _format_number(after),
        f"{one['cases']:,}",
        _format_share(one["before"]),
        _format_share(one["after"]),
    ]


def _change_data(one: Mapping[str, Any]) -> dict[str, Any]:
    before, after = split_pieces(*map(format_block, one["descriptions"]))
    return {
        "title": format_line(f"{one['tool']}, description"),
        "texts": [],
        "effect": "–",
        "before": before,
        "after": after,
    }


def _format_called(tool: str | None) -> str:
    return "no tool" if tool is None else format_line(tool)


def _format_number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _format_share(rate: float | None) -> str:
    return "–" if rate is None else format_percent(rate)
