"""Numbers in prose, in any notation a person would write, and how near is near enough.

``1,234.50`` · ``1.234,50`` · ``1 234,50`` · ``1'234.50`` · ``12,34,567`` · ``$1.2k`` · ``1.2 million`` ·
``12%`` · ``1.2e6`` · ``1.2 × 10^6`` · ``(45.00)`` · ``−3`` · ``twenty-three thousand``. A notation that can be
read in two ways (``1.234``, ``12%``, ``5 m``) has both readings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.checks import Path
from harness.checks.patterns import search
from harness.checks.values import is_number, show
from harness.errors import InvalidValue

_LOOKALIKES = str.maketrans("’‘\u00a0\u202f\u2009−–", "''   --")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_DIGITS = re.compile(r"\d+(?:(?:[.,']| (?=\d{3}(?!\d)))\d+)*")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\D\d{3})+|[1-9]\d?(?:\D\d\d)+\D\d{3}")
_BEFORE = re.compile(
    r"(?:(?<![\w.)])(?P<sign>-))?"
    r"(?:(?P<money>(?:US|CA|A|C)?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|Rs\.?)) ?(?P<inner>-)?)?$"
)
_POWER = re.compile(r"[eE]([+-]?\d{1,3})\b| ?[×x*] ?10(?:\^([+-]?\d{1,3})\b|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,4}))")
_SHARE = re.compile(r" ?(%|percent\b|per cent\b|pct\b|‰|bps\b|basis points\b)", re.IGNORECASE)
_SCALE_WORD = re.compile(
    r"[ -]?(hundred|thousand|tsd|million|mio|mln|mn|billion|bn|mrd|trillion|tn|lakh|crore|dozen)s?\b", re.IGNORECASE
)
_SCALE_LETTER = re.compile(r"( ?)([kmbt])\b", re.IGNORECASE)
_WORD_RUN = re.compile(r"[A-Za-z]+(?:(?:[ -]+)[A-Za-z]+)*")

_SHARES = {"‰": 1e-3, "bps": 1e-4, "basis points": 1e-4}
_SCALES = (
    {"hundred": 1e2, "dozen": 12.0, "lakh": 1e5, "crore": 1e7}
    | dict.fromkeys(("k", "thousand", "tsd"), 1e3)
    | dict.fromkeys(("m", "mn", "mio", "mln", "million"), 1e6)
    | dict.fromkeys(("b", "bn", "mrd", "billion"), 1e9)
    | dict.fromkeys(("t", "tn", "trillion"), 1e12)
)
# fmt: off
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}
# fmt: on
_LARGE = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that stands in a text."""

    text: str
    """As it is written, with its sign, currency and unit."""
    readings: tuple[float, ...]
    """What it may mean; at least one."""


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers of ``text``: those in digits in their order, then those in words."""
    readable = text.translate(_LOOKALIKES)
    for match in _DIGITS.finditer(readable):
        yield from _in_digits(readable, text, match.start(), match.end())
        if " " in match[0]:  # 2024 350 may be 2024350 or two numbers
            place = match.start()
            for part in match[0].split(" "):
                yield from _in_digits(readable, text, place, place + len(part))
                place += len(part) + 1
    yield from _in_words(text)


def _in_digits(readable: str, text: str, start: int, end: int) -> Iterator[Amount]:
    before = _BEFORE.search(readable, max(0, start - 8), start)
    prefix = before[0] if before else ""
    if not prefix.strip() and readable[max(0, start - 1) : start].isidentifier():
        return  # part of a name: CUST_00042, v2
    scaled, stop = _scaled(_readings(readable[start:end]), readable, end)
    first = start - len(prefix.lstrip())
    if before and (before["sign"] or before["inner"]):
        scaled = [-value for value in scaled]
    elif readable[first - 1 : first] == "(" and readable[stop : stop + 1] == ")":
        scaled = [*scaled, *(-value for value in scaled)]  # accountants' negative, or an aside
    finite = tuple(value for value in scaled if math.isfinite(value))
    if finite:
        yield Amount(text=text[first:stop], readings=finite)


def _readings(digits: str) -> list[float]:
    """Return what digits with separators may mean; nothing for dates, versions and other such things."""
    marks = [letter for letter in digits if not letter.isdigit()]
    if not marks:
        return [float(digits)]
    last = marks[-1]
    readings = []
    if _grouped(digits, set(marks)):
        readings.append(float("".join(filter(str.isdigit, digits))))
    if last in ".," and marks.count(last) == 1:
        whole, fraction = digits.rsplit(last, 1)
        if len(marks) == 1 or _grouped(whole, set(marks[:-1])):
            readings.append(float("".join(filter(str.isdigit, whole)) + "." + fraction))
    return readings


def _grouped(digits: str, marks: set[str]) -> bool:
    """Whether one separator stands between groups of three digits, or of two before the last three."""
    form = _GROUPS.fullmatch(digits)
    return form is not None and len(marks) == 1


def _scaled(values: list[float], readable: str, end: int) -> tuple[list[float], int]:
    """Apply what follows a number (a power, a percent sign, *million*, *k*); return the readings and their end."""
    power = _POWER.match(readable, end)
    if power:
        exponent = (power[1] or power[2] or power[3]).translate(_SUPERSCRIPTS)
        return [_times_ten_to(value, exponent) for value in values], power.end()
    share = _SHARE.match(readable, end)
    if share:
        factor = _SHARES.get(share[1].lower(), 1e-2)
        return [*values, *(value * factor for value in values)], share.end()
    word = _SCALE_WORD.match(readable, end)
    if word:
        return [value * _SCALES[word[1].lower()] for value in values], word.end()
    letter = _SCALE_LETTER.match(readable, end)
    if letter:
        scaled = [value * _SCALES[letter[2].lower()] for value in values]
        sure = letter[2] in "kK" and not letter[1]  # 5 m may be metres, 5 K kelvin; 5k is five thousand
        return scaled if sure else [*values, *scaled], letter.end()
    return values, end


def _times_ten_to(value: float, exponent: str) -> float:
    try:
        return value * float(f"1e{exponent}")
    except ValueError:  # 10⁻⁻ is no power
        return math.inf


def _in_words(text: str) -> Iterator[Amount]:
    for run in _WORD_RUN.finditer(text):
        words: list[str] = []
        for word in [*re.split(r"[ -]+", run[0]), ""]:
            if words and not _goes_on(words[-1].lower(), word.lower()):
                yield _spelled(words)
                words = []
            if words or word.lower() in _SMALL:
                words.append(word)


def _goes_on(before: str, word: str) -> bool:
    """Whether ``word`` goes on with the number that ends in ``before``: as in *twenty three*, not as in *two three*."""
    big = before == "hundred" or before in _LARGE
    if word == "and":
        return big
    if word in _SMALL:
        return (
            big or before == "and" or (_SMALL.get(before, 0) >= _SMALL["twenty"] and 0 < _SMALL[word] < _SMALL["ten"])
        )
    return before != "and" and (word in _LARGE or (word == "hundred" and before in _SMALL))


def _spelled(words: list[str]) -> Amount:
    while words[-1].lower() == "and":
        words = words[:-1]
    total, part = 0, 0
    for word in (word.lower() for word in words):
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _LARGE:
            total, part = total + max(part, 1) * _LARGE[word], 0
        else:
            part += _SMALL.get(word, 0)
    return Amount(text=" ".join(words), readings=(float(total + part),))


# ── Tolerances ───────────────────────────────────────────────────────────────────────────────


def check_tolerance(tolerance: Any, path: Path) -> None:
    """Make sure that ``tolerance`` is a number ≥ 0 or a percentage such as ``"1%"``.

    Raises:
        InvalidValue: it is neither.
    """
    if is_number(tolerance) and tolerance >= 0:
        return
    if not isinstance(tolerance, str) or search(r"\A\d{1,3}(\.\d{1,6})?\s?%\z", tolerance) is None:
        raise InvalidValue(
            f"a tolerance is a number from 0 on or a percentage, not {show(tolerance)}",
            path=path,
            meant='Write 0.5 for an absolute one, "1%" for one in proportion to the value.',
        )


def close(wanted: float, value: float, tolerance: float | str) -> bool:
    """Whether ``value`` lies within ``tolerance`` (absolute, or a percentage of ``wanted``)."""
    try:
        room = abs(wanted) * float(tolerance.rstrip("% ")) / 100 if isinstance(tolerance, str) else tolerance
        # The last digits of a float are nobody's figure: 0.1 + 0.2 is within 0 of 0.3.
        return bool(abs(value - wanted) <= room + 1e-9 * max(abs(wanted), abs(value)))
    except OverflowError:
        return False
