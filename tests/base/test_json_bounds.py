"""Foreign JSON is read within bounds: any depth, any number, any half of a character."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import (
    MAX_DEPTH,
    MAX_DIGITS,
    WIRE_DEPTH,
    Cut,
    find_shortcoming,
    is_deep,
    load_json,
    measure_depth,
    trim_depth,
)

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('a"\\[]{}é,:'),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('a"\\[]{}', max_size=3), inner, max_size=4)
    ),
)


def levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(levels, value.values()), default=0)
    return 1 + max(map(levels, value), default=0) if isinstance(value, list) else 0


def nested(count: int, opening: str = '{"a":', closing: str = "}") -> str:
    return opening * count + "1" + closing * count


@given(ANY_JSON, st.booleans())
def test_the_depth_of_a_text_is_that_of_its_value(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert measure_depth(text.encode()) == levels(value)


@given(ANY_JSON)
def test_what_is_within_bounds_is_read_as_it_stands(value: Any) -> None:
    assert load_json(json.dumps(value)) == value
    assert load_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize("opening", ['{"a":', "[", '{"]}\\"":[', '["\\\\",'])
@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 300, 1_000, 100_000])
def test_json_of_any_depth_is_read_to_a_bound(opening: str, count: int) -> None:
    closing = "".join(
        {"{": "}", "[": "]"}.get(sign, "") for sign in reversed(opening.replace("]}", ""))
    )
    value = load_json(nested(count, opening, closing))
    assert levels(value) <= WIRE_DEPTH
    assert find_shortcoming(value) == f"it nests deeper than {MAX_DEPTH} levels"


def test_what_is_cut_off_is_told_by_its_size_and_digest() -> None:
    value = load_json(f"[{nested(WIRE_DEPTH, '[', ']')}, 2, {nested(500)}]")
    assert value[1] == 2
    while isinstance(value, list):
        value = value[0]
    assert value.startswith(
        f"[… cut by harness: nested deeper than {WIRE_DEPTH} levels, 3 bytes, sha256 "
    )


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 500 + "}" * 500, '{"a":' * 200, "]" * 500, '"' + "[" * 500]
)
def test_what_is_no_json_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"never closed|Expecting|delimiter|Unterminated|Extra data"
    ):
        load_json(text)


def test_brackets_within_texts_are_no_levels() -> None:
    assert not is_deep(json.dumps(["[" * 5_000]))
    assert load_json(json.dumps(["[" * 5_000])) == ["[" * 5_000]
    assert is_deep(nested(MAX_DEPTH + 1))
    assert not is_deep(nested(MAX_DEPTH))


@pytest.mark.parametrize(
    ("text", "value"), [("1e400", 10**400), ("-1.5e400", -15 * 10**399), ("1.0", 1.0)]
)
def test_a_number_beyond_a_float_is_the_integer_that_it_is(text: str, value: float) -> None:
    assert load_json(text) == value
    assert load_json(str(10 ** (MAX_DIGITS - 1))) == 10 ** (MAX_DIGITS - 1)


@pytest.mark.parametrize(
    "text", ["1" + "0" * MAX_DIGITS, "-1" + "0" * 9_999, "1e5000", "1e99999999999999999999"]
)
def test_a_number_that_python_does_not_write_becomes_a_text_that_says_so(text: str) -> None:
    value = load_json(f"[{text}, 1]")
    assert isinstance(value[0], Cut)
    assert value[1] == 1
    assert find_shortcoming(value) is not None


def test_what_json_does_not_have_is_a_text_or_what_cannot_be_sent_on() -> None:
    assert load_json("[NaN, -Infinity]") == ["NaN", "-Infinity"]
    assert find_shortcoming(load_json("[NaN]")) is None
    assert find_shortcoming(load_json("[NaN]", strict=True)) == "it holds what is not read: NaN"
    assert load_json('["\\ud800", "\\ud83d\\ude00"]') == ["\ufffd", "😀"]
    assert (
        find_shortcoming(load_json('{"a": "\\ud800"}', strict=True))
        == "it holds what is not read: \ufffd"
    )


def test_a_sender_cannot_claim_that_something_was_cut() -> None:
    assert (
        find_shortcoming(load_json('["[… cut by harness: nested deeper than 120 levels]"]')) is None
    )


def test_a_value_made_in_python_is_trimmed_to_what_can_be_written() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    kept = trim_depth({"deep": value, "\ud800": 10**5_000, "nan": float("nan")}, 50)
    assert levels(json.loads(json.dumps(kept))) == 50
    assert kept["nan"] == "nan"
    assert kept["\ufffd"].startswith("[… cut by harness: an integer of")
