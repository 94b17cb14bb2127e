"""The effect of an arm compared with the control arm, and of each part of the list, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.base import (
    Interval,
    Pair,
    PairedEffect,
    Trials,
    group_cases,
    make_one_line,
    merge_pair,
    paired_effects,
)
from harness.descriptions.workbench.arms import Arm, Part, iterate_parts, remove_part
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import StudyContext
from harness.reports import format_p, format_points
from harness.types import JsonObject, dataclass

PART_VERDICTS = {
    "better": "carries weight",
    "worse": "does harm",
    "equivalent": "carries nothing",
    "undecided": "undecided",
}
"""Comparison of the list with a part to the list without it → the verdict on the part."""


def pair_trials(
    before: Mapping[str, Trials], after: Mapping[str, Trials], tests: Mapping[str, str]
) -> list[Pair]:
    """Return the cases with judged trials in both arms, as pairs.

    ``tests`` has the test of each case that is not the only one of its test; those of a test
    are one pair.
    """
    both = group_cases((case for case in before if case in after), tests)
    return [merge_pair([(before[case], after[case]) for case in one]) for one in both]


def effect_text(effect: PairedEffect, tests: int = 1) -> str:
    """Return ``+12 points (95 % interval +3 to +20; p = 0.02 of 14 tests)``."""
    among = f" of {tests} tests" if tests > 1 else ""
    return (
        f"{format_points(effect.difference)} points (95 % interval "
        f"{format_range(effect.interval)}; {format_p(effect.p_adjusted)}{among})"
    )


def verdict_text(effect: PairedEffect, tests: int, verdict: str) -> str:
    """Return `effect_text` with the verdict, and the number of cases that would decide."""
    text = f"{effect_text(effect, tests)}, {verdict}"
    if effect.cases_to_decide is not None:
        text += f"; about {effect.cases_to_decide:,} cases would decide"
    return text


def format_range(interval: Interval) -> str:
    """Return ``+3 to +20``, in points."""
    return " to ".join(map(format_points, interval))


def effect_facts(effect: PairedEffect) -> JsonObject:
    """Return the effect as JSON; rates and differences are from −1 to 1."""
    return {
        "cases": effect.pairs,
        "before": effect.before,
        "after": effect.after,
        "difference": effect.difference,
        "interval": list(effect.interval),
        "interval_method": effect.interval_method,
        "test": effect.test.name,
        "p_value": effect.test.p_value,
        "p_adjusted": effect.p_adjusted,
        "smallest_difference": effect.smallest,
        "verdict": effect.verdict,
        "cases_to_decide": effect.cases_to_decide,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEffect:
    """One part and its effect."""

    part: Part
    """The part."""
    effect: PairedEffect
    """The difference between the list with the part and the list without it."""


def removal_arms(bench: StudyContext) -> list[Arm]:
    """Return the arms that each lack one part of the tool list or the instructions."""
    return [Arm(variant=remove_part(part, bench.tools)) for part in iterate_parts(bench.texts)]


def part_effects(bench: StudyContext, measured: ModelMeasurements) -> list[PartEffect]:
    """Return the effect of every removed part, the largest first.

    Holm's correction is over all of them: the chance that any part is wrongly reported to matter is
    5 %.
    """
    clean = measured.count_trials()
    parts = list(iterate_parts(bench.texts))
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


def count_of(number: int, noun: str) -> str:
    """Return ``1 case`` or ``2 cases``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def list_names(names: Sequence[str], most: int) -> str:
    """Return the first names, each on one line, and the number of the others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(map(make_one_line, names[:most]))}{more}"
