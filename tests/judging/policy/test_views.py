from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy.views import Result
from tests.judging.policy.views import call


@pytest.mark.parametrize(
    ("fields", "compared"), [(1, 1), (4_999, 4_999), (5_000, 5_000), (5_001, 5_000)]
)
@pytest.mark.parametrize("form", ["list", "object", "lines"])
def test_so_many_fields_of_one_result_are_compared(form: str, fields: int, compared: int) -> None:
    if form == "lines":
        made = call(text="\n".join(f"Name: {place}" for place in range(fields)))
    else:
        made = call(
            structured=[*range(fields)] if form == "list" else {str(n): n for n in range(fields)},
            text="",
        )
    assert [int(leaf.value) for leaf in Result(call=made).leaves] == [*range(compared)]


@pytest.mark.parametrize(
    ("structured", "leaves"),
    [
        (
            {"a": {"b": [{"c": 1}, {"c": 2}]}, "d": None},
            [("a.b[].c", "c", 1), ("a.b[].c", "c", 2), ("d", "d", None)],
        ),
        ([[1], 2], [("[][]", "", 1), ("[]", "", 2)]),
        (5, [("", "", 5)]),
        (None, []),
        ({}, []),
    ],
)
def test_a_field_is_known_by_its_path_with_all_items_of_a_list_as_one(
    structured: Any, leaves: list[Any]
) -> None:
    found = Result(call=call(structured=structured, text="x")).leaves
    assert [(leaf.path, leaf.name, leaf.value) for leaf in found] == leaves
    assert all(leaf.channel == "structured" for leaf in found)


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("Name: Ann\n- **Salary:** 5", [("name", "Ann"), ("salary", "5")]),
        ("one two three four: x", [("one two three four", "x")]),
        ("one two three four five: x", []),
        ("Written at 10:30", []),
        ("a = 1\n| b | 2 |", [("a", "1"), ("b", "2")]),
        ("**E-mail:** a@b.c", [("e-mail", "a@b.c")]),
        ("Salary: **5**", [("salary", "5")]),
        ("Card: **** 1234", [("card", "* 1234")]),
        ("__Salary:__ 5", [("salary", "5")]),
        ("- __Net salary__: 5", [("net salary", "5")]),
        ("_Salary_: 5", [("salary", "5")]),
        ("___Salary:___ 5", [("salary", "5")]),
        ("| __First_name__ | Ann |", [("first_name", "Ann")]),
        ("__Salary: 5__", [("salary", "5")]),
        ("_id: 5", [("_id", "5")]),
        ("_id: see _this_", [("_id", "see _this")]),
        ("__x: " + "_a " * 50_000, []),
        (f"a: {'x' * 401}", [("a", "x" * 401)]),
        (f"a: {'x' * 402}", []),
    ],
)
def test_lines_of_a_name_and_a_value_are_fields_where_a_call_succeeded(
    text: str, leaves: list[Any]
) -> None:
    found = Result(call=call(text=text))
    assert [(leaf.path, leaf.value) for leaf in found.leaves] == leaves
    assert found.is_prose
    assert Result(call=call(text=text, outcome="denied")).leaves == ()


def test_lines_are_one_record_until_a_name_comes_again() -> None:
    one = Result(call=call(text="Name: Ann\nSalary: 5")).leaves
    assert [list(leaf.record.ids) for leaf in one] == [["name"]] * 2
    assert one[0].record is one[1].record
    two = Result(call=call(text="Name: Ann\nName: Bob")).leaves
    assert [dict(leaf.record.ids) for leaf in two] == [{}, {}]


@pytest.mark.parametrize(
    ("text", "prose"), [('{"a": 1}', False), ("[1]", False), ("5", True), ('"a: 1"', True)]
)
def test_a_text_that_is_an_object_or_a_list_is_no_prose(text: str, prose: bool) -> None:
    assert Result(call=call(text=text)).is_prose is prose
