"""A text for a simple regular expression."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.regexes import text_matching


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^CUST_[0-9]{5}$", "CUST_12345"),
        (r"^[Cc][Uu][Ss][Tt]_\d{3}$", "CUST_123"),
        (r"[A-Z]{2,5}", "AB"),
        (r"^(foo|bar)-\w+$", "foo-abc"),
        (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", "abc"),
        (r"^\+?[1-9]\d{1,14}$", "1123"),
        (r"^[^@\s]+@[^@\s]+\.[a-z]+$", "abc@abc.abc"),
        (r"^v\d+\.\d+$", "v123.123"),
        (r"a{2,}b??c+?", "aaccc"),
    ],
)
def test_a_simple_pattern_gets_a_text_that_it_matches(pattern: str, text: str) -> None:
    assert text_matching(pattern) == text
    assert re.search(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    ["(?=x)", "[", "a{", "a**", r"\p{L}", "(a", "a)", "x{999999999}", "((a{100}){100}){100}"],
)
def test_a_pattern_that_is_more_than_simple_gets_none(pattern: str) -> None:
    assert text_matching(pattern) is None


@given(st.text(r"ab1()[]{}|*+?.^$\d-,2:", max_size=30))
def test_no_pattern_breaks_the_reader(pattern: str) -> None:
    text = text_matching(pattern)
    assert text is None or len(text) <= 120


@given(
    st.lists(
        st.sampled_from(["[A-Z]{3}", r"\d{4}", "-", "_", "(x|y)", "[a-f0-9]+", "z?", r"\."]),
        max_size=6,
    )
)
def test_parts_that_are_simple_are_simple_together(parts: list[str]) -> None:
    pattern = f"^{''.join(parts)}$"
    text = text_matching(pattern)
    assert text is not None
    assert re.search(pattern, text)
