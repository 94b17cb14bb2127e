from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.matching.amounts import find_amounts, find_figures, is_close
from tests.clock import is_in_proportion
from tests.often import often


def readings(text: str) -> set[float]:
    return {reading for amount in find_amounts(text) for reading in amount.readings}


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1½", {1.5}),
        (r"$1\frac{1}{2}$", {1.5}),
        ("1.234,567.8", set()),
        ("1.5,2.5", {1.5, 2.5}),
        ("call 555 123 4567", set()),
        ("1 800 555 0199", set()),
        ("555 123 456", {555_123_456}),
        ("+/-5", {5}),
        ("₹1.5 cr", {1.5, 1.5e7}),
        ("5-", {5, -5}),
        ("a loss of 5−.", {5, -5}),
        ("5,- €", {5}),
        ("5-7", {5, 7}),
        ("5- 7", {5, 7}),
        ("a 5-year plan", {5}),
        ("1 ½ and ¾", {1.5, 0.75}),
        ("−2½", {-2.5}),
        ("3/4", {0.75}),
        ("1 1/2 million", {1.5e6}),
        ("½ million", {5e5}),
        ("3 and a half", {3.5}),
        (r"\frac{1}{4}", {0.25}),
        ("1/0", set()),
        ("１００，０００", {100_000, 100}),
        ("１．５％", {1.5, 0.015}),
        ("١٢٣٬٤٥٦٫٥", {123_456.5}),
        ("१२,३४,५६७", {1_234_567}),
        ("𝟏𝟐𝟑", {123}),
        ("10⁶ and 2⁻²", {1e6, 0.25}),
        ("2**3 and 4**5", {8, 1024}),
        ("1_000_000", {1e6}),
        ("1\u202f234,50", {1234.5}),
        ("1\u2009000\u2009000", {1e6}),
        ("1 234,50", {1234.5}),
        ("**1**,000.5", {1000.5}),
        ("1&nbsp;000", {1000}),
        ("1\u200b000", {1000}),
        ("1{,}000.5", {1000.5}),
        (".5", {0.5}),
        ("5万", {50_000}),
        ("1,5 Millionen", {1.5e6}),
        ("1.5 hundred million", {1.5e8}),
        ("three dozen", {36}),
        ("+1 234 567", {1_234_567}),
        ("24.12.", {24.12}),
        ("[1,2,3]", {1, 2, 3}),
        ("It is 5!", {5}),
        ("$5/month", {5}),
        *((text, set()) for text in (
            "2024-01-05", "2024-01-05T10:30:00Z", "01/02/2024", "2024-01", "10:30", "3:1",
            "1.2.3", "192.168.1.1", "A-100", "+1 555 123-4567", "(555) 123-4567", "555-123-4567",
            "0x1F", "3fa85f64", "550e8400-e29b-41d4-a716-446655440000", "1e1000", "10^1000",
            "1.2 × 10^6.5", "2^3^4", "√2", "2π", "0.(3)", "0.3\u0305", "1️⃣0️⃣", "①", "5①", "Ⅻ",
            "10₂", "5°30", "1·5", "1'5", "5′10″", "1,234,56", "1,000,00", "5.000 000", "1万2千",
            "10⅟", "two thirds", "half a million", "two and a half million", "twenty-third",
            "two point five", "nineteen eighty-four", "twenty oh five", "a quarter million",
        )),
    ],
)  # fmt: skip
def test_a_number_is_read_whole_or_not_at_all(text: str, found: set[float]) -> None:
    assert readings(f"It is {text} now") == found
    assert readings(text) == found


SCRIPTS = [
    chr(code) for code in (0x30, 0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10, 0x1D7CE, 0x1E950)
]
"""The digit zero of some scripts."""


def _group(digits: str, mark: str, *, indian: bool = False) -> str:
    """Return ``digits`` in groups of three, or of two before the last three."""
    size, head, tail = (2, digits[:-3], digits[-3:]) if indian else (3, digits, "")
    first = len(head) % size
    groups = [head[:first], *(head[at : at + size] for at in range(first, len(head), size)), tail]
    return mark.join(filter(None, groups))


