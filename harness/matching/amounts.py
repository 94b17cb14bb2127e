"""Numbers in prose, in any notation a person would write, and tolerances for comparing them.

``1,234.50`` · ``1.234,50`` · ``1 234,50`` · ``1'234.50`` · ``12,34,567`` · ``$1.2k`` ·
``1.2 million`` · ``12%`` · ``1.2e6`` · ``1.2 × 10^6`` · ``2^10`` · ``(45.00)`` · ``−3`` ·
``minus 3`` · ``twenty-three thousand``. An ambiguous notation (``1.234``, ``12%``, ``5 m``) has
both readings. Digits that are not an amount are skipped: the markers of a numbered list, the digits
of a name (``ABC-42``, ``CUST_00042``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.errors import InvalidValue
from harness.linear_regex import search
from harness.matching.amounts_in_words import in_words
from harness.matching.json_values import is_number, show
from harness.types import JsonPath

_LOOKALIKES = str.maketrans("’‘\u00a0\u202f\u2009\u2007−–\u2011", "''    ---")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_DIGITS = re.compile(r"\d+(?:(?:[.,']| (?=\d{3}(?!\d)))\d+)*")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\D\d{3})+|[1-9]\d?(?:\D\d\d)+\D\d{3}")
_BEFORE = re.compile(
    r"(?:(?<![\w.)])(?P<sign>-)|(?P<operand>\d[%)]? )?\b(?P<word>minus|negative)[ -])?"
    r"(?:(?P<money>(?:US|CA|A|C)?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|Rs\.?)) "
    r"?(?P<inner>-)?)?$",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 24  # characters of a sign in words and a currency
_NAME = re.compile(
    r"[\w\u2011-]*[-\u2011]$"
)  # in the text itself: a dash stands between numbers, a hyphen in a name
_LONGEST_NAME = 60
_MARKER = re.compile(
    r"^[ \t]*(?:[-*+>#]+[ \t]+)*[*_]{0,2}\(?(\d{1,3})[.)][*_]{0,2}[ \t]+(?=\S)", re.MULTILINE
)
_POWER = re.compile(
    r"[eE](?P<e>[+-]?\d{1,3})\b"
    r"|(?P<ten> ?(?:[×xX*·⋅]|\\times|\\cdot|times) ?10)?(?:"
    # `2 ** 3` and `2**3`; but `**2** 3` is bold
    r"(?: ?\^ ?|\*\*| \*\* )[{(]?(?P<up>[+-]?\d{1,3})\b[})]?"
    # after numbers other than 10 these may be footnotes
    r"|(?<=10)(?<![\d.,]10)(?:(?P<small>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,4})|<sup>(?P<tag>[+-]?\d{1,3})</sup>))"
)
_SHARE = re.compile(r" ?(%|percent\b|per cent\b|pct\b|‰|bps\b|basis points\b)", re.IGNORECASE)
_SCALE_WORD = re.compile(
    r"[ "
    r"-]?(hundred|thousand|tsd|million|mio|mln|mn|billion|bn|mrd|trillion|tn|lakh|crore|dozen)s?\b",
    re.IGNORECASE,
)
_SCALE_LETTER = re.compile(r"( ?)([kmbt])\b", re.IGNORECASE)

_SHARES = {"‰": 1e-3, "bps": 1e-4, "basis points": 1e-4}
_SCALES = (
    {"hundred": 1e2, "dozen": 12.0, "lakh": 1e5, "crore": 1e7}
    | dict.fromkeys(("k", "thousand", "tsd"), 1e3)
    | dict.fromkeys(("m", "mn", "mio", "mln", "million"), 1e6)
    | dict.fromkeys(("b", "bn", "mrd", "billion"), 1e9)
    | dict.fromkeys(("t", "tn", "trillion"), 1e12)
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that stands in a text."""

    text: str
    """The number as written, with its sign, currency and unit."""
    readings: tuple[float, ...]
    """The values that the text may mean; at least one."""


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers of ``text``: first those in digits, in order, then those in words."""
    readable = text.translate(_LOOKALIKES)
    markers = _markers(readable)
    read = 0
    for match in _DIGITS.finditer(readable):
        if match.start() < read or match.start() in markers:
            continue
        if power := _POWER.match(readable, match.end()):
            read = power.end()  # the 10 and its exponent are not numbers of their own
        yield from _in_digits(readable, text, match.start(), match.end())
    for words, readings in in_words(readable):
        yield Amount(text=words, readings=readings)


def _markers(readable: str) -> frozenset[int]:
    """Return the offsets of list markers: numbers with a neighbour before or after in the list."""
    found = {match.start(1): int(match[1]) for match in _MARKER.finditer(readable)}
    numbers = set(found.values())
    return frozenset(place for place, number in found.items() if numbers & {number - 1, number + 1})


def _in_digits(readable: str, text: str, start: int, end: int) -> Iterator[Amount]:
    digits = readable[start:end]
    values = _readings(digits)
    if values:
        yield from _amount(readable, text, (start, end), values)
    # 2024 350 may be 2024350 or two numbers; 10,20,30 is a list
    separator = " " if " " in digits else "," if "," in digits and not values else ""
    place = start
    for part in digits.split(separator) if separator else ():
        yield from _in_digits(readable, text, place, place + len(part))
        place += len(part) + 1


def _amount(
    readable: str, text: str, place: tuple[int, int], values: list[float]
) -> Iterator[Amount]:
    """Yield the amount that these digits make with the sign and unit around them, if it is one."""
    start, end = place
    before = _BEFORE.search(readable, max(0, start - _LONGEST_BEFORE), start)
    prefix = before[0] if before else ""
    if not prefix.strip() and _is_named(readable, text, start):
        return
    scaled, stop = _scaled(values, readable, end, money=bool(before and before["money"]))
    first = start - len(prefix.lstrip())
    if before and before["operand"]:  # 10 minus 5: a subtraction, or a negative number
        first = before.start("word")
        scaled = [*(-value for value in scaled), *scaled]
    elif before and (before["sign"] or before["word"] or before["inner"]):
        scaled = [-value for value in scaled]
    elif readable[first - 1 : first] == "(" and readable[stop : stop + 1] == ")":
        scaled = [*scaled, *(-value for value in scaled)]  # a negative, or a remark
    finite = tuple(value for value in scaled if math.isfinite(value))
    if finite:
        yield Amount(text=text[first:stop], readings=finite)


def _is_named(readable: str, text: str, start: int) -> bool:
    """Whether the digits from ``start`` on belong to a name: CUST_00042, v2, ABC-42, ORD-2024-7."""
    if readable[max(0, start - 1) : start].isidentifier():
        return True
    name = _NAME.search(text, max(0, start - _LONGEST_NAME), start)
    return name is not None and any(letter.isalpha() for letter in name[0])


def _readings(digits: str) -> list[float]:
    """Return what digits with separators may mean; nothing for dates, versions and the like."""
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
    """Whether one separator divides groups of three digits, or of two before the last three."""
    form = _GROUPS.fullmatch(digits)
    return form is not None and len(marks) == 1


def _scaled(
    values: list[float], readable: str, end: int, *, money: bool
) -> tuple[list[float], int]:
    """Apply what follows a number (a power, ``%``, *million*, *k*); return readings and end."""
    power = _POWER.match(readable, end)
    if power:
        exponent = (power["e"] or power["up"] or power["tag"] or power["small"]).translate(
            _SUPERSCRIPTS
        )
        raised = _times_ten_to if power["e"] or power["ten"] else _to_the
        return [raised(value, exponent) for value in values], power.end()
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
        # 5 m may be metres, 5 K kelvin; 5k is five thousand, and $5B five billion.
        sure = (money or letter[2] in "kK") and not letter[1]
        return scaled if sure else [*values, *scaled], letter.end()
    return values, end


def _to_the(value: float, exponent: str) -> float:
    try:
        return float(value ** int(exponent))
    except (OverflowError, ZeroDivisionError, ValueError):  # 10⁻⁻ is not a power
        return math.inf


def _times_ten_to(value: float, exponent: str) -> float:
    try:
        return value * float(f"1e{exponent}")
    except ValueError:
        return math.inf


# ── Tolerances ───────────────────────────────────────────────────────────────────────────────


def check_tolerance(tolerance: Any, path: JsonPath) -> None:
    """Make sure that ``tolerance`` is a number ≥ 0 or a percentage such as ``"1%"``.

    Raises:
        InvalidValue: ``tolerance`` is neither.
    """
    if is_number(tolerance) and tolerance >= 0:
        return
    if not isinstance(tolerance, str) or search(r"\A\d{1,3}(\.\d{1,6})?\s?%\z", tolerance) is None:
        raise InvalidValue(
            f"a tolerance is a number from 0 on or a percentage, not {show(tolerance)}",
            path=path,
            meant='Write 0.5 for an absolute tolerance, "1%" for one relative to the value.',
        )


def close(wanted: float, value: float, tolerance: float | str) -> bool:
    """Whether ``value`` lies within ``tolerance`` (absolute, or a percentage of ``wanted``)."""
    try:
        room = (
            abs(wanted) * float(tolerance.rstrip("% ")) / 100
            if isinstance(tolerance, str)
            else tolerance
        )
        # The last digits of a float are rounding errors: 0.1 + 0.2 is within 0 of 0.3.
        return bool(abs(value - wanted) <= room + 1e-9 * max(abs(wanted), abs(value)))
    except OverflowError:
        return False
