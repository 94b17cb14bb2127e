"""Answers taken apart and compared: what varies with equal data is no evidence."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.probing.interference.answer_locations import (
    RESULT,
    AnswerLocation,
    Places,
    collect_call_locations,
    compare_answers,
    may_depend,
)
from harness.types import DependentTool, Outcome, SideContent, ToolCall


def answer(
    structured: Any = None, text: str = "", outcome: Outcome = "ok", *beside: SideContent
) -> Places:
    size = len(json.dumps(structured)) + len(text)
    return collect_call_locations(
        ToolCall(
            tool="list",
            arguments={},
            outcome=outcome,
            reply=1,
            text=text,
            structured=structured,
            result_bytes=size,
            beside=beside,
        )
    )


def told(a: list[Places], b: list[Places]) -> list[str]:
    return [one.description for one in compare_answers(a, b).differences]


def test_equal_answers_have_no_difference() -> None:
    one = answer({"rows": [{"id": 1}], "next": None}, "two words")
    assert compare_answers([one, one], [one]).differences == ()
    assert not compare_answers([one, one], [one]).varying


def test_a_difference_is_told_with_its_place_the_most_telling_first() -> None:
    a = answer({"rows": [{"id": 1}, {"id": 2}]})
    b = answer({"rows": [{"id": 2}]})
    first, second, *_ = told([a, a], [b])
    assert first == "the number of items in rows is 2 in A, 1 in B"
    assert second == "rows[0].id is 1 in A, 2 in B"
    denied, unknown = answer(text="no", outcome="denied"), answer(text="no", outcome="tool_error")
    assert told([denied, denied], [unknown])[0] == "the outcome is denied in A, tool_error in B"


def test_what_varies_with_equal_data_is_no_evidence() -> None:
    a = [answer({"id": number, "name": "x"}, f"request {number}") for number in (1, 22)]
    compared = compare_answers(a, [answer({"id": 333, "name": "x"}, "request 333")])
    assert compared.differences == ()
    assert AnswerLocation(RESULT, "value", ("id",)) in compared.varying


def test_what_stays_is_compared_beside_what_varies() -> None:
    a = [answer({"id": number, "count": 2}, f"request {number}: 2 rows") for number in (1, 22)]
    b = answer({"id": 3, "count": 1}, "request 3: 1 rows")
    assert told(a, [b]) == [
        "count is 2 in A, 1 in B",
        'the text is "request 1: 2 rows" in A, "request 3: 1 rows" in B',
    ]


def test_rows_of_a_list_whose_length_varies_are_not_compared() -> None:
    a = [answer({"rows": list(range(length))}) for length in (3, 5)]
    assert told(a, [answer({"rows": [9, 9, 9]})]) == []


def test_a_list_in_another_order_and_keys_in_another_order_are_differences() -> None:
    a, b = answer({"rows": ["x", "y"]}), answer({"rows": ["y", "x"]})
    assert told([a, a], [b])[0] == 'rows[0] is "x" in A, "y" in B'
    a, b = answer({"x": 1, "y": 1}), answer({"y": 1, "x": 1})
    assert told([a, a], [b]) == ['the fields of the result is ["x", "y"] in A, ["y", "x"] in B']


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@given(_JSON, _JSON)
def test_two_results_have_a_difference_exactly_if_they_are_written_otherwise(
    a: Any, b: Any
) -> None:
    ours, theirs = (
        collect_call_locations(
            ToolCall(tool="t", arguments={}, outcome="ok", reply=1, structured=[one])
        )
        for one in (a, b)
    )
    same = json.dumps(a) == json.dumps(b)
    assert (compare_answers([ours, ours], [theirs]).differences == ()) == same


def test_numbers_that_are_written_otherwise_differ() -> None:
    a, b = answer(text="1000"), answer(text="1e3")
    assert told([a, a], [b])


def test_the_same_in_both_forms_is_told_once() -> None:
    a, b = ({"n": number} for number in (1, 2))
    both = [answer(one, json.dumps(one)) for one in (a, b)]
    assert told([both[0], both[0]], [both[1]]) == ["n is 1 in A, 2 in B"]


def test_what_comes_beside_a_result_is_compared_and_stderr_is_not() -> None:
    a, b = (
        answer({}, "", "ok", SideContent(place="_meta of the result", text=f'{{"rank": {rank}}}'))
        for rank in (1, 2)
    )
    assert told([a, a], [b]) == ["rank in _meta of the result is 1 in A, 2 in B"]
    a, b = (
        answer({}, "", "ok", SideContent(place="the server's stderr", text=f"{rank} rows scanned"))
        for rank in (1, 2)
    )
    assert told([a, a], [b]) == []


def test_what_may_depend_is_told_by_tool_and_field() -> None:
    average = AnswerLocation(RESULT, "value", ("groups", 0, "average"))
    assert may_depend(average, "stats", [DependentTool(tool="stats")])
    assert may_depend(average, "stats", [DependentTool(tool="stats", fields=("Average",))])
    assert not may_depend(average, "stats", [DependentTool(tool="stats", fields=("median",))])
    assert not may_depend(average, "list", [DependentTool(tool="stats")])
