"""The tool list as a model reads it: every part with its effect and its cost in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.descriptions.workbench.page.cells import (
    MARKS,
    effect_cell,
    format_block,
    format_line,
    is_effect,
)
from harness.descriptions.workbench.parts import Part, iterate_parts
from harness.types import Tool

_STRONG = 0.3
"""The effect, as a rate, at which the colour is strongest."""
_SHADES = 4
_SAID = {
    "better": "carries weight",
    "worse": "does harm",
    "equivalent": "carries nothing",
    "undecided": "undecided",
}


def tool_list(tools: Sequence[Tool], facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the tools with their parts; ``facts`` are those of the ablation, if it was done."""
    effects = {_part_key(effect["part"]): effect for effect in _measured_effects(facts)}
    listed = [_tool_data(tool, effects) for tool in tools]
    return {
        "tools": listed,
        "tokens": sum(tool["tokens"] for tool in listed),
        "measured": len(effects),
        "parts": sum(len(tool["parts"]) for tool in listed),
        "margin": None if facts is None else facts.get("margin"),
    }


def _measured_effects(facts: Mapping[str, Any] | None) -> Iterable[Mapping[str, Any]]:
    parts = [] if facts is None else facts.get("parts", [])
    return [part for part in parts if is_effect(part) and "part" in part]


def _part_key(part: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(part.get(key) for key in ("tool", "kind", "parameter", "number"))


def _tool_data(tool: Tool, effects: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> dict[str, Any]:
    parts = [_part_data(part, effects) for part in iterate_parts([tool])]
    shown = [part for part in parts if part["effect"] and part["tone"] in {"better", "worse"}]
    return {
        "name": format_line(tool.name),
        "parts": parts,
        "tokens": sum(part["tokens"] for part in parts),
        "shown": len(shown),
        "largest": max((part["weight"] for part in parts), default=0),
    }


def _part_data(part: Part, effects: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> dict[str, Any]:
    effect = effects.get((part.tool, part.kind, part.parameter, part.number))
    verdict = "" if effect is None else str(effect["verdict"])
    difference = 0.0 if effect is None else effect["difference"]
    return {
        "what": format_line(part.label.removeprefix(f"{part.tool}: ")),
        "text": format_block(part.text),
        "tokens": part.tokens,
        "tone": verdict,
        "says": f"{MARKS.get(verdict, '·')} {_SAID.get(verdict, 'not measured')}",
        "shade": _colour_strength(difference),
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


def _colour_strength(difference: float) -> int:
    """Return the strength of the colour, from 0 (none) to 4."""
    share = min(1.0, abs(difference) / _STRONG)
    # Any effect has a colour, however small it is.
    return 0 if not share else max(1, round(_SHADES * share))
