"""Study: which texts matter? Each part of the descriptions is removed in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.base import make_one_line, shorten_text
from harness.descriptions.workbench.analysis.effects import (
    PART_VERDICTS,
    PartEffect,
    effect_facts,
    part_effects,
    removal_arms,
    verdict_text,
)
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_points

_MOST_LINES = 15
_MOST_QUOTED = 160
"""Most characters of a part in a finding: instructions may have thousands."""
_COUNTED = {
    "better": "carry weight",
    "worse": "do harm",
    "equivalent": "carry nothing",
    "undecided": "undecided",
}
"""The verdict on several parts."""


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    found = part_effects(bench, measured)
    counted = [
        f"{sum(one.effect.verdict == verdict for one in found)} {said}"
        for verdict, said in _COUNTED.items()
    ]
    # The others are only counted, in the headline.
    moved = [one for one in found if one.effect.difference or one.effect.verdict != "undecided"]
    return StudyResult(
        headline=f"{len(found)} parts were taken out in turn: {', '.join(counted)}.",
        lines=tuple(_format_lines(moved[:_MOST_LINES], len(found))),
        findings=tuple(_build_finding(one) for one in moved if one.effect.verdict != "equivalent"),
        facts={
            "margin": bench.options.margin,
            "parts": [
                {
                    "part": asdict(one.part),
                    "label": one.part.label,
                    "tokens": one.part.tokens,
                    "effect": one.effect.difference,
                    "says": PART_VERDICTS[one.effect.verdict],
                    **effect_facts(one.effect),
                }
                for one in found
            ],
        },
        notes=tuple(_build_notes(bench, found, measured)),
    )


def _format_lines(shown: Sequence[PartEffect], tests: int) -> Iterator[str]:
    for one in shown:
        verdict = PART_VERDICTS[one.effect.verdict]
        yield f"{one.part.label}: {verdict_text(one.effect, tests, verdict)}"
    if shown and len(shown) < tests:
        yield f"The other {tests - len(shown)} parts moved the pass rate less, or not at all."


def _build_finding(one: PartEffect) -> Finding:
    gain, certain = one.effect.difference, one.effect.verdict != "undecided"
    what = "lost" if gain > 0 else "gained"
    quoted = shorten_text(make_one_line(one.part.text), _MOST_QUOTED)
    return Finding(
        text=f"Without {one.part.label} (“{quoted}”) "
        f"{format_points(abs(gain), sign=False)} points of pass rate are {what}"
        + ("." if certain else ", which may be chance."),
        certain=certain,
        weight=100 * abs(gain),
        tool=one.part.tool,
    )


def _build_notes(
    bench: StudyContext, found: Sequence[PartEffect], measured: ModelMeasurements
) -> Iterator[str]:
    if len(bench.texts.instructions) > 1:
        yield (
            "The server's instructions differ by caller: they are taken out as a whole, and none "
            "of their sentences alone."
        )
    known = [one.effect.smallest for one in found if one.effect.smallest is not None]
    if known:
        yield (
            f"With {len(found)} parts at once, an effect of "
            f"{format_points(min(known), sign=False)} points"
            " or more is found four times in five; more cases show smaller ones."
        )
    elif found:
        yield (
            f"{found[0].effect.pairs} cases cannot show the effect of one of {len(found)} parts, "
            "not even if all of them failed without it. Add cases."
        )
    if unjudged := measured.count_unjudged():
        yield (
            f"{unjudged} trials on the server's own list have no verdict; their "
            "cases are compared on the other trials, or not at all."
        )


STUDY = Study(
    name="ablation",
    place=30,
    question="Which parts of the descriptions matter?",
    arms=removal_arms,
    read=_analyze_results,
)
