from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.amounts import amounts, close


def readings(text: str) -> set[float]:
    return {reading for amount in amounts(text) for reading in amount.readings}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1234.5", 1234.5),
        ("1,234.50", 1234.5),
        ("1.234,50 €", 1234.5),
        ("1 234,50", 1234.5),
        ("1\u202f234,50", 1234.5),
        ("CHF 1’234.50", 1234.5),
        ("12,34,567", 1_234_567),
        ("1,234", 1234),
        ("1.234", 1234),
        ("1.234", 1.234),
        ("1,5", 1.5),
        ("$1.2k", 1200),
        ("€5K", 5000),
        ("1.2 million", 1_200_000),
        ("$1.2M", 1_200_000),
        ("3bn", 3e9),
        ("2 lakh", 200_000),
        ("1.5 crore", 15_000_000),
        ("12%", 12),
        ("12 %", 0.12),
        ("12 percent", 0.12),
        ("50 bps", 0.005),
        ("1.2e6", 1_200_000),
        ("1.2 × 10^6", 1_200_000),
        ("1.2×10⁻³", 0.0012),
        ("-3", -3),
        ("−3", -3),
        ("-$5", -5),
        ("$-5", -5),
        ("(45.00)", -45),
        ("an aside (45)", 45),
        ("USD1,200", 1200),
        ("US$4", 4),
        ("Total: **$1,234.50**.", 1234.5),
        ("in 2024 350 people came", 350),
        ("1,000,000", 1_000_000),
        ("007", 7),
        ("5kg", 5),
        ("twelve", 12),
        ("Twenty-three thousand and five", 23_005),
        ("one hundred and five items", 105),
        ("two million", 2_000_000),
        ("nineteen hundred", 1900),
        ("three and four", 3),
        ("two three", 3),
        ("one hundred and then five", 100),
        ("hundred and twenty", 120),
        ("a hundred orders", 100),
        ("about a thousand", 1000),
        ("minus 5 °C", -5),
        ("negative $5", -5),
        ("Minus $1.2k", -1200),
        ("minus five degrees", -5),
        ("10 minus 5 is 5", 5),
        ("ten minus five", 5),
        ("10,20,30", 20),
        ("10,20,30", 30),
        ("1,20.5,30", 20.5),
        ("1\u2007234", 1234),
        ("twenty\u2011three", 23),
        ("$5B", 5e9),
        ("EUR 3m", 3e6),
        ("USD-5", -5),
        ("3.", 3),
        ("42. That is the answer.", 42),
        ("1. A\n2. B\n\n3", 3),
        ("1. A: 7\n2. B: 8", 8),
        ("One.", 1),
        ("You have one order.", 1),
        ("Only one was found", 1),
        ("١٢", 12),
    ],
)
def test_a_number_is_read_as_it_is_meant(text: str, value: float) -> None:
    assert any(math.isclose(reading, value) for reading in readings(text)), readings(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("CUST_00042", 42),
        ("v2", 2),
        ("1.2.3", 1.2),
        ("01.02.2024", 1.02),
        ("5-10", -10),
        ("- 5 apples", -5),
        ("$1.2k", 1.2),
        ("1.2 million", 1.2),
        ("1e999", 1),
        ("no number", 0),
        ("twenty", 2),
        ("hundred and twenty", 20),
        ("several hundred orders", 100),
        ("hundreds of orders", 100),
        ("5 million", 1e6),
        ("minus 5 °C", 5),
        ("minus five degrees", 5),
        ("You have 5 …:\n1. A\n2. B\n3. C\n4. D\n5. E", 3),
        ("Five:\n  1) A\n  2) B\n  3) C", 3),
        ("**1.** A\n**2.** B", 2),
        ("- 1. A\n- 2. B", 2),
        ("No one has ordered", 1),
        ("One of them is paid, the other one is not", 1),
        ("This is one of many", 1),
        ("ticket ABC-42", 42),
        ("ORD-2024-0042", 42),
        ("ticket ABC\u201142", 42),
        ("GPT-4", 4),
        ("$5B", 5),
        ("EUR 3m", 3),
        ("10,20,30", 102030),
        ("three and four", 7),
        ("twenty thirty", 50),
    ],
)
def test_what_is_no_such_number_is_not_read_as_one(text: str, value: float) -> None:
    assert value not in readings(text)


@given(st.integers(0, 10**9), st.integers(0, 99))
def test_both_ways_to_group_digits_give_the_same_figure(whole: int, cents: int) -> None:
    english = f"{whole:,}.{cents:02}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert float(f"{whole}.{cents:02}") in readings(f"It is {english} today")
    assert float(f"{whole}.{cents:02}") in readings(f"Es sind {german} heute")


@given(st.text())
def test_any_text_has_finite_numbers_written_as_they_stand(text: str) -> None:
    for amount in amounts(text):
        assert amount.readings
        assert all(math.isfinite(reading) for reading in amount.readings)


@given(st.text(alphabet="0123456789.,' -−+$€%kKmMbe×x*10^⁶()", max_size=40))
def test_any_mixture_of_digits_and_marks_is_read_without_failing(text: str) -> None:
    assert all(math.isfinite(reading) for reading in readings(text))


@pytest.mark.parametrize(
    "text", ["1,", "one ", "hundred and ", "minus ", "a hundred ", "1. A\n", "a-1-", "- "], ids=repr
)
def test_a_long_answer_is_read_in_a_moment(text: str) -> None:
    started = time.perf_counter()
    assert len(list(amounts(text * 5_000))) <= 5_000
    assert time.perf_counter() - started < 5


def test_the_text_of_an_amount_is_the_one_of_the_answer() -> None:
    assert [amount.text for amount in amounts("It was −$1’234 or 12 % or five")] == ["−$1’234", "12 %", "five"]


@pytest.mark.parametrize(
    ("wanted", "value", "tolerance", "near"),
    [
        (0.3, 0.1 + 0.2, 0, True),
        (100, 101, 1, True),
        (100, 101.1, 1, False),
        (100, 99, "1%", True),
        (100, 98.9, "1%", False),
        (-100, -101, "1 %", True),
        (0, 0.001, "5%", False),
        (1.5, 10**400, 1, False),
    ],
)
def test_near_enough_is_what_the_tolerance_says(
    wanted: float, value: float, tolerance: float | str, near: bool
) -> None:
    assert close(wanted, value, tolerance) == near