def _grouped_by(mark: str, point: str) -> Callable[[int, str], tuple[str, float]]:
    return lambda whole, cents: (
        _group(str(whole), mark) + point + cents,
        float(f"{whole}.{cents}"),
    )


WRITTEN: dict[str, Callable[[int, str], tuple[str, float]]] = {
    "plain": lambda whole, cents: (f"{whole}.{cents}", float(f"{whole}.{cents}")),
    **{
        f"grouped by {mark!r}, point {point!r}": _grouped_by(mark, point)
        for mark in (",", ".", " ", "'", "’", "_", "\u00a0", "\u202f", "\u2009", "，", "٬")
        for point in (".", ",", "٫")
        if {mark, point} not in ({"."}, {","}, {"，", ","}, {"٬", ","}, {"٬", "."})
    },
    "Indian": lambda whole, cents: (
        f"{_group(str(whole), ',', indian=True)}.{cents}",
        float(f"{whole}.{cents}"),
    ),
    "a half": lambda whole, _: (f"{whole}½", whole + 0.5),
    "a fraction": lambda whole, _: (f"{whole} 3/8", whole + 0.375),
    "a power of ten": lambda whole, cents: (f"{cents}×10⁶", float(cents) * 1e6),
    "exponent": lambda whole, cents: (f"{whole}e2", whole * 100.0),
    "thousands": lambda whole, cents: (f"{whole}.{cents}k", float(f"{whole}.{cents}") * 1000),
    "a date": lambda whole, cents: (f"{whole}-{cents}-{cents}", math.nan),
    "a time": lambda whole, cents: (f"{whole}:{cents}", math.nan),
    "a version": lambda whole, cents: (f"{whole}.{cents}.{cents}", math.nan),
    "a name": lambda whole, cents: (f"AB-{whole}", math.nan),
    "a subscript": lambda whole, cents: (f"{whole}₈", math.nan),
}
FORMS = sorted(WRITTEN)


@given(
    st.sampled_from(FORMS),
    st.integers(1, 10**9),
    st.integers(10, 99),
    st.sampled_from(SCRIPTS),
    st.sampled_from(["", "**", "$", "−"]),
)
def test_a_number_in_any_form_and_any_script_has_its_value_or_none(
    form: str, whole: int, cents: int, zero: str, around: str
) -> None:
    written, value = WRITTEN[form](whole, str(cents))
    digits = {48 + digit: chr(ord(zero) + digit) for digit in range(10)}
    end = around if around == "**" else ""
    sign = -1 if around == "−" else 1
    found = readings(f"It is {around}{written.translate(digits)}{end} now")
    wanted = set() if math.isnan(value) else {sign * value}
    assert all(any(math.isclose(one, other) for other in wanted) for one in found), found


@given(st.integers(0, 10**9), st.integers(0, 99))
def test_both_ways_to_group_digits_give_the_same_figure(whole: int, cents: int) -> None:
    english = f"{whole:,}.{cents:02}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert float(f"{whole}.{cents:02}") in readings(f"It is {english} today")
    assert float(f"{whole}.{cents:02}") in readings(f"Es sind {german} heute")


_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ONES = [*_UNITS, *_TEENS]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number: int, joint: str, ahead: str) -> str:
    """Return a whole number in words.

    ``joint`` joins tens and ones, ``ahead`` precedes the tens.
    """
    for size, name in (
        (10**12, "trillion"),
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
    ):
        if number >= size:
            rest = number % size
            return f"{spelled(number // size, joint, ahead)} {name}" + (
                f" {spelled(rest, joint, '')}" if rest else ""
            )
    if number >= 100:
        rest = number % 100
        return f"{_ONES[number // 100]} hundred" + (
            f" {ahead}{spelled(rest, joint, ahead)}" if rest else ""
        )
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10 - 2] + (f"{joint}{_ONES[number % 10]}" if number % 10 else "")


