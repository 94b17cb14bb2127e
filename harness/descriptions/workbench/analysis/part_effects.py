"""The effect of each part of the tool list on the pass rate: the list with and without it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base import PairedEffect, paired_effects
from harness.descriptions.workbench.analysis.effects import pair_trials
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.parts import Part, iterate_parts, remove_part
from harness.descriptions.workbench.study import StudyContext


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEffect:
    """One part and its effect."""

    part: Part
    """The part."""
    effect: PairedEffect
    """The difference between the list with the part and the list without it."""


def part_effects(bench: StudyContext, measured: ModelMeasurements) -> list[PartEffect]:
    """Return the effect of every removed part, the largest first.

    Holm's correction is over all of them: the chance that any part is wrongly reported to matter is
    5 %.
    """
    clean = measured.count_trials()
    parts = list(iterate_parts(bench.tools))
    groups = [
        pair_trials(measured.count_trials(remove_part(part, bench.tools)), clean, measured.tests)
        for part in parts
    ]
    effects = paired_effects(groups, margin=bench.options.margin)
    found = [
        PartEffect(part=part, effect=effect)
        for part, effect in zip(parts, effects, strict=True)
        if effect is not None
    ]
    return sorted(found, key=lambda one: (-abs(one.effect.difference), one.effect.p_adjusted))
