"""Study: how many tokens do the texts cost, and which of them are useless?"""

from __future__ import annotations

from collections.abc import Sequence

from harness.descriptions.workbench.analysis.effects import (
    PartEffect,
    count_of,
    effect_facts,
    effect_text,
    part_effects,
    removal_arms,
)
from harness.descriptions.workbench.arms import count_tokens, iterate_parts
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.judging import wanted_first
from harness.reports import format_points
from harness.types import JsonObject

_MOST_LINES = 10
_WEIGHT = 20
"""Importance of the finding that all texts of a list are useless, in points of pass rate."""
_NOTES = (
    "Tokens are estimated from the words alone: names, texts and values.",
    "Each part was taken out by itself: before taking out several, compare the list without them.",
)
_NEEDED = ("name", "parameter name")
"""Kinds of part that every list needs."""


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    total = count_tokens(iterate_parts(bench.texts))
    effects = sorted(part_effects(bench, measured), key=lambda one: -one.part.tokens)
    idle = [effect for effect in effects if _is_idle(effect)]
    selection = _measure_selection(bench, measured)
    return StudyResult(
        headline=_write_headline(total, selection),
        lines=tuple(
            f"{effect.part.label}: {effect.part.tokens} tokens, "
            f"{effect_text(effect.effect, len(effects))}"
            for effect in effects[:_MOST_LINES]
        ),
        findings=_build_findings(idle, total, bench.options.margin),
        facts={
            "tokens": total,
            "idle_tokens": count_tokens(one.part for one in idle),
            "selection": selection,
            "parts": [
                {
                    "label": effect.part.label,
                    "tool": effect.part.tool,
                    "tokens": effect.part.tokens,
                    "idle": _is_idle(effect),
                    **effect_facts(effect.effect),
                }
                for effect in effects
            ],
        },
        notes=_NOTES,
    )


def _is_idle(one: PartEffect) -> bool:
    """Whether the list is shown to be no worse without the part."""
    return one.effect.verdict in ("equivalent", "worse") and one.part.kind not in _NEEDED


def _measure_selection(bench: StudyContext, measured: ModelMeasurements) -> JsonObject:
    """Return the tokens per right first call on the server's own list.

    These are the tokens of all judged trials with an expected first call, divided by the number of
    trials that made it.
    """
    wants = {case.name: wanted_first(case) for case in bench.suite.cases}
    used: list[int | None] = []
    right = 0
    for result, transcript in measured.iterate_conversations():
        want = wants.get(result.case.name)
        if want is not None:
            right += want.matches_tool(next((call.tool for call in transcript.server_calls), None))
            used.append(result.usage.tokens)
    known = [tokens for tokens in used if tokens is not None]
    # Without some trials' tokens, the price would look too low.
    total = sum(known) if len(known) == len(used) else None
    return {
        "trials": len(used),
        "right": right,
        "tokens": total,
        "tokens_each": total / right if total and right else None,
    }


def _write_headline(total: int, selection: JsonObject) -> str:
    words = f"The words of the server take about {total:,} tokens in each request"
    if selection["tokens_each"] is None:
        return f"{words}."
    return f"{words}; a right first call takes {selection['tokens_each']:,.0f} tokens in all."


def _build_findings(idle: Sequence[PartEffect], total: int, margin: float) -> tuple[Finding, ...]:
    if not idle:
        return ()
    saved = count_tokens(one.part for one in idle)
    each = count_of(len(idle), "part")
    return (
        Finding(
            text=f"{each} of {saved:,} tokens in each request may go: without any one of them no "
            f"more than {format_points(margin, sign=False)} points are lost ({idle[0].part.label} "
            "is the longest).",
            weight=_WEIGHT * saved / total,
        ),
    )


STUDY = Study(
    name="cost",
    place=100,
    question="What do the texts cost, and which are useless?",
    arms=removal_arms,
    read=_analyze_results,
)
