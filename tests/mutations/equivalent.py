"""Mistakes that change nothing which anybody can observe, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EQUIVALENT: Final[Mapping[str, str]] = {
    (
        "harness/judging/checks/kinds/calls_together.py _read_order: found.get('strict', "
        "False) → found.get('strict', True)"
    ): ("asked is only whether it is a boolean"),
    (
        "harness/judging/checks/absent_fields.py read_absent: "
        "found.get('allow_unknown', False) → found.get('allow_unknown', True)"
    ): ("asked is only whether it is a boolean"),
    (
        "harness/judging/policy/withheld_values.py find_withheld: result.call.tool in "
        "view.tool_names → result.call.tool not in view.tool_names"
    ): ("what is told apart by it is told apart either way"),
    ("harness/judging/policy/value_index.py _add_to_texts: -1 → -2"): (
        "a value is looked up by two of its words, and each time searched as a whole"
    ),
    ("harness/base/stats/effects.py _decide_evidence: difference > 0 → difference >= 0"): (
        "where the means are equal no test finds a difference"
    ),
    ("harness/judging/matching/matchers.py _unknown_operator: n=1 → n=2"): (
        "the first of both is taken, and the best"
    ),
    ("harness/judging/matching/calls.py _assign_columns: count + 1 → count + 2"): (
        "a cell more than is ever used"
    ),
    (
        "harness/judging/matching/calls.py _assign_columns: reduced < distance[other]"
        " → reduced <= distance[other]"
    ): ("of several pairings with the highest total it may take another"),
    (
        "harness/judging/secrecy/masks.py is_masked: len(scalar) <= _REMEMBERED → "
        "len(scalar) < _REMEMBERED"
    ): ("a text is remembered or looked at anew, with the same result"),
    (
        "harness/judging/checks/kinds/calls_together.py _explain_between: places[0] < place"
        " < places[-1] → places[0] <= place < places[-1]"
    ): ("a place that is in places is left out by itself"),
    (
        "harness/judging/checks/kinds/calls_together.py _explain_between: places[0] < place"
        " < places[-1] → places[0] < place <= places[-1]"
    ): ("a place that is in places is left out by itself"),
    ("harness/judging/policy/comparable_values.py (module): 1000 → 1001"): (
        "1000 is a round number, and these have the same grade"
    ),
    (
        "harness/judging/policy/comparable_values.py _grade_number: abs(number) < "
        "_SMALL → abs(number) <= _SMALL"
    ): ("1000 is a round number, and has the same grade"),
    ("harness/base/stats/power.py count_cases_needed: 2 * high → 3 * high"): (
        "the search begins in a wider range and ends at the same number"
    ),
    ("harness/base/stats/power.py count_cases_needed: (0, 8) → (0, 9)"): (
        "the search begins in a wider range and ends at the same number"
    ),
    ("harness/base/stats/power.py count_cases_needed: (0, 8) → (1, 8)"): (
        "one case alone shows nothing"
    ),
    ("harness/judging/matching/calls.py _assign_columns: [0] → [1] #3"): (
        "every row is given its column, whatever stands there before"
    ),
    (
        "harness/judging/policy/comparable_values.py _grade_number: abs(number) < "
        "1000000000000000.0 → abs(number) <= 1000000000000000.0"
    ): ("the number 1e15 is whole either way"),
    (
        "harness/judging/matching/json_values.py is_equal: isinstance(left, bool) or "
        "isinstance(right, bool) → isinstance(left, bool) and isinstance(right, bool)"
    ): ("true beside what is no boolean is equal to nothing below"),
    (
        "harness/base/stats/sequences.py benjamini_hochberg: min(1.0, count / (count "
        "- rank) * p_values[i]) → min(2.0, count / (count - rank) * p_values[i])"
    ): ("the largest is a p-value itself, and no other is larger"),
    ("harness/judging/checks/judge/prompt.py (module): 500 → 501"): (
        "a hundred outputs, the most that are shown, have 600 each"
    ),
    ("harness/judging/matching/calls.py _assign_columns: [0.0] → [1.0]"): (
        "a potential that all rows begin with is taken out of every sum again"
    ),
    ("harness/judging/matching/calls.py _assign_columns: [0.0] → [1.0] #2"): (
        "a potential that all columns begin with is taken out of every sum again"
    ),
    (
        "harness/judging/matching/json_values.py is_equal: is_number(left) and "
        "is_number(right) → is_number(left) or is_number(right)"
    ): ("Python, too, holds no number equal to what is none"),
    (
        "harness/judging/matching/json_values.py is_equal: isinstance(left, str) and "
        "isinstance(right, str) → isinstance(left, str) or isinstance(right, str)"
    ): ("Python, too, holds no text equal to what is none"),
    ("harness/judging/matching/json_values.py shorten_value: width + 1 → width + 2"): (
        "longer by one or by two is longer, and is cut to the same width"
    ),
    ("harness/judging/matching/texts.py fold_with_offsets: end - start → end + start"): (
        "letter by letter the places come out the same, only slower"
    ),
    (
        "harness/base/stats/intervals.py newcombe_paired: first is None or second is "
        "None → first is None and second is None"
    ): ("both are rates of one total, and there is none of either where that is 0"),
    ("harness/base/stats/intervals.py newcombe_paired: product > 0 → product >= 0"): (
        "0 less the correction is below 0, and counts as 0"
    ),
    ("harness/base/stats/intervals.py (module): 10000 → 10001"): (
        "more steps than any argument takes"
    ),
    ("harness/base/stats/intervals.py t_quantile: (0.0, 1.0) → (0.0, 2.0)"): (
        "the halving ends at the same two neighbouring floats"
    ),
    (
        "harness/base/stats/intervals.py wilson_interval: min(1.0, centre + half) → "
        "min(2.0, centre + half)"
    ): ("the bound of a rate below 1 is below 1: only a last digit could be beyond it"),
}
"""Name of the mistake → why no test could tell it from the code."""