@pytest.mark.parametrize("joint", ["-", " "])
@pytest.mark.parametrize("ahead", ["", "and "])
def test_every_number_below_a_thousand_is_read_from_its_words(joint: str, ahead: str) -> None:
    for number in range(1000):
        words = spelled(number, joint, ahead)
        assert readings(f"They are {words} in all") == {number}, words


@given(st.integers(1000, 10**15 - 1))
def test_larger_numbers_are_read_from_their_words_too(number: int) -> None:
    assert readings(f"They are {spelled(number, '-', '')} in all") == {number}


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("hundred", 1e2),
        ("dozen", 12),
        ("lakh", 1e5),
        ("crore", 1e7),
        *((name, 1e3) for name in ("k", "thousand", "tsd")),
        *((name, 1e6) for name in ("m", "mn", "mio", "mln", "million")),
        *((name, 1e9) for name in ("b", "bn", "mrd", "billion")),
        *((name, 1e12) for name in ("t", "tn", "trillion")),
    ],
)
def test_what_follows_a_number_makes_it_larger(unit: str, factor: float) -> None:
    may_be_a_unit = {2.5} if unit in {"m", "b", "t"} else set()
    for told, other in (
        (f"It took 2.5{unit}.", may_be_a_unit),
        (f"It took 2.5 {unit.upper()}", may_be_a_unit),
    ):
        also = {2.5} if " K" in told else set[float]()
        assert sorted(readings(told)) == pytest.approx(sorted({2.5 * factor} | other | also)), told
    assert sorted(readings(f"It took ${2.5}{unit}")) == pytest.approx([2.5 * factor])


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        *((name, 1e-2) for name in ("%", "percent", "per cent", "pct")),
        ("‰", 1e-3),
        ("bps", 1e-4),
        ("basis points", 1e-4),
    ],
)
def test_a_share_is_its_number_or_what_it_is_of_one(unit: str, factor: float) -> None:
    assert sorted(readings(f"up 2.5 {unit} now")) == pytest.approx([2.5 * factor, 2.5])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.234", {1.234, 1234}),
        ("12.345.678", {12_345_678}),
        ("12,345.67", {12_345.67}),
        ("1234,567", {1234.567}),
        ("0,123", {0.123}),
        ("1.23", {1.23}),
        ("(45)", {45, -45}),
        ("(45", {45}),
        ("45)", {45}),
        ("($45.50)", {45.5, -45.5}),
        ("10 minus 5", {10, 5, -5}),
        ("minus 5", {-5}),
        ("minus one", {-1}),
        ("3 minus two", {3, 2, -2}),
        ("three minus two", {3, 2, -2}),
        ("three apples minus two", {3, -2}),
        ("one hundred", {100}),
        ("few hundred", set()),
        ("2 hundred", {200}),
        ("no one", set()),
        ("One", {1}),
        ("one" + "!" * 17, {1}),
        ("one" + "!" * 18, set()),  # no answer of one word
        ("there is one", {1}),
        ("there is one of them", set()),
        ("only one of", set()),
        ("one of us is here now", set()),
        ("1. A\n2. B", set()),
        ("1. A\n3. B", {1, 3}),
        ("4. A\n3. B", set()),
        ("a_1", set()),
        ("x 1", {1}),
        ("A-1", set()),
        ("2-1", {2, 1}),
    ],
)
def test_a_number_has_these_readings_and_no_others(text: str, found: set[float]) -> None:
    assert readings(text) == found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2024-01-05", {2024, 1, 5}),
        ("10:30", {10, 30}),
        ("120/350", {120 / 350, 120, 350}),
        ("row 1:64512", {1, 64_512}),
        ("CUST-00042", set()),
        ("$1,234.50", {1234.5}),
    ],
)
def test_a_search_for_figures_finds_the_parts_of_dates_and_ratios_too(
    text: str, values: set[float]
) -> None:
    assert set(find_figures(text)) == values


@given(st.text())
def test_any_text_has_finite_numbers_written_as_they_stand(text: str) -> None:
    for amount in find_amounts(text):
        assert amount.readings
        assert all(math.isfinite(reading) for reading in amount.readings)


