import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents.fields import resolve_scalar


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-12", -12),
        ("+5", 5),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.0", 1.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-2.5E-2", -0.025),
    ],
)
def test_words_that_json_knows_become_values(word: str, value: object) -> None:
    resolved = resolve_scalar(word)
    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize(
    "word",
    [
        "yes", "no", "on", "off", "y", "N", "tRUE", "2024-05-01", "2024-05-01T10:00:00Z",
        "12:30:45", "1_000", "010", "007", "00.5", "1.0.0", "0x", "-", ".", "+", "1e", "CUST_00042",
        "٣", "NaN", "inf", "=",
    ],
)  # fmt: skip
def test_every_other_word_stays_text(word: str) -> None:
    assert resolve_scalar(word) == word


@pytest.mark.parametrize(
    "word", [".nan", ".NaN", ".inf", "-.inf", "+.INF", "1e999", "9" * 1001, "0x" + "f" * 1001]
)
def test_numbers_that_json_cannot_hold_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="number"):
        resolve_scalar(word)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_of_json_is_read_as_itself(number: float) -> None:
    resolved = resolve_scalar(repr(number))
    assert resolved == number
    assert type(resolved) is type(number)


@given(st.text(alphabet="+-.0123456789eExXo_abcdef:", min_size=1, max_size=12))
def test_a_word_is_a_finite_number_or_itself(word: str) -> None:
    try:
        resolved = resolve_scalar(word)
    except ValueError:
        return
    assert resolved == word or math.isfinite(resolved)


@given(st.text(alphabet="+-.0123456789e", min_size=1, max_size=8))
def test_a_number_is_never_another_number_than_plain_yaml_reads(word: str) -> None:
    try:
        resolved = resolve_scalar(word)
        plain = yaml.safe_load(f"[{word}]")[0]
    except (ValueError, yaml.YAMLError):
        return
    if isinstance(resolved, int | float) and isinstance(plain, int | float):
        assert resolved == plain
