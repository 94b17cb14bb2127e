"""Widgets of the A/B study: verdicts, and two servers tool by tool and case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.descriptions.workbench.page.cells import (
    Cell,
    Widget,
    block_of,
    effect_cell,
    is_effect,
    line,
    table,
    verdict_cell,
)
from harness.descriptions.workbench.page.proposals import pieces
from harness.reports import percent, points


def ab(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the verdict on every version, then the differences between two servers."""
    against = facts.get("against")
    versions = [(f"variant {one['variant']}", one) for one in facts["variants"]]
    if against is not None and is_effect(against):
        versions.append((f"server {against['server']}", against))
    if versions:
        yield table(
            "Beside the server's own list",
            ["version", "effect", "verdict", "before", "after", "cases"],
            [
                [
                    line(name),
                    effect_cell(one),
                    verdict_cell(one["verdict"]),
                    percent(one["before"]),
                    percent(one["after"]),
                    f"{one['cases']:,}",
                ]
                for name, one in versions
            ],
        )
    if against is not None:
        yield from _two_servers(against)


def _two_servers(against: Mapping[str, Any]) -> Iterator[Widget]:
    other = line(against["server"])
    yield table(
        "Tokens, about",
        ["of what", "own server", other],
        [
            ["list, in each request", *map(_figure, against["tokens_of_the_list"])],
            ["a trial", *map(_figure, against["tokens_of_a_trial"])],
        ],
    )
    if missing := against["not_asked"]:
        yield table(
            f"Cannot be asked of {other}: left out of the comparison",
            ["case", "why"],
            [[line(one["case"]), line(one["why"])] for one in missing],
            left=2,
        )
    yield table(
        "Tool by tool: tokens, and the cases that want it called first",
        ["tool", "differs in", "tokens", f"on {other}", "cases", "pass", f"on {other}"],
        [_tool(one, other) for one in against["tools"]],
        left=2,
    )
    moved = [one for one in against["cases_on_both"] if one["moved"]]
    yield table(
        f"Cases that fare differently: {len(moved):,} of {len(against['cases_on_both']):,}",
        ["case", "called first", f"on {other}", "moved"],
        [
            [line(one["case"]), *map(_called, one["called"]), f"{points(one['moved'])} points"]
            for one in sorted(moved, key=lambda one: one["moved"])
        ],
        left=3,
    )
    if changes := [_change(one) for one in against["tools"] if one["descriptions"]]:
        yield {
            "kind": "changes",
            "caption": f"Descriptions of the suite's own server, and of {other}.",
            "changes": changes,
        }


def _tool(one: Mapping[str, Any], other: str) -> Sequence[Cell]:
    before, after = one["tokens"]
    changed = ", ".join(one["changed"]) or "–"
    if before is None or after is None:
        changed = f"only {'own server' if after is None else other}"
    return [
        line(one["tool"]),
        line(changed),
        _figure(before),
        _figure(after),
        f"{one['cases']:,}",
        _share(one["before"]),
        _share(one["after"]),
    ]


def _change(one: Mapping[str, Any]) -> dict[str, Any]:
    before, after = pieces(*map(block_of, one["descriptions"]))
    return {
        "title": line(f"{one['tool']}, description"),
        "texts": [],
        "effect": "–",
        "before": before,
        "after": after,
    }


def _called(tool: str | None) -> str:
    return "no tool" if tool is None else line(tool)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _share(rate: float | None) -> str:
    return "–" if rate is None else percent(rate)
