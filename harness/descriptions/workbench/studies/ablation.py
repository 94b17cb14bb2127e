"""Study: which texts matter? Each part of the descriptions is removed in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.base import one_line
from harness.descriptions.workbench.analysis.effects import effect_facts, effect_text
from harness.descriptions.workbench.analysis.part_effects import PartEffect, part_effects
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.parts import parts_of, without
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.reports import points

_MOST_LINES = 15
_SAID = {
    "better": "carries weight",
    "worse": "does harm",
    "equivalent": "carries nothing",
    "undecided": "undecided",
}
"""Comparison of the list with the part to the list without it → the verdict on the part."""
_COUNTED = {
    "better": "carry weight",
    "worse": "do harm",
    "equivalent": "carry nothing",
    "undecided": "undecided",
}
"""The verdict on several parts."""


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=without(part, bench.tools)) for part in parts_of(bench.tools)]


def _read(bench: Bench, measured: Measured) -> StudyResult:
    found = part_effects(bench, measured)
    counted = [
        f"{sum(one.effect.verdict == verdict for one in found)} {said}"
        for verdict, said in _COUNTED.items()
    ]
    moved = [one for one in found if one.effect.difference or one.effect.verdict != "undecided"]
    return StudyResult(
        study=STUDY.name,
        headline=f"{len(found)} parts were taken out in turn: {', '.join(counted)}.",
        lines=tuple(_lines(moved[:_MOST_LINES], len(found))),
        findings=tuple(_finding(one) for one in moved if one.effect.verdict != "equivalent"),
        facts={
            "margin": bench.options.margin,
            "parts": [
                {
                    "part": asdict(one.part),
                    "label": one.part.label,
                    "tokens": one.part.tokens,
                    "effect": one.effect.difference,
                    "says": _SAID[one.effect.verdict],
                    **effect_facts(one.effect),
                }
                for one in found
            ],
        },
        notes=_notes(found, measured),
    )


def _lines(shown: Sequence[PartEffect], tests: int) -> Iterator[str]:
    for one in shown:
        yield _line(one, tests)
    if shown and len(shown) < tests:
        yield f"The other {tests - len(shown)} parts moved the pass rate less, or not at all."


def _line(one: PartEffect, tests: int) -> str:
    effect = one.effect
    line = f"{one.part.label}: {effect_text(effect, tests)}, {_SAID[effect.verdict]}"
    if effect.cases_to_decide is not None:
        line += f"; about {effect.cases_to_decide:,} cases would decide"
    return line


def _finding(one: PartEffect) -> Finding:
    gain, certain = one.effect.difference, one.effect.verdict != "undecided"
    what = "lost" if gain > 0 else "gained"
    return Finding(
        text=f"Without {one.part.label} (“{one_line(one.part.text)}”) "
        f"{points(abs(gain), sign=False)} points of pass rate are {what}"
        + ("." if certain else ", which may be chance."),
        certain=certain,
        weight=100 * abs(gain),
        tool=one.part.tool,
    )


def _notes(found: Sequence[PartEffect], measured: Measured) -> tuple[str, ...]:
    notes = []
    shows = [one.effect.smallest for one in found]
    known = [smallest for smallest in shows if smallest is not None]
    if known:
        notes.append(
            f"With {len(found)} parts at once, an effect of {points(min(known), sign=False)} points"
            " or more is found four times in five; more cases show smaller ones."
        )
    elif found:
        notes.append(
            f"{found[0].effect.pairs} cases cannot show the effect of one of {len(found)} parts, "
            "not even if all of them failed without it. Add cases."
        )
    if measured.not_judged():
        notes.append(
            f"{measured.not_judged()} trials on the server's own list have no verdict; their cases "
            "are compared on the other trials, or not at all."
        )
    return tuple(notes)


STUDY = Study(
    name="ablation",
    place=30,
    question="Which parts of the descriptions matter?",
    arms=_arms,
    read=_read,
)
