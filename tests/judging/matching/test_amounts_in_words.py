"""Every word of a number, and where a number in words begins and ends."""

from __future__ import annotations

import pytest

from harness.judging.matching.amounts_in_words import find_number_words

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {word: value for value, word in enumerate([*ONES, *TEENS])} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}
LARGE = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 10**9,
    "trillion": 10**12,
}


def found(text: str) -> list[tuple[str, tuple[float, ...]]]:
    return list(find_number_words(text))


@pytest.mark.parametrize("word", WORDS)
def test_every_word_up_to_ninety_is_its_number(word: str) -> None:
    value = WORDS[word]
    assert found(f"only {word}") == [(word, (value,))]
    assert found(f"a hundred and {word}") == [(f"hundred and {word}", (100 + value,))]
    assert found(f"minus {word}") == [(f"minus {word}", (-value,))]


@pytest.mark.parametrize("tens", TENS)
@pytest.mark.parametrize("one", ["zero", "one", "nine", "ten"])
def test_tens_are_followed_by_one_to_nine(tens: str, one: str) -> None:
    whole = [(f"{tens} {one}", (WORDS[tens] + WORDS[one],))]
    apart = [(tens, (WORDS[tens],)), (one, (WORDS[one],))]
    expected = {"one": whole, "nine": whole, "ten": [], "zero": apart}  # twenty-ten is a year
    assert found(f"{tens}-{one} orders") == expected[one]


@pytest.mark.parametrize("large", LARGE)
def test_every_large_word_multiplies_what_stands_before_it(large: str) -> None:
    assert found(f"two {large}") == [(f"two {large}", (2 * LARGE[large],))]
    assert found(f"a {large}") == [(large, (LARGE[large],))]
    assert found(f"one {large} and five") == [(f"one {large} and five", (LARGE[large] + 5,))]
    assert found(f"several {large}") == []
    assert found(f"1.2 {large}") == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("two hundred thousand", [200_000]),
        ("two million three hundred thousand forty one", [2_300_041]),
        ("three thousand two hundred and twelve", [3_212]),
        ("nineteen twenty", []),
        ("ten five", [10, 5]),
        ("five and six", [5, 6]),
        ("one hundred and", [100]),
        ("hundred and thousand", [100, 1_000]),
        ("thousand hundred", [1_000, 100]),
        ("a few hundred", []),
        ("no one of them", []),
        ("is one of them", []),
        ("there is one order", [1]),
        ("there are one-off orders", [1]),
        ("just one", [1]),
        ("choose one", []),
        ("one thing", []),
    ],
)
def test_a_number_ends_where_the_next_word_is_none_of_it(text: str, numbers: list[float]) -> None:
    assert [readings for _, readings in found(text)] == [(number,) for number in numbers]


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("minus five", [(-5,)]),
        ("it is minus five", [(-5,)]),
        ("ten minus five", [(10,), (-5, 5)]),
        ("hundred minus five", [(100,), (-5, 5)]),
        ("a thousand minus five", [(1_000,), (-5, 5)]),
        ("10 minus five", [(-5, 5)]),
        ("10 is minus five", [(-5,)]),
        ("negative one", [(-1,)]),
    ],
)
def test_a_minus_between_two_numbers_is_a_sign_or_takes_away(
    text: str, readings: list[tuple[float, ...]]
) -> None:
    assert [each for _, each in found(text)] == readings


@pytest.mark.parametrize(("size", "figure"), [(3, True), (20, True), (21, False)])
def test_a_short_answer_of_one_word_is_the_figure_one(size: int, figure: bool) -> None:
    assert found("one".ljust(size, ".")) == ([("one", (1,))] if figure else [])
