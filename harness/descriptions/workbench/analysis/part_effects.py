"""The effect of each part of the tool list on the pass rate: the list with and without it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base import PairedEffect, paired_effects
from harness.descriptions.workbench.analysis.effects import pairs_of
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.parts import Part, parts_of, without
from harness.descriptions.workbench.study import Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEffect:
    """One part and its effect."""

    part: Part
    """The part."""
    effect: PairedEffect
    """The difference between the list with the part and the list without it."""


def part_effects(bench: Bench, measured: Measured) -> list[PartEffect]:
    """Return the effect of every removed part, the largest first.

    Holm's correction is over all of them: the chance that any part is wrongly reported to matter is
    5 %.
    """
    clean = measured.trials()
    parts = list(parts_of(bench.tools))
    groups = [
        pairs_of(measured.trials(without(part, bench.tools)), clean, measured.tests)
        for part in parts
    ]
    effects = paired_effects(groups, margin=bench.options.margin)
    found = [
        PartEffect(part=part, effect=effect)
        for part, effect in zip(parts, effects, strict=True)
        if effect is not None
    ]
    return sorted(found, key=lambda one: (-abs(one.effect.difference), one.effect.p_adjusted))