@given(st.text(alphabet="0123456789.,' -−+$€%kKmMbe×x*10^⁶()", max_size=40))
def test_any_mixture_of_digits_and_marks_is_read_without_failing(text: str) -> None:
    assert all(math.isfinite(reading) for reading in readings(text))


@pytest.mark.parametrize(
    "text",
    often(["1,", "one ", "hundred and ", "minus ", "a hundred ", "1. A\n", "a-1-", "- "], 2),
    ids=repr,
)
def test_a_long_answer_is_read_in_time_in_proportion_to_its_length(text: str) -> None:
    def read(times: int) -> None:
        assert len(list(find_amounts(text * times))) <= times

    assert is_in_proportion(read, 10_000)


def test_the_text_of_an_amount_is_the_one_of_the_answer() -> None:
    assert [amount.text for amount in find_amounts("It was −$1’234 or 12 % or five")] == [
        "−$1’234",
        "12 %",
        "five",
    ]


@pytest.mark.parametrize(
    ("wanted", "value", "tolerance", "near"),
    [
        (0.3, 0.1 + 0.2, 0, True),
        (100, 101, 1, True),
        (100, 101.1, 1, False),
        (100, 99, "1%", True),
        (1e9, 1e9 + 1, 0, True),  # the last digits of a float
        (1e9, 1e9 + 2, 0, False),
        (200, 203, "1.5%", True),
        (200, 203.1, "1.5 %", False),
        (100, 99, 1, True),
        (100, 98.9, 1, False),
        (100, 98.9, "1%", False),
        (-100, -101, "1 %", True),
        (0, 0.001, "5%", False),
        (1.5, 10**400, 1, False),
    ],
)
def test_near_enough_is_what_the_tolerance_says(
    wanted: float, value: float, tolerance: float | str, near: bool
) -> None:
    assert is_close(wanted, value, tolerance) == near


SCALES = {
    "hundred": 1e2, "dozen": 12, "lakh": 1e5, "crore": 1e7, "thousand": 1e3, "tsd": 1e3,
    "million": 1e6, "mio": 1e6, "mln": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "mrd": 1e9,
    "trillion": 1e12, "tn": 1e12,
}  # fmt: skip


@pytest.mark.parametrize("word", SCALES)
def test_every_word_of_size_multiplies_the_digits_before_it(word: str) -> None:
    for text in (f"3 {word}", f"3{word}", f"3-{word}", f"3 {word.upper()}s"):
        assert readings(text) == {3 * SCALES[word]}


@pytest.mark.parametrize(("letter", "size"), [("k", 1e3), ("m", 1e6), ("b", 1e9), ("t", 1e12)])
def test_a_letter_of_size_is_sure_of_money_and_of_thousands(letter: str, size: float) -> None:
    assert readings(f"$3{letter}") == {3 * size}
    assert readings(f"$3 {letter}") == {3, 3 * size}
    assert readings(f"3{letter}") == ({3 * size} if letter == "k" else {3, 3 * size})
    assert readings(f"3{letter.upper()}") == ({3 * size} if letter == "k" else {3, 3 * size})
    assert readings(f"3 {letter}") == {3, 3 * size}


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("%", 100),
        ("percent", 100),
        ("per cent", 100),
        ("pct", 100),
        ("‰", 1_000),
        ("bps", 10_000),
        ("basis points", 10_000),
    ],
)
def test_a_share_is_read_as_it_stands_and_as_a_part_of_one(unit: str, factor: int) -> None:
    assert sorted(readings(f"50 {unit}")) == [pytest.approx(50 / factor), 50]


