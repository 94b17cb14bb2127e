"""Widgets of the studies with proposals: missing tests, and better descriptions."""

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
    format_block,
    format_line,
    rate_cell,
)
from harness.reports import format_points

_LONGEST_DIFF = 4_000
"""Most words of two texts that are compared word by word; longer texts are shown whole."""


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
    survived = [mutant for mutant in mutants if mutant["fate"] == "survived"]
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
    others = {
        "killed": "Defects that were noticed",
        "open": "Defects on which nothing is decided",
    }
    for fate, caption in others.items():
        if rows := [_mutant_row(mutant) for mutant in mutants if mutant["fate"] == fate]:
            yield build_table(caption, ["defect", "what it is", "noticed by"], rows, left=3)
    yield build_table(
        "By kind of defect",
        ["kind", "noticed", "of"],
        [
            [format_line(name), f"{one['killed']:,}", f"{one['counted']:,}"]
            for name, one in facts["operators"].items()
        ],
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
            "changes": [_change_data(one, looks, tried) for one in facts["rewrite"]],
        }
    if looks:
        yield build_table(
            "Tried on the questions that were held out",
            ["proposal", "by", "gain", "result", "questions"],
            [
                [
                    format_line(look["name"]),
                    format_line(look["by"]),
                    _gain_cell(look["on_held_out"]),
                    format_line(look["refused"] or "kept"),
                    f"{look['on_held_out']['intents']:,}",
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
                [
                    format_line(proposal["name"]),
                    format_line(proposal["by"]),
                    format_line(proposal["why"]),
                    _gain_cell(proposal["on_seen"]),
                ]
                for proposal in facts["proposals"]
            ],
            left=3,
        )


def _mutant_row(one: Mapping[str, Any]) -> list[Cell]:
    return [
        format_line(one["label"]),
        format_line(one["defect"]),
        format_line(", ".join(one["noticed_by"]) or "–"),
    ]


def _change_data(
    one: Mapping[str, Any], looks: Mapping[str, Any], tried: Mapping[str, Any]
) -> dict[str, Any]:
    of = "" if one["parameter"] is None else f" of {one['parameter']}"
    name = one["proposal"]
    look = looks.get(name, {}).get("on_held_out")
    before, after = split_pieces(format_block(one["before"]), format_block(one["after"]))
    return {
        "title": format_line(f"{one['tool']}, {one['part']}{of}"),
        "texts": [
            format_line(f"{name}, on the questions held out")
            if look
            else format_line(f"{name}, on the questions it was made from")
        ],
        "effect": _gain_cell(look or tried.get(name, {}).get("on_seen")),
        "before": before,
        "after": after,
    }


def _gain_cell(gain: Mapping[str, Any] | None) -> Cell:
    if gain is None:
        return "–"
    low, high = gain["interval"]
    verdict = "better" if low > 0 else "worse" if high < 0 else "undecided"
    return {
        "interval": [gain["difference"], low, high],
        "scale": [-1, 1],
        "tone": verdict,
        "text": f"{format_points(gain['difference'])} points",
        "more": f"{100 * (1 - gain['level']):.3g} %: {format_points(low)} to {format_points(high)}",
    }


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
