"""What one result keeps back that another one gives."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy import find_leaks
from harness.judging.policy.views import Result
from harness.judging.policy.withheld_values import compare_results
from tests.judging.policy.views import call, view


def kept(full: Any, other: Any) -> list[tuple[str, str]]:
    one, two = (Result(call=call(structured=value, text="x")) for value in (full, other))
    return [(difference.leaf.path, difference.kept) for difference in compare_results(one, two)]


@pytest.mark.parametrize(
    ("full", "other", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, []),
        ({"a": 1, "b": 2}, {"a": 1}, [("b", "left out")]),
        ({"a": 1}, {"a": "***"}, [("a", "masked")]),
        ({"a": "***"}, {"b": 1}, []),
        ([{"a": 1}, {"a": 2}], [{"a": 1}], [("[].a", "row left out")]),
        ([{"a": 1}, {"a": 2}], [{"a": 3}], []),
        ([{"a": 1}, {"a": 2}], [], [("[].a", "row left out"), ("[].a", "row left out")]),
        ([{"a": 1, "b": 2}], [{"b": 2}], [("[].a", "left out")]),
        ([{"a": 1}], [{"a": 1}, {"a": 2}], []),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": "***"}], []),
        (
            [{"a": 1}, {"a": 2}],
            [{"a": "***"}, {"a": "***"}],
            [("[].a", "masked"), ("[].a", "masked")],
        ),
        ({"r": [{"a": 1}], "n": 1}, {"n": 1}, [("r[].a", "row left out")]),
        ({"rows": [{"a": 1}], "row": 1}, {"row": 1}, [("rows[].a", "row left out")]),
        ({"a": 1}, None, []),
        ({"r": [{"a": 1}]}, {"r": ["x"]}, [("r[].a", "left out")]),
        (
            [{"id": "A-1", "boss": "Ann Lee"}, {"id": "A-2", "boss": "Bo Lee"}],
            [{"id": "A-1", "boss": "none"}, {"id": "B-9", "boss": "none"}],
            [("[].boss", "masked"), ("[].boss", "masked")],
        ),
    ],
)
def test_a_field_is_left_out_masked_or_left_out_with_its_row(
    full: Any, other: Any, found: Any
) -> None:
    assert kept(full, other) == found


@pytest.mark.parametrize(("rows", "meant"), [(100, True), (200, True), (201, False)])
def test_a_word_like_none_is_meant_where_nobody_was_given_anything_else_of_the_thing(
    rows: int, meant: bool
) -> None:
    full = [{"id": f"A-{n}", "boss": f"Ann Lee {n}"} for n in range(rows)]
    other = [{"id": f"B-{n}", "boss": "none"} for n in range(100)]
    masked = [path for path, how in kept(full, other) if how == "masked"]
    assert (not masked) is meant


@pytest.mark.parametrize(("fields", "told"), [(3, 3), (200, 200)])
def test_every_field_that_is_kept_back_is_looked_for(fields: int, told: int) -> None:
    record = {f"f{n}": f"value-{n:05}" for n in range(fields)}
    views = [
        view("admin", call(structured=record)),
        view("clerk", call(structured={}), call("other", structured=record)),
    ]
    assert len({leak.field for leak in find_leaks(views)}) == told


def test_a_tool_that_others_are_offered_only_at_times_is_hidden_from_who_never_is() -> None:
    early, late = (
        view("admin", call(structured={"pay": 64_512}), tools=t) for t in ((), ("get_salary",))
    )
    told = view("clerk", tools=(), answer="It is 64512.")
    for views in ([early, late, told], [late, early, told]):
        assert [leak.field for leak in find_leaks(views)] == ["pay"]


def test_where_one_form_of_a_result_is_missing_the_other_is_compared() -> None:
    full = Result(call=call(structured={"a": 1, "b": 2}))
    other = Result(call=call(text='{"a": 1}'))
    assert [(one.leaf.channel, one.leaf.path) for one in compare_results(full, other)] == [
        ("text", "b")
    ]
