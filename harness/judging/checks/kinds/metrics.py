"""Graded metrics of tool use, from 0 to 1: were the expected tools and arguments used?

Pure functions of the expected and the made calls, each a tool and its arguments; of an expected
call only those that count, as values or matchers. Additional calls and fields cost nothing, and the
order of calls does not matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.judging.checks.kind import WantedCall
from harness.judging.matching.calls import best_pairs
from harness.judging.matching.json_values import ABSENT, is_equal, is_number
from harness.judging.matching.matchers import is_matcher, matches_pattern
from harness.types import JsonObject, dataclass

EPSILON = 1e-6
"""Relative difference up to which two numbers are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPair:
    """An expected call and the call that it is compared with."""

    expected: int
    """Its place among the expected calls."""
    made: int | None
    """Its place among the made calls; ``None`` if none of that tool was left."""
    score: float
    """Matching fields ÷ expected fields."""


def tool_selection(expected: Sequence[WantedCall], made: Sequence[WantedCall]) -> float:
    """Return the share of the expected calls whose tool was called, as often as expected.

    Without expected calls it is 1.0.
    """
    if not expected:
        return 1.0
    wanted, called = (Counter(tool for tool, _ in calls) for calls in (expected, made))
    # The intersection has the smaller count of each tool, so calls too many count nothing.
    return (wanted & called).total() / len(expected)


def argument_match(pairs: Sequence[CallPair]) -> float:
    """Return the mean share of matching fields over the expected calls; 1.0 without any."""
    return math.fsum(pair.score for pair in pairs) / len(pairs) if pairs else 1.0


def pair_calls(expected: Sequence[WantedCall], made: Sequence[WantedCall]) -> tuple[CallPair, ...]:
    """Pair every expected call with a made one of the same tool, for the highest total score."""
    pairs: dict[int, CallPair] = {}
    for tool in dict.fromkeys(tool for tool, _ in expected):
        wanted, called = (
            [place for place, (other, _) in enumerate(calls) if other == tool]
            for calls in (expected, made)
        )
        scores = [
            [score_match(expected[row][1], made[column][1]) for column in called] for row in wanted
        ]
        for place, (row, column) in enumerate(zip(wanted, best_pairs(scores), strict=True)):
            found = None if column is None else called[column]
            pairs[row] = CallPair(
                expected=row, made=found, score=0.0 if column is None else scores[place][column]
            )
    return tuple(pairs[place] for place in range(len(expected)))


def score_match(expected: Any, given: Any) -> float:
    """Return how much of ``expected`` is in ``given``, from 0 to 1.

    Texts are equal regardless of case, numbers within `EPSILON`; an object scores the mean of its
    expected fields, and further fields are ignored; a list matches completely, item by item, or not
    at all. Types count.
    """
    if is_matcher(expected):
        return float(matches_pattern(expected, given))
    if isinstance(expected, Mapping):
        if not isinstance(given, Mapping):
            return 0.0
        scores = [score_match(part, given.get(name, ABSENT)) for name, part in expected.items()]
        return math.fsum(scores) / len(scores) if scores else 1.0
    if isinstance(expected, list | tuple):
        if not isinstance(given, list | tuple) or len(expected) != len(given):
            return 0.0
        return float(
            all(
                score_match(part, other) == 1.0 for part, other in zip(expected, given, strict=True)
            )
        )
    return float(_is_same(expected, given))


def as_matcher(expected: JsonObject) -> JsonObject:
    """Return a matcher for everything that `score_match` finds to be ``expected`` in full."""
    if is_matcher(expected):
        return expected
    return {name: _build_pattern(part) for name, part in expected.items()}


def _build_pattern(expected: Any) -> Any:
    if is_matcher(expected):
        return expected
    if isinstance(expected, Mapping):
        return {"$contains": as_matcher(expected)} if expected else {"$type": "object"}
    if isinstance(expected, list | tuple):
        return [_build_pattern(part) for part in expected]
    if is_number(expected):
        return {"$approx": {"value": expected, "tolerance": abs(expected) * EPSILON}}
    return {"$iequals": expected} if isinstance(expected, str) else expected


def _is_same(expected: Any, given: Any) -> bool:
    if isinstance(expected, str) and isinstance(given, str):
        return expected.casefold() == given.casefold()
    if is_number(expected) and is_number(given):
        try:
            # Absolutely as well, since no other number is relatively near to zero.
            return math.isclose(expected, given, rel_tol=EPSILON, abs_tol=EPSILON * EPSILON)
        except OverflowError:  # a whole number beyond all floats
            return bool(expected == given)
    return is_equal(expected, given)