@pytest.mark.parametrize(("spaces", "value"), [(0, -5), (1, 5)])
def test_a_sign_in_words_and_a_currency_stand_close_before_the_digits(
    spaces: int, value: float
) -> None:
    assert readings("minus US$ 5" if not spaces else f"minus  US$ {' ' * spaces}5") == {value}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(45)", {45, -45}),
        ("(45", {45}),
        ("45)", {45}),
        ("10 - 5", {10, 5}),
        ("10 minus 5", {10, 5, -5}),
        ("10% minus 5", {10, 0.1, 5, -5}),
        ("x-5", set()),
        ("x 5", {5}),
        ("_5", set()),
        ("1e3", {1_000}),
        ("1e-3", {0.001}),
        ("1e400", set()),
        ("1,234,567.5", {1_234_567.5}),
        ("1.234.567,5", {1_234_567.5}),
        ("0,123", {0.123}),
        ("1,23", {1.23}),
        ("1,2345", {1.2345}),
        ("12,345", {12_345, 12.345}),
        ("1234,567", {1_234.567}),
        ("1.2.3", set()),
    ],
)
def test_all_that_a_number_may_mean_and_nothing_else(text: str, values: set[float]) -> None:
    assert readings(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1. A\n2. B", set()),
        ("1. A\n3. B", {1, 3}),
        ("2. A\n1. B", set()),
        ("999. A\n1000. B", {999, 1000}),
        ("- **1)** A\n- **2)** B", set()),
    ],
)
def test_numbers_that_count_the_items_of_a_list_are_no_figures(
    text: str, values: set[float]
) -> None:
    assert readings(text) == values


@pytest.mark.parametrize(
    ("wanted", "value", "tolerance", "near"),
    [
        (100, 101, 1, True),
        (100, 101.001, 1, False),
        (100, 99, 1, True),
        (100, 99, "1%", True),
        (100, 98.9, "1%", False),
        (-100, -101, "1%", True),
        (200, 203, "1.5 %", True),
        (0, 0, 0, True),
        (0, 1e-9, 0, False),
        (1e9, 1e9 + 1, 0, True),
        (1e9, 1e9 + 3, 0, False),
        (0.3, 0.1 + 0.2, 0, True),
    ],
)
def test_near_is_within_the_tolerance_and_its_bound_is_within(
    wanted: float, value: float, tolerance: float | str, near: bool
) -> None:
    assert is_close(wanted, value, tolerance) is near


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1 x 10^3", [(1_000,)]),
        ("1.2 × 10^6, or 5", [(1_200_000,), (5,)]),
        ("1.2 × 10⁻³", [(0.0012,)]),
        ("2 * 10**3", [(2_000,)]),
        (r"$3 \times 10^{-2}$", [(0.03,)]),
        (r"3 \cdot 10^{4}", [(30_000,)]),
        ("4·10^2", [(400,)]),
        ("10^3", [(1_000,)]),
        ("1 X 10^3", [(1_000,)]),
        ("1 times 10^3", [(1_000,)]),
        ("1 x 10 ^ 3", [(1_000,)]),
        ("1 x 10 ** 3", [(1_000,)]),
        ("1 × 10<sup>3</sup>", [(1_000,)]),
        ("10<sup>-2</sup>", [(0.01,)]),
        ("10³", [(1_000,)]),
        ("1 × 10⁻²", [(0.01,)]),
        ("10⁻⁻", []),
        ("45¹ and 11²", [(45,), (121,)]),
        ("**5** 3 items", [(5,), (3,)]),
        ("2^10 and 7", [(1_024,), (7,)]),
        ("0^-1", []),
        ("999^999", []),
        ("1e3", [(1_000,)]),
        ("2 x 10", [(2,), (10,)]),
        ("1 x 10^3 x 2", [(1_000,), (2,)]),
    ],
)
def test_a_number_with_a_power_is_one_number(text: str, readings: list[tuple[float, ...]]) -> None:
    assert [amount.readings for amount in find_amounts(text)] == readings


@pytest.mark.parametrize(
    ("ahead", "named"), [("A", True), ("A" + 58 * "1", True), ("A" + 59 * "1", False)]
)
def test_the_sixty_characters_before_a_hyphen_tell_a_name(ahead: str, named: bool) -> None:
    found = [amount.text for amount in find_amounts(f"It is {ahead}-42")]
    assert found == ([] if named else ["42"])
