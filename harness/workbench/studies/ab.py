"""Is another version of the list better? Variants that the user names, beside the server's own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reports.comparing.sentences import percent, points
from harness.safe_text import printable
from harness.stats.effects import PairedEffect, paired_effects
from harness.types import Variant
from harness.workbench.analysis.effects import effect_facts, pairs_of, told
from harness.workbench.arms import Arm
from harness.workbench.measured import Measured
from harness.workbench.study import Bench, Finding, Study, StudyResult


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=variant) for variant in bench.versus]


def _read(bench: Bench, measured: Measured) -> StudyResult:
    clean = measured.trials()
    groups = [pairs_of(clean, measured.trials(variant)) for variant in bench.versus]
    effects = paired_effects(groups, margin=bench.options.margin)
    found = [
        (variant, effect)
        for variant, effect in zip(bench.versus, effects, strict=True)
        if effect is not None
    ]
    return StudyResult(
        study=STUDY.name,
        headline=_headline(bench, found),
        lines=tuple(_line(variant, effect, len(found)) for variant, effect in found),
        findings=tuple(_finding(*one) for one in found if one[1].verdict != "undecided"),
        facts={
            "margin": bench.options.margin,
            "variants": [
                {"variant": variant.name, **effect_facts(effect)} for variant, effect in found
            ],
        },
    )


def _headline(bench: Bench, found: Sequence[tuple[Variant, PairedEffect]]) -> str:
    if not bench.versus:
        return "No other version was named; --variant NAME compares one."
    if not found:
        return "No case was judged on both sides."
    return ", ".join(f"{printable(variant.name)}: {effect.verdict}" for variant, effect in found)


def _line(variant: Variant, effect: PairedEffect, tests: int) -> str:
    line = (
        f"{printable(variant.name)}: {percent(effect.before)} → {percent(effect.after)} of "
        f"{effect.pairs} cases, {told(effect, tests)}, {effect.verdict}"
    )
    if effect.cases_to_decide is not None:
        line += f"; about {effect.cases_to_decide:,} cases would decide"
    return line


def _finding(variant: Variant, effect: PairedEffect) -> Finding:
    name = printable(variant.name)
    if effect.verdict == "equivalent":
        text = f"Variant {name} is neither better nor worse than the server's own list."
    else:
        moved = points(abs(effect.difference), sign=False)
        text = f"Variant {name} is {effect.verdict} than the server's own list by {moved} points."
    return Finding(text=text, weight=100 * abs(effect.difference))


STUDY = Study(
    name="ab",
    place=40,
    question="Is another version of the list better, worse or equivalent?",
    arms=_arms,
    read=_read,
)
