"""Numbers written in words: ``twenty-three thousand``, ``a hundred and five``, ``minus five``.

A lone *one* is usually not a number ("no one", "one of them"). It is read as a number only where it
clearly counts something ("only one", "there is one order", "minus one", or nothing but "One.").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD_RUN = re.compile(r"[A-Za-z]+(?:(?:[ -]+)[A-Za-z]+)*")
_BETWEEN = re.compile(r"[ -]+")
_BEHIND_DIGITS = re.compile(r"[\d¼½¾⅐-⅞][^\w\n]{0,2}$")
# fmt: off
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}
# fmt: on
_LARGE = {
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
    "quadrillion": 1_000_000_000_000_000,
    "dozen": 12,
    "lakh": 100_000,
    "crore": 10_000_000,
}
_PARTS = frozenset(
    {"half", "third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
    | {"twentieth", "hundredth", "thousandth", "millionth"}
)
_ORDINALS = _PARTS - {"half", "quarter"} | {"first", "second", "hundredth"}
"""*twenty-third* is not twenty, and *two thirds* not two."""
_VAGUE = frozenset(
    {"few", "several", "many", "some", "couple", "per", "half", "quarter"}
)  # "a few hundred" is not "a hundred"
_SHORT = 20  # characters of an answer that is one word
_SIGNS = frozenset({"minus", "negative"})
# The s is what an apostrophe leaves of "there's one order".
_COUNTING = frozenset(
    {"exactly", "only", "just", "is", "are", "was", "were", "have", "has", "had", "found", "s"}
)


def find_number_words(readable: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield each number written in words in ``readable``, with the values it may mean.

    A minus between two numbers may be a sign or an operator, so it gives two readings.
    """
    for run in _WORD_RUN.finditer(readable):
        words = _BETWEEN.split(run[0])
        lower = [word.lower() for word in words]
        goes_on_digits = (
            _BEHIND_DIGITS.search(readable, max(0, run.start() - 3), run.start()) is not None
        )
        place = 0
        while place < len(words):
            end = _find_number_end(lower, place, goes_on_digits=goes_on_digits)
            if end == place:
                place += 1
                continue
            is_number = (
                end - place > 1 or lower[place] != "one" or _is_counting_one(readable, lower, place)
            )
            if is_number and not _is_part(lower, place, end):
                yield _apply_sign(words, place, end, goes_on_digits=goes_on_digits)
            place = end


def _is_large(word: str) -> bool:
    return word == "hundred" or word in _LARGE


def _find_number_end(lower: list[str], start: int, *, goes_on_digits: bool) -> int:
    """Return the end of the number in words that begins at ``start``; ``start`` if none does."""
    first, before = lower[start], lower[start - 1] if start else ""
    if first not in _SMALL:
        is_rest = goes_on_digits and all(map(_is_large, lower[:start]))
        if not _is_large(first) or before in _VAGUE or is_rest:
            return start  # the number reader handles 1.2 million with its digits
    end = start + 1
    while end < len(lower) and _continues_number(lower[end - 1], lower[end]):
        end += 1
    # An "and" that no number follows belongs to the sentence.
    return end - 1 if lower[end - 1] == "and" else end


def _is_part(lower: list[str], start: int, end: int) -> bool:
    """Whether a number is a part of another: two and a half, two thirds, two point five."""
    before, after = lower[max(0, start - 2) : start], lower[end : end + 3]
    beside = {*before[-1:], *after[:1]}
    if beside & {"point", "oh"} or before == ["half", "a"]:
        return True
    if _is_two_digits(lower[start]) and any(map(_is_two_digits, beside)):
        return True  # nineteen eighty-four
    if after[:1] == ["and"]:
        after = after[1:]
        return len(after) > 1 and after[0] in {"a", "one"} and after[1] in _PARTS
    word = after[0] if after else ""
    return word in _ORDINALS or word.removesuffix("s") in _PARTS or word == "halves"


def _is_two_digits(word: str) -> bool:
    return _SMALL.get(word, 0) >= _SMALL["ten"]


def _continues_number(before: str, word: str) -> bool:
    """Whether ``word`` continues a number after ``before``: *twenty three*, not *two three*."""
    big = _is_large(before)
    if word == "and":
        return big
    if word in _SMALL:
        return (
            big
            or before == "and"
            or (_SMALL.get(before, 0) >= _SMALL["twenty"] and 0 < _SMALL[word] < _SMALL["ten"])
        )
    return before != "and" and (word in _LARGE or (word == "hundred" and before in _SMALL))


def _is_counting_one(readable: str, lower: list[str], place: int) -> bool:
    """Whether a lone *one* is a number here."""
    if len(readable) <= _SHORT and re.fullmatch(r"\W*one\W*", readable, re.IGNORECASE):
        return True
    before = lower[place - 1] if place else ""
    after = lower[place + 1] if place + 1 < len(lower) else ""
    return before in _COUNTING | _SIGNS and after != "of"


def _apply_sign(
    words: list[str], start: int, end: int, *, goes_on_digits: bool
) -> tuple[str, tuple[float, ...]]:
    value = _words_value(words[start:end])
    text = " ".join(words[start:end])
    if start == 0 or words[start - 1].lower() not in _SIGNS:
        return text, (value,)
    between = (start == 1 and goes_on_digits) or (start > 1 and _is_number_word(words[start - 2]))
    return f"{words[start - 1]} {text}", (-value, value) if between else (-value,)


def _is_number_word(word: str) -> bool:
    return word.lower() in _SMALL or _is_large(word.lower())


def _words_value(words: list[str]) -> float:
    total, part = 0, 0
    for word in map(str.lower, words):
        if word == "hundred":
            # A bare "hundred" or "thousand" is one of them.
            part = max(part, 1) * 100
        elif word in _LARGE:
            total, part = total + max(part, 1) * _LARGE[word], 0
        else:
            part += _SMALL.get(word, 0)
    return float(total + part)
