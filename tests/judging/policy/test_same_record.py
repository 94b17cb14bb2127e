"""Two objects are about one thing where an id agrees, and about two where one differs."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy.comparable_values import (
    NOTHING,
    JsonRecord,
    same_kind,
    same_record,
    unlike_records,
)


@pytest.mark.parametrize(
    ("ours", "theirs", "same", "unlike"),
    [
        ({"id": "A-1"}, {"id": "A-1"}, True, False),
        ({"id": "A-1"}, {"id": "A-2"}, False, True),
        ({"id": "A-1", "email": "a@b.c"}, {"id": "A-1", "email": "x@y.z"}, False, False),
        ({"id": "A-1", "email": "a@b.c"}, {"id": "A-2", "email": "x@y.z"}, False, True),
        ({"id": "A-1", "plan": "gold"}, {"id": "A-1", "plan": "free"}, True, False),
        ({"id": "A-1"}, {"email": "a@b.c"}, None, False),
        ({"plan": "gold"}, {"plan": "gold"}, None, False),
        ({"id": "***"}, {"id": "A-1"}, None, False),
        ({"id": None}, {"id": "A-1"}, None, False),
        # What is asked about is no id of what it stands in.
        ({"phone_number": 1, "id": "A-1"}, {"phone_number": 2, "id": "A-1"}, True, False),
        ({"phone_number": 1, "id": "A-1"}, {"phone_number": 1, "id": "A-2"}, False, True),
        ({"phone_number": 1}, {"phone_number": 2}, None, False),
        ({"phone_number": 1}, {"phone_number": 1}, None, False),
    ],
)
def test_records_are_told_apart_by_their_ids(
    ours: dict[str, Any], theirs: dict[str, Any], same: bool | None, unlike: bool
) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        assert same_record(JsonRecord(one), JsonRecord(other), "phone_number") is same
        assert unlike_records(JsonRecord(one), JsonRecord(other), "phone_number") is unlike


def test_what_stands_in_no_object_is_about_nothing_that_could_be_compared() -> None:
    assert same_record(NOTHING, JsonRecord({"id": "A-1"}), "id") is None
    assert not unlike_records(NOTHING, JsonRecord({"id": "A-1"}), "id")


@pytest.mark.parametrize(
    ("ours", "theirs", "same_sort"),
    [
        ("ab", "ab", True),
        ("ab", "ac", True),
        ("abc", "ade", False),
        ("abcd", "abef", True),
        ("abcd", "aefg", False),
        ("abcd", "a", True),
        ("abcd", "e", False),
        ("", "abc", True),
    ],
)
def test_records_of_which_half_of_the_fields_are_the_same_are_of_one_sort(
    ours: str, theirs: str, same_sort: bool
) -> None:
    one, other = (JsonRecord(dict.fromkeys(names, 1)) for names in (ours, theirs))
    assert same_kind(one, other) is same_sort
    assert same_kind(other, one) is same_sort
