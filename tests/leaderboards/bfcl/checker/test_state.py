from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from harness.leaderboards.bfcl.apis.file_tree import Directory, File
from harness.leaderboards.bfcl.checker.multi_turn import describe_difference, shorten_text
from tests.judging.checks.strategies import JSON


@pytest.mark.parametrize(
    ("is_now", "should_be", "expected"),
    [
        (1, 2, "x is 1, expected 2"),
        ("1", 1, "x is '1', expected 1"),
        ({"a": 1}, {"a": 1, "b": 2}, "x lacks 'b': 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "x has the extra 'b': 2"),
        ({"a": [1, {"c": 3}]}, {"a": [1, {"c": 4}]}, "x['a'][1]['c'] is 3, expected 4"),
        ([1], [1, 2], "x lacks 1: 2"),
        ({3}, {4}, "x is {3}, expected {4}"),
        ([1], {"a": 1}, "x is [1], expected {'a': 1}"),
        (
            Directory(
                "root", contents={"docs": Directory("docs", contents={"note": File("note", "a")})}
            ),
            Directory(
                "root", contents={"docs": Directory("docs", contents={"note": File("note", "b")})}
            ),
            "x['docs']['note']['content'] is 'a', expected 'b'",
        ),
        (
            Directory("root", contents={"note": File("note")}),
            Directory("root", contents={"note": Directory("note")}),
            "x['note'] is File(name='note', content=''), expected Directory('note', [])",
        ),
        (
            Directory("a"),
            Directory("b"),
            "x is Directory('a', []), expected Directory('b', [])",
        ),
    ],
)
def test_the_first_difference_is_told_with_the_way_to_it(
    is_now: Any, should_be: Any, expected: str
) -> None:
    assert describe_difference("x", is_now, should_be) == expected


@given(JSON, JSON)
def test_any_two_unequal_values_have_a_difference_that_is_short(one: Any, other: Any) -> None:
    assume(one != other)
    told = describe_difference("x", one, other)
    assert told.startswith("x")
    assert len(told) < 1000


def test_what_is_long_is_cut_and_says_how_long_it_was() -> None:
    assert shorten_text("x" * 200) == "x" * 200
    assert shorten_text("x" * 201) == "x" * 200 + "… (201 characters)"
