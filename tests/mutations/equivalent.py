"""Mistakes that change nothing which anybody can observe, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EQUIVALENT: Final[Mapping[str, str]] = {
    "harness/matching/pairing.py _assign: count + 1 → count + 2": "a cell more than is ever used",
    "harness/matching/pairing.py _assign: reduced < distance[other] → reduced <= distance[other]": (
        "of several pairings with the highest total it may take another"
    ),
    "harness/matching/masks.py is_masked: len(scalar) <= _REMEMBERED → len(scalar) < _REMEMBERED": (
        "a text is remembered or looked at anew, with the same result"
    ),
    "harness/checks/kinds/calls.py _wrong_count: len(made) < least → len(made) <= least": (
        "it is asked only where there are fewer than the least, or more than the most, which is "
        "no "
        "less than the least"
    ),
    (
        "harness/checks/kinds/call_order.py _explain_between: places[0] < place < places[-1] → "
        "places[0] <= place < places[-1]"
    ): ("a place that is in places is left out by itself"),
    (
        "harness/checks/kinds/call_order.py _explain_between: places[0] < place < places[-1] → "
        "places[0] < place <= places[-1]"
    ): ("a place that is in places is left out by itself"),
    "harness/judging/policy/comparable_values.py (module): 1000 → 1001": (
        "1000 is a round number, and these have the same grade"
    ),
    (
        "harness/judging/policy/comparable_values.py _grade_of_number: abs(number) < "
        "1000000000000000.0 → abs(number) <= 1000000000000000.0"
    ): ("the number 1e15 is whole either way"),
    "harness/matching/json_values.py equal: isinstance(left, bool) or isinstance(right, bool) → "
    "isinstance(left, bool) and isinstance(right, bool)": (
        "true beside what is no boolean is equal to nothing below"
    ),
    "harness/stats/corrections.py benjamini_hochberg: min(1.0, count / (count - rank) * "
    "p_values[i]) → "
    "min(2.0, count / (count - rank) * p_values[i])": (
        "the largest is a p-value itself, and no other is larger"
    ),
    "harness/checks/judge/prompt.py (module): 500 → 501": (
        "a hundred outputs, the most that are shown, have 600 each"
    ),
    "harness/stats/intervals.py wilson: min(1.0, centre + half) → min(2.0, centre + half)": (
        "the bound of a rate below 1 is below 1: only a last digit could be beyond it"
    ),
}
"""Name of the mistake → why no test could tell it from the code."""
