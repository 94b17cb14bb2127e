"""Widgets of the studies that compare texts: other versions and servers, defects, rewrites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from re import findall
from typing import Any

from harness.descriptions.workbench.page.cells import (
    MOST_ROWS,
    Cell,
    Widget,
    build_table,
    dash_if_none,
    effect_cell,
    format_block,
    format_line,
    is_effect,
    points_cell,
    rate_cell,
    verdict_cell,
)
from harness.reports import format_percent, format_points

_LONGEST_DIFF = 4_000
"""Most words of two texts that are compared word by word; longer texts are shown whole."""


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
                    name,
                    effect_cell(one),
                    verdict_cell(one["verdict"]),
                    format_percent(one["before"]),
                    format_percent(one["after"]),
                    one["cases"],
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
            ["list, in each request", *map(_format_tokens, against["tokens_of_the_list"])],
            ["a trial", *map(_format_tokens, against["tokens_of_a_trial"])],
        ],
    )
    if missing := against["not_asked"]:
        yield build_table(
            f"Cannot be asked of {other}: left out of the comparison",
            ["case", "why"],
            [[one["case"], one["why"]] for one in missing],
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
                one["case"],
                *(tool or "no tool" for tool in one["called"]),
                f"{format_points(one['moved'])} points",
            ]
            for one in sorted(moved, key=lambda one: one["moved"])
        ],
        left=3,
    )
    if changes := [
        _build_change(f"{tool['tool']}, description", tool["descriptions"], "–")
        for tool in against["tools"]
        if tool["descriptions"]
    ]:
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
        one["tool"],
        changed,
        _format_tokens(before),
        _format_tokens(after),
        one["cases"],
        dash_if_none(one["before"], format_percent),
        dash_if_none(one["after"], format_percent),
    ]


def _format_tokens(value: float | None) -> str:
    return dash_if_none(value, "{:,.0f}".format)


def kill_score_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the score, the surviving defects with the missing tests, and the other defects.

    Survivors come first, each with a test to paste. Noticed defects have the cases that noticed
    them.
    """
    if facts["score"] is not None:
        yield build_table(
            "Planted defects that the suite notices",
            ["", "share"],
            [["kill score", rate_cell(facts["score"], facts["interval"])]],
        )
    mutants = facts["mutants"]
    survived = [one for one in mutants if one["fate"] == "survived"]
    yield {
        "kind": "cards",
        "title": "Defects that nobody notices",
        "caption": "For each, the test that is missing; its prompt is left to write.",
        "cards": [
            {
                "title": format_line(one["label"]),
                "texts": [],
                "paste": format_block(one["missing_test"] or ""),
            }
            for one in survived[:MOST_ROWS]
        ],
    }
    for fate, caption in (
        ("killed", "Defects that were noticed"),
        ("open", "Defects on which nothing is decided"),
    ):
        if rows := [
            [one["label"], one["defect"], ", ".join(one["noticed_by"]) or "–"]
            for one in mutants
            if one["fate"] == fate
        ]:
            yield build_table(caption, ["defect", "what it is", "noticed by"], rows, left=3)
    yield build_table(
        "By kind of defect",
        ["kind", "noticed", "of"],
        [[name, one["killed"], one["counted"]] for name, one in facts["operators"].items()],
    )


def improve_widgets(facts: Mapping[str, Any]) -> Iterator[Widget]:
    """Yield the rewrite side by side with its gain, then every proposal and every look."""
    looks = {look["name"]: look for look in facts["looks"]}
    tried = {proposal["name"]: proposal for proposal in facts["proposals"]}
    kept = facts["accepted"]
    if facts["rewrite"]:
        yield {
            "kind": "changes",
            "caption": "Kept: it was proven on questions that its author never saw."
            if kept
            else "Not proven: it gained on the questions that it was made from.",
            "changes": [_describe_rewrite(one, looks, tried) for one in facts["rewrite"]],
        }
    if looks:
        yield build_table(
            "Tried on the questions that were held out",
            ["proposal", "by", "gain", "result", "questions"],
            [
                [
                    look["name"],
                    look["by"],
                    _gain_cell(look["on_held_out"]),
                    look["refused"] or "kept",
                    look["on_held_out"]["intents"],
                ]
                for look in facts["looks"]
            ],
            left=2,
        )
    if tried:
        yield build_table(
            "Every proposal, on the questions that it was made from",
            ["proposal", "by", "why", "gain"],
            [
                [one["name"], one["by"], one["why"], _gain_cell(one["on_seen"])]
                for one in tried.values()
            ],
            left=3,
        )


def _describe_rewrite(
    one: Mapping[str, Any], looks: Mapping[str, Any], tried: Mapping[str, Any]
) -> dict[str, Any]:
    of = "" if one["parameter"] is None else f" of {one['parameter']}"
    name = one["proposal"]
    look = looks.get(name, {}).get("on_held_out")
    return _build_change(
        f"{one['tool']}, {one['part']}{of}",
        (one["before"], one["after"]),
        _gain_cell(look or tried.get(name, {}).get("on_seen")),
        f"{name}, on the questions {'held out' if look else 'it was made from'}",
    )


def _build_change(title: str, texts: Sequence[str], effect: Cell, *notes: str) -> dict[str, Any]:
    """Return a text before and after, side by side."""
    before, after = split_pieces(*map(format_block, texts))
    return {
        "title": format_line(title),
        "texts": [format_line(note) for note in notes],
        "effect": effect,
        "before": before,
        "after": after,
    }


def _gain_cell(gain: Mapping[str, Any] | None) -> Cell:
    if gain is None:
        return "–"
    low, high = gain["interval"]
    tone = "better" if low > 0 else "worse" if high < 0 else "undecided"
    return points_cell(gain["difference"], (low, high), tone, f"{100 * (1 - gain['level']):.3g}")


def split_pieces(before: str, after: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return both texts in pieces; each piece is marked if only this side has it."""
    old, new = (findall(r"\s+|\w+|[^\w\s]", text) for text in (before, after))
    if max(len(old), len(new)) > _LONGEST_DIFF:
        return _mark_pieces([(old, True)]), _mark_pieces([(new, True)])
    # In long texts, autojunk would ignore the most frequent words, which are part of a sentence.
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    codes = matcher.get_opcodes()
    return (
        _mark_pieces([(old[i:j], tag != "equal") for tag, i, j, _, _ in codes]),
        _mark_pieces([(new[i:j], tag != "equal") for tag, _, _, i, j in codes]),
    )


def _mark_pieces(parts: Sequence[tuple[Sequence[str], bool]]) -> list[list[Any]]:
    return [["".join(words), changed] for words, changed in parts if words]
