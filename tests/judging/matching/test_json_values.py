from __future__ import annotations

import datetime as dt
import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.base.redaction import KNOWN
from harness.judging.matching.json_values import (
    ABSENT,
    MAX_DEPTH,
    format_value,
    is_equal,
    iterate_leaves,
    shorten_value,
    to_plain_json,
    type_name,
)
from tests.judging.checks.strategies import JSON


@given(JSON)
def test_every_json_value_equals_itself_and_its_copy(value: Any) -> None:
    assert is_equal(value, to_plain_json(value))


@given(JSON, JSON)
def test_equality_is_symmetric_and_agrees_with_canonical_json_of_normalised_numbers(
    left: Any, right: Any
) -> None:
    def normal(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, dict):
            return {key: normal(part) for key, part in value.items()}
        return [normal(part) for part in value] if isinstance(value, list) else value

    def text(value: Any) -> str:
        return json.dumps(normal(value), sort_keys=True)

    assert is_equal(left, right) == is_equal(right, left) == (text(left) == text(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("10", 10),
        (True, 1),
        (False, 0),
        (None, 0),
        (None, False),
        (None, ""),
        ([], {}),
        ([True], [1]),
        ({"a": "1"}, {"a": 1}),
        ("a", "A"),
        ([1, 2], [2, 1]),
    ],
)
def test_types_count(left: Any, right: Any) -> None:
    assert not is_equal(left, right)


@pytest.mark.parametrize(
    ("left", "right"), [(5, 5.0), ([5], [5.0]), ({"a": {"b": 5}}, {"a": {"b": 5.0}}), (0, -0.0)]
)
def test_a_whole_number_is_the_same_with_and_without_a_fraction(left: Any, right: Any) -> None:
    assert is_equal(left, right)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (dt.date(2024, 1, 1), "this is a date to YAML"),
        ({1: "a"}, "the key 1 is not a string"),
        ({None: "a"}, "the key null is not a string"),
        (float("inf"), "infinity and NaN"),
        (float("nan"), "infinity and NaN"),
        (b"x", "this is a bytes to YAML"),
        ({1, 2}, "this is a set to YAML"),
        ("\ud800", "not valid Unicode"),
        ((1 << 1023), "too large"),
        (ABSENT, "this is a Absent to YAML"),
    ],
)
def test_what_is_not_json_is_named(value: Any, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        to_plain_json({"a": [value]})


def test_the_path_leads_to_what_is_not_json() -> None:
    with pytest.raises(InvalidValue) as caught:
        to_plain_json({"a": [1, {"b": dt.date(2024, 1, 1)}]})
    assert caught.value.path == ("a", 1, "b")
    assert caught.value.meant == 'Quote it to make it a string: "2024-01-01".'


def test_a_value_that_nests_without_end_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidValue, match="nested too deeply") as caught:
        to_plain_json(loop)
    assert len(caught.value.path) == MAX_DEPTH


def test_read_only_mappings_and_tuples_become_plain() -> None:
    assert to_plain_json(MappingProxyType({"a": (1, 2)})) == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "number"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_types_have_the_names_of_json(value: Any, name: str) -> None:
    assert type_name(value) == name


@given(JSON | st.text())
def test_a_value_is_shown_on_one_bounded_line_without_controls(value: Any) -> None:
    shown = format_value(value, 40)
    assert len(shown) <= 40
    assert (
        shown.isprintable()
        or "\u00ad" in shown
        or "\u200c" in shown
        or "\u200d" in shown
        or not shown.isascii()
    )
    assert all(ord(letter) >= 0x20 and not 0x7F <= ord(letter) <= 0x9F for letter in shown)


def test_a_value_nested_deeper_than_python_goes_is_still_shown() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert format_value(deep) == "(nested very deeply)"
    assert list(iterate_leaves(deep)) == ["1"]


def test_an_absent_value_says_so() -> None:
    assert format_value(ABSENT) == "(not given)"


def test_large_values_are_cut_for_reports_and_small_ones_left_alone() -> None:
    assert shorten_value({"a": 1}) == {"a": 1}
    assert shorten_value(["x" * 5_000], 100).endswith("…")


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5), st.text(max_size=5) | st.integers(), max_size=4
    )
)
def test_leaves_are_all_keys_and_scalars(value: dict[str, Any]) -> None:
    found = list(iterate_leaves({"outer": [value]}))
    for key, part in value.items():
        assert key in found
        assert (part if isinstance(part, str) else str(part)) in found


def test_a_whole_number_is_as_large_as_a_float_can_be() -> None:
    assert to_plain_json((1 << 1023) - 1) == (1 << 1023) - 1


def test_a_value_may_be_forty_levels_deep() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    assert to_plain_json(deep) == deep
    with pytest.raises(InvalidValue, match="nested too deeply"):
        to_plain_json([deep])


@pytest.mark.parametrize("half", [chr(0xD800), f"a{chr(0xDBFF)}", f"{chr(0xDC00)}b", chr(0xDFFF)])
def test_half_a_surrogate_pair_is_no_text(half: str) -> None:
    with pytest.raises(InvalidValue, match="half of a surrogate pair"):
        to_plain_json({"a": half})
    assert to_plain_json("\ud7ff\ue000") == "\ud7ff\ue000"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (MappingProxyType({"a": 1}), '{"a": 1}'),
        ({"at": dt.date(2026, 1, 2)}, '{"at": "2026-01-02"}'),
        ("Zoë", '"Zoë"'),
        ("x" * 58, '"' + "x" * 58 + '"'),
        ("x" * 59, '"' + "x" * 58 + "…"),
    ],
)
def test_a_value_is_shown_as_json_in_at_most_sixty_characters(value: Any, shown: str) -> None:
    assert format_value(value) == shown


def test_a_value_that_is_cut_shows_no_part_of_a_secret() -> None:
    secret = "open-sesame-and-come-in"
    KNOWN.add_secret(secret)
    for filler in range(60):
        assert "open-s" not in format_value("x" * filler + " " + secret).replace(secret, "")


def test_reports_hold_values_of_up_to_2000_characters() -> None:
    assert shorten_value("x" * 1_998) == "x" * 1_998
    assert shorten_value("x" * 1_999) == '"' + "x" * 1_998 + "…"
