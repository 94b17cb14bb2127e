from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.base.regexes import search_pattern
from harness.judging.matching.texts import check_pattern
from tests.clock import is_in_proportion


def test_a_pattern_is_found_at_its_characters() -> None:
    assert search_pattern("é+", "xéé") == (1, 3)
    assert search_pattern("^x$", "y") is None


@pytest.mark.parametrize(
    ("pattern", "said", "meant"),
    [
        ("(", "missing )", None),
        (r"(a)\1", "invalid escape sequence", "back-references"),
        ("(?<=a)b", "invalid perl operator", "Look-behind"),
        ("(?!a)b", "invalid perl operator", "Look-ahead"),
        ("(.{900}){900}", "invalid repetition size", None),
        (r"(\pL?){1000}b", "too large", "smaller counts"),
    ],
)
def test_a_pattern_that_does_not_work_is_refused_with_its_reason(
    pattern: str, said: str, meant: str | None
) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_pattern(pattern, ("pattern",))
    assert said in caught.value.message
    assert caught.value.path == ("pattern",)
    assert meant is None or meant in str(caught.value.meant)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(.*)*x", r"(\w+\s?)+$!"])
def test_a_pattern_that_hangs_other_engines_takes_time_in_proportion_to_the_text(
    pattern: str,
) -> None:
    assert is_in_proportion(lambda length: search_pattern(pattern, "a" * length + "!"), 2_000_000)


def test_a_pattern_that_does_not_work_writes_nothing_by_itself(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(InvalidValue):
        check_pattern("(never seen before")
    assert capfd.readouterr() == ("", "")


@given(st.text(max_size=20), st.text())
def test_any_text_is_a_pattern_or_refused(pattern: str, text: str) -> None:
    try:
        check_pattern(pattern)
    except InvalidValue:
        return
    found = search_pattern(pattern, text)
    assert found is None or 0 <= found[0] <= found[1] <= len(text)


def test_a_text_with_half_a_surrogate_pair_can_be_searched() -> None:
    assert search_pattern("b", "a\ud800b") == (2, 3)
