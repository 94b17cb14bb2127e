"""The effect of an arm compared with the control arm, as text and JSON for all studies."""

from __future__ import annotations

from collections.abc import Mapping

from harness.base import Pair, PairedEffect, Trials, group_cases, merge_pair
from harness.reports import format_points, p_value
from harness.types import JsonObject


def pair_trials(
    before: Mapping[str, Trials], after: Mapping[str, Trials], tests: Mapping[str, str]
) -> list[Pair]:
    """Return the cases with judged trials in both arms, as pairs.

    ``tests`` has the test of each case that is asked as one of several identities; those of a test
    are one pair.
    """
    both = group_cases((case for case in before if case in after), tests)
    return [merge_pair([(before[case], after[case]) for case in one]) for one in both]


def effect_text(effect: PairedEffect, tests: int = 1) -> str:
    """Return ``+12 points (95 % interval +3 to +20; p = 0.02 of 14 tests)``."""
    low, high = effect.interval
    among = f" of {tests} tests" if tests > 1 else ""
    return (
        f"{format_points(effect.difference)} points (95 % interval {format_points(low)} to "
        f"{format_points(high)}; "
        f"p = {p_value(effect.p_adjusted)}{among})"
    )


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
