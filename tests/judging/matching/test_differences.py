from __future__ import annotations

from typing import Any

import pytest

from harness.judging.matching.differences import (
    ArgumentDifference,
    find_differences,
    format_both_sides,
    format_differences,
    measure_distance,
)
from harness.judging.matching.json_values import ABSENT

ORDER = "the same elements in another order"


@pytest.mark.parametrize(
    ("wanted", "given", "found"),
    [
        ([1, 2], [1, 2], []),
        ([], [], []),
        ([1, 2], [2, 1], [("tags", ORDER)]),
        ([1, 1, 2], [2, 1, 1], [("tags", ORDER)]),
        ([1, 1, 2], [1, 2, 2], [("tags[1]", "")]),
        ([1, 2], [3, 4], [("tags[0]", ""), ("tags[1]", "")]),
        ([1, 2], [2, 3], [("tags[0]", ""), ("tags[1]", "")]),
        ([1, 2], [1, 3], [("tags[1]", "")]),
        ([{"$gt": 5}, 1], [1, 6], [("tags", ORDER)]),
        ([1, 2], [2, 1, 3], [("tags", "3 elements instead of 2")]),
        ([1, 2], [1], [("tags", "1 elements instead of 2")]),
        ([1], [], [("tags", "0 elements instead of 1")]),
        ([0, *range(100)], [*range(100), 0], [(f"tags[{place}]", "") for place in range(1, 101)]),
        ([*range(100)], [*range(99, -1, -1)], [("tags", ORDER)]),
        ({"a": [1, 2]}, {"a": [2, 1]}, [("tags.a", ORDER)]),
    ],
)
def test_lists_differ_in_their_elements_their_length_or_only_in_their_order(
    wanted: Any, given: Any, found: list[tuple[str, str]]
) -> None:
    assert [
        (part.path, part.note) for part in find_differences({"tags": wanted}, {"tags": given})
    ] == found


def test_a_key_that_is_missing_and_one_too_many_are_both_told() -> None:
    found = find_differences({"where": {"a": 1, "b": 2}}, {"where": {"a": 1, "c": 3}, "free": 9})
    assert [(part.path, part.expected, part.actual, part.note) for part in found] == [
        ("where.b", 2, ABSENT, ""),
        ("where.c", ABSENT, 3, "not expected here"),
    ]


@pytest.mark.parametrize(
    ("pattern", "given", "far"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, (0, 0)),
        ({"a": 1}, {"a": 2}, (1, 1)),
        ({"a": "Red"}, {"a": "red"}, (1, 0)),
        ({"a": 1}, {"a": "1"}, (1, 0)),
        ({"a": 1}, {"b": 1}, (1, 0)),
        ({"a": 1}, {"b": 2}, (1, 1)),
        ({"a": [1, 2]}, {"a": [2, 1]}, (1, 0)),
        ({"a": [1, 2]}, {"a": [1, 3]}, (1, 0)),
        ({"a": 1, "b": 2}, {"a": 9, "b": 9}, (2, 2)),
        ({"a": 1, "b": "X"}, {"a": 9, "b": "x"}, (2, 1)),
    ],
)
def test_a_call_is_the_nearer_the_fewer_of_its_arguments_differ_and_the_fewer_of_these_in_full(
    pattern: Any, given: Any, far: tuple[int, int]
) -> None:
    assert measure_distance(pattern, given) == far


@pytest.mark.parametrize(
    ("wrong", "rows", "more"), [(1, 1, None), (6, 6, None), (7, 6, 1), (10, 6, 4)]
)
def test_the_first_six_differences_are_shown_and_the_others_counted(
    wrong: int, rows: int, more: int | None
) -> None:
    lines = format_differences(find_differences({f"a{place}": 1 for place in range(wrong)}, {}))
    assert len(lines) == 1 + rows + (more is not None)
    assert (lines[-1] == f"  … and {more} more") == (more is not None)


@pytest.mark.parametrize(
    ("wanted", "given", "shown"),
    [
        ("a" * 42, "a" * 41 + "b", ('"' + "a" * 42 + '"', '"' + "a" * 41 + 'b"')),
        ("a" * 44, "a" * 43 + "b", ('"' + "a" * 42 + "…", '"' + "a" * 42 + "…")),
        ("a" * 45, "a" * 44 + "b", ('…"' + "a" * 16 + '"', '…"' + "a" * 15 + 'b"')),
        ("x", "x" * 45, ('"x"', '"' + "x" * 41 + "…")),
        ("x" * 20, "x" * 45, ('…"' + "x" * 15 + '"', '…"' + "x" * 40 + '"')),
        ("a" * 60, "b" + "a" * 59, ('"' + "a" * 41 + "…", '"b' + "a" * 40 + "…")),
        (
            "a" * 60,
            "a" * 15 + "b" + "a" * 44,
            ('"' + "a" * 41 + "…", '"' + "a" * 15 + "b" + "a" * 25 + "…"),
        ),
        (
            "a" * 60,
            "a" * 16 + "b" + "a" * 43,
            ('…"' + "a" * 41 + "…", '…"' + "a" * 15 + "b" + "a" * 25 + "…"),
        ),
        (ABSENT, 5, ("(none)", "5")),
        (5, ABSENT, ("5", "(not given)")),
    ],
)
def test_of_two_long_texts_the_stretch_is_shown_in_which_they_part(
    wanted: Any, given: Any, shown: tuple[str, str]
) -> None:
    assert format_both_sides(ArgumentDifference(path="a", expected=wanted, actual=given)) == shown
