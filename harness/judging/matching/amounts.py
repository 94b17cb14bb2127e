"""Numbers in prose, in any notation a person would write, and tolerances for comparing them.

``1,234.50`` · ``1.234,50`` · ``1 234,50`` · ``1'234.50`` · ``12,34,567`` · ``$1.2k`` ·
``1.2 million`` · ``12%`` · ``1.2e6`` · ``1.2 × 10^6`` · ``2^10`` · ``(45.00)`` · ``−3`` ·
``minus 3`` · ``twenty-three thousand``. An ambiguous notation (``1.234``, ``12%``, ``5 m``) has
both readings. Digits of any script, fractions (``1½``, ``3/4``) and powers (``10⁶``) are read, too.

A number is read whole or not at all: where its digits go on in a way that is not understood, no
part of it is a number. Digits that are no amount are skipped: dates, times, versions, telephones,
the markers of a numbered list, the digits of a name (``ABC-42``, ``CUST_00042``).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from typing import Any

from harness.base import InvalidValue, render_text, search_pattern, without_hidden
from harness.judging.matching.amounts_in_words import find_number_words
from harness.judging.matching.json_values import format_value, is_number
from harness.types import JsonPath, dataclass

_LOOKALIKES = {
    **str.maketrans("’‘‛ʼ′٬−–‒\u2011﹣٫٪⁄∕￥", "''''''-----.%//¥"),
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},  # full-width forms
}
_MAY_BE_ARITHMETIC = re.compile(r"[\\*<{]")
_UNSPLIT = "\u00a0\u2007\u2009\u200a\u202f\u205f"
"""Spaces that group the digits of one number, and never part two."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_VULGAR = "¼½¾⅐-⅞↉"
_DIGITS = re.compile(rf"(?<![\w.])\.\d+|\d+(?:(?:[.,'_]| (?=\d{{3}}(?!\d)))\d+)*|[{_VULGAR}]")
_ARITHMETIC = (  # what rendering would take for marks
    (re.compile(r"(?<=\d)( ?)\*\*\1(?=[({]?[+-]?\d)"), "^"),
    (re.compile(r"(?<=\d)\*(?=\d)"), "×"),
    (re.compile(r"(?<=\d)<sup>([+-]?\d{1,3})</sup>"), r"^{\1}"),
    (re.compile(r"(?<=\d)(?=\\[dt]?frac\b)"), " "),  # a mixed number
    (re.compile(r"\\[dt]?frac ?\{(\d{1,9})\}\{(\d{1,9})\}"), r"\1/\2"),
    (re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d)"), ","),
    (re.compile(r"(?<=\d)\\ (?=\d)"), "\u00a0"),
)
_NO_NUMBER = re.compile(
    r"\d+(?:[.,]\d+)?(?::\d+(?:[.,]\d+)?)+"  # times, ratios
    r"|\d+(?:/\d+){2,}|\d+(?:-\d+){2,}(?:t\d+(?::\d+)*)?"  # dates, telephones
    r"|\d{4}-0\d(?!\d)"  # a month
    r"|(?<![\d.,] )(?<![\d.,])(?:\d{1,3} )?\d{3} \d{3} \d{4}(?!\d| \d)"
    r"|\+?\(\d{1,5}\) ?\d+(?:[ -]\d+)+|\+\d{1,3}(?:[ -]?\(\d{1,5}\))?(?:[ -]\d+){2,}",  # telephones
    re.IGNORECASE,
)
# A signed number in groups, although it looks like a telephone: +1 234 567.
_GROUPED_ALL = re.compile(r"\+[1-9]\d{0,2}(?: \d{3})+")
_PARTED = re.compile(r"(?<![\w.,'/:-])\d{1,15}(?:[/:-]\d{1,15}){1,6}(?!\w)")
_REST = re.compile(
    r"(?:(?P<gap> ?| and |-)(?:(?P<vulgar>[" + _VULGAR + r"])"
    r"|(?P<up>\d{1,9})/(?P<down>\d{1,9}))"
    r"| and (?:a|one|1) (?P<part>half|third|quarter|fifth|tenth)\b)(?![\d/])"
)
"""The fraction of a mixed number."""
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_FRACTION = re.compile(r"/(?P<down>\d{1,9})(?![\d/,.'_]*\d)")
_GOES_ON = re.compile(
    r"[.'_]?\d|,\d|\.\(\d|_\w|[^\W\d_]{1,40}[\d_]|e[+-]\d|[/:]\d| ?\^|\*\*\d|\\\W?\d|π"
    r"|[^\w\s\-–—−+=*×x<>≤≥≈~()\[\]{}|&%‰$€£¥₹/:;,.!?\"'`#@\\]\d",
    re.IGNORECASE,
)
"""What shows that the digits before it are a part of something else."""
_CAME_BEFORE = re.compile(
    r"(?:√|\d[.,']|\d\.\(|\d[^\w\s\-–—−+=*×x<>≤≥≈~()\[\]{}|&%‰$€£¥₹/;,.!?\"'`#@])$", re.IGNORECASE
)
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\D\d{3})+|[1-9]\d?(?:\D\d\d)+\D\d{3}")
_BEFORE = re.compile(
    r"(?:(?<![\w.)/])(?P<sign>-)|(?P<operand>\d[%)]? )?\b(?P<word>minus|negative)[ -])?"
    r"(?:(?P<money>(?:US|CA|A|C)?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|Rs\.?)) "
    r"?(?P<inner>-)?)?$",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 24  # characters of a sign in words and a currency
_NAME = re.compile(
    r"[\w\u2011-]*[-\u2011]$"
)  # in the text itself: a dash stands between numbers, a hyphen in a name
_LONGEST_NAME = 60
_MARKS = frozenset({"No", "Nl", "Mn", "Mc", "Me"})
_MARKER = re.compile(
    r"^[ \t]*(?:[-*+>#]+[ \t]+)*[*_]{0,2}\(?(\d{1,3})[.)][*_]{0,2}[ \t]+(?=\S)", re.MULTILINE
)
_POWER = re.compile(
    r"[eE](?P<e>[+-]?\d{1,3})\b"
    r"|(?P<ten> ?(?:[×xX*·⋅]|\\times|\\cdot|times) ?10)?(?:"
    # `2 ** 3` and `2**3` were made `2^3`; `**2** 3` is bold
    r"(?: ?\^ ?)[{(]?(?P<up>[+-]?\d{1,3})\b[})]?"
    r"|(?P<small>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))"
)
_SHARE = re.compile(r" ?(%|percent\b|per cent\b|pct\b|‰|bps\b|basis points\b)", re.IGNORECASE)
_SCALE_LETTER = re.compile(r"( ?)([kmbt]|cr)\b", re.IGNORECASE)
_TRAILING_SIGN = re.compile(r"-(?=[\s,;:.!?)]|\Z)(?![ ]?\d)(?!,?-)")

_SHARES = {"‰": 1e-3, "bps": 1e-4, "basis points": 1e-4}
_SCALES = (
    {"hundred": 1e2, "dozen": 12.0, "lakh": 1e5, "crore": 1e7, "cr": 1e7, "quadrillion": 1e15}
    | dict.fromkeys(("k", "thousand", "tsd", "tausend", "mille", "mil", "тыс", "тысяч"), 1e3)
    | dict.fromkeys(("m", "mn", "mio", "mln", "million", "millionen", "millones", "millón"), 1e6)
    | dict.fromkeys(("milioni", "milione", "milhões", "milhão", "miljoen", "млн"), 1e6)
    | dict.fromkeys(("b", "bn", "mrd", "billion", "milliard", "milliarde", "milliarden"), 1e9)
    | dict.fromkeys(("miliardi", "miljard", "млрд"), 1e9)
    | dict.fromkeys(("t", "tn", "trillion"), 1e12)
    | {"百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
    | {"만": 1e4, "억": 1e8, "हज़ार": 1e3, "लाख": 1e5, "करोड़": 1e7}
)
_SCALE_WORD = re.compile(
    r"[ -]?(?:("
    + "|".join(
        sorted((word for word in _SCALES if len(word) > 1 and word != "cr"), key=len, reverse=True)
    )
    + r")s?\b|([百千万萬亿億兆만억]))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that stands in a text."""

    text: str
    """The number as written, with its sign, currency and unit."""
    readings: tuple[float, ...]
    """The values that the text may mean; at least one."""


def find_amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers of ``text``: first those in digits, in order, then those in words."""
    for pattern, plain in _ARITHMETIC if _MAY_BE_ARITHMETIC.search(text) else ():
        text = pattern.sub(plain, text)
    text = without_hidden(render_text(text))
    readable = text if text.isascii() else "".join(map(_plain_letter, text))
    markers = _find_list_markers(readable)
    no_numbers = deque(
        found.span()
        for found in _NO_NUMBER.finditer(readable)
        if not _GROUPED_ALL.fullmatch(found[0])
    )
    read = 0
    for match in _DIGITS.finditer(readable):
        start, end = match.span()
        while no_numbers and no_numbers[0][1] <= start:
            no_numbers.popleft()
        if start < read or start in markers or (no_numbers and no_numbers[0][0] <= start):
            continue
        if more := _REST.match(readable, end) or _POWER.match(readable, end):
            read = more.end()  # a fraction, the 10 and its exponent are no numbers of their own
        elif more := _FRACTION.match(readable, end):
            read = more.end()
        yield from _amounts_in_digits(readable, text, match.span(), match.span())
    for words, readings in find_number_words(readable):
        yield Amount(text=words, readings=readings)


def find_figures(text: str) -> Iterator[float]:
    """Yield every value that ``text`` may hold, for a search that should miss none.

    That is each reading of its numbers, and each part of its dates, times and ratios.
    """
    for amount in find_amounts(text):
        yield from amount.readings
    for found in _PARTED.finditer(text):
        yield from map(float, re.findall(r"\d+", found[0]))


def _plain_letter(letter: str) -> str:
    """Return a digit of any script as an ASCII digit, and signs of numbers in one form."""
    if letter.isascii():
        return letter
    kind = unicodedata.category(letter)
    if kind == "Nd":
        return str(unicodedata.digit(letter))
    return " " if kind == "Zs" else letter.translate(_LOOKALIKES)


def _find_list_markers(readable: str) -> frozenset[int]:
    """Return the offsets of list markers: numbers with a neighbour before or after in the list."""
    found = {match.start(1): int(match[1]) for match in _MARKER.finditer(readable)}
    numbers = set(found.values())
    return frozenset(place for place, number in found.items() if numbers & {number - 1, number + 1})


def _amounts_in_digits(
    readable: str, text: str, place: tuple[int, int], whole: tuple[int, int]
) -> Iterator[Amount]:
    """Yield the number or the numbers in ``place``, which may be a part of the list ``whole``."""
    start, end = place
    digits = readable[start:end]
    values = _read_digits(digits)
    separator = _number_separator(digits, text[start:end], is_number=bool(values))
    if not separator:
        yield from _read_amount(readable, text, place, values, whole)
        return
    for part in digits.split(separator):
        end = start + len(part)
        yield from _amounts_in_digits(readable, text, (start, end), whole)
        start = end + 1


def _number_separator(digits: str, written: str, *, is_number: bool) -> str:
    """Return what parts several numbers: 2024 350 are two, 10,20,30 is a list, 1 234 is one."""
    if " " in digits and not any(space in written for space in _UNSPLIT):
        return "" if is_number or not re.match(r"\d{4,} ", digits) else " "
    parts = digits.split(",")
    # 1,234,56 is no list, but a number that somebody grouped in a way that is not known
    is_list = not any(re.match(r"\d{3}(?!\d)|0", part) for part in parts[1:])
    return "," if not is_number and len(parts) > 1 and is_list else ""


def _read_amount(
    readable: str,
    text: str,
    place: tuple[int, int],
    values: list[float],
    whole: tuple[int, int],
) -> Iterator[Amount]:
    """Yield the amount that these digits make with the sign and unit around them, if it is one."""
    start, end = place
    values, end = _add_fraction(values, readable, end)
    before = _BEFORE.search(readable, max(0, start - _LONGEST_BEFORE), start)
    prefix = before[0] if before else ""
    if not prefix.strip() and _is_named(readable, text, start):
        return
    scaled, stop = _apply_scale(values, readable, end, money=bool(before and before["money"]))
    if _is_part(readable, start, stop, whole):
        return
    first = start - len(prefix.lstrip())
    if before and before["operand"]:  # 10 minus 5: a subtraction, or a negative number
        first = before.start("word")
        scaled = [*(-value for value in scaled), *scaled]
    elif before and (before["sign"] or before["word"] or before["inner"]):
        scaled = [-value for value in scaled]
    elif readable[first - 1 : first] == "(" and readable[stop : stop + 1] == ")":
        scaled = [*scaled, *(-value for value in scaled)]  # a negative, or a remark
    elif ends := _TRAILING_SIGN.match(readable, stop):
        scaled, stop = [*scaled, *(-value for value in scaled)], ends.end()  # or a dash
    finite = tuple(value for value in scaled if math.isfinite(value))
    if finite:
        yield Amount(text=text[first:stop], readings=finite)


def _add_fraction(values: list[float], readable: str, end: int) -> tuple[list[float], int]:
    """Return the readings with the fraction that follows them: 1½, 1 1/2, 3/4, 3 and a half."""
    rest = _REST.match(readable, end)
    if rest:
        up, down = float(rest["up"] or 1), float(rest["down"] or 1)
        if rest["part"]:
            down = _PARTS[rest["part"].lower()]
        elif rest["vulgar"]:
            up = unicodedata.numeric(rest["vulgar"])
        is_rest = rest["gap"] != "" or rest["vulgar"] is not None
        if is_rest and 0 < up < down and all(value.is_integer() for value in values):
            return [value + up / down for value in values], rest.end()
        return [], rest.end()
    over = _FRACTION.match(readable, end)
    if over:
        down = int(over["down"])
        return [value / down for value in values if down and value.is_integer()], over.end()
    return values, end


def _is_part(readable: str, start: int, stop: int, whole: tuple[int, int]) -> bool:
    """Whether what is around a number shows that it is a part of something else.

    In a list, the mark between two numbers does not.
    """
    first, end = whole
    letter = readable[stop : stop + 1]
    goes_on = (stop >= end or readable[stop] not in ", ") and (
        _GOES_ON.match(readable, stop)
        # It belongs to the digit before it: a fraction, a circle, an accent.
        or (letter and (letter in "⁺⁻₊₋" or unicodedata.category(letter) in _MARKS))
    )
    came = start == first and _CAME_BEFORE.search(readable, max(0, start - 3), start)
    return bool(goes_on or came)


def _is_named(readable: str, text: str, start: int) -> bool:
    """Whether the digits from ``start`` on belong to a name: CUST_00042, v2, ABC-42, ORD-2024-7."""
    if readable[max(0, start - 1) : start].isidentifier():
        return True
    name = _NAME.search(text, max(0, start - _LONGEST_NAME), start)
    return name is not None and any(letter.isalpha() for letter in name[0])


def _read_digits(digits: str) -> list[float]:
    """Return what digits with separators may mean; nothing for dates, versions and the like."""
    if digits[0].isnumeric() and not digits[0].isdecimal():
        return [unicodedata.numeric(digits)]
    marks = [letter for letter in digits if not letter.isdigit()]
    if not marks:
        return [float(digits)]
    last = marks[-1]
    readings = []
    if _is_grouped(digits, set(marks)):
        readings.append(float("".join(filter(str.isdigit, digits))))
    if last in ".," and marks.count(last) == 1:
        whole, fraction = digits.rsplit(last, 1)
        if len(marks) == 1 or _is_grouped(whole, set(marks[:-1])):
            readings.append(float("".join(filter(str.isdigit, whole)) + "." + fraction))
    return readings


def _is_grouped(digits: str, marks: set[str]) -> bool:
    """Whether one separator divides groups of three digits, or of two before the last three."""
    return len(marks) == 1 and _GROUPS.fullmatch(digits) is not None


def _apply_scale(
    values: list[float], readable: str, end: int, *, money: bool
) -> tuple[list[float], int]:
    """Apply what follows a number (a power, ``%``, *million*, *k*); return readings and end."""
    power = _POWER.match(readable, end)
    if power:
        exponent = (power["e"] or power["up"] or power["small"]).translate(_SUPERSCRIPTS)
        of_ten = bool(power["e"] or power["ten"])
        raised = [_raise_power(value, exponent, is_of_ten=of_ten) for value in values]
        return raised, power.end()
    share = _SHARE.match(readable, end)
    if share:
        factor = _SHARES.get(share[1].lower(), 1e-2)
        return [*values, *(value * factor for value in values)], share.end()
    scale, begun = 1.0, end
    while word := _SCALE_WORD.match(readable, end):
        scale, end = scale * _SCALES[(word[1] or word[2]).lower()], word.end()
    if end > begun:
        return [value * scale for value in values], end
    letter = _SCALE_LETTER.match(readable, end)
    if letter:
        scaled = [value * _SCALES[letter[2].lower()] for value in values]
        # 5 m may be metres, 5 K kelvin; 5k is five thousand, and $5B five billion.
        sure = (money or letter[2] in "kK") and not letter[1]
        return scaled if sure else [*values, *scaled], letter.end()
    return values, end


def _raise_power(value: float, exponent: str, *, is_of_ten: bool) -> float:
    try:
        return value * float(f"1e{exponent}") if is_of_ten else float(value ** int(exponent))
    except (OverflowError, ZeroDivisionError, ValueError):  # 10⁻⁻ is not a power
        return math.inf


# ── Tolerances ───────────────────────────────────────────────────────────────────────────────


_PERCENTAGE = r"\A\d{1,3}(\.\d{1,6})?\s?%\z"


def check_tolerance(tolerance: Any, path: JsonPath) -> None:
    """Make sure that ``tolerance`` is a number ≥ 0 or a percentage such as ``"1%"``.

    Raises:
        InvalidValue: ``tolerance`` is neither.
    """
    is_share = isinstance(tolerance, str) and search_pattern(_PERCENTAGE, tolerance) is not None
    if not is_share and not (is_number(tolerance) and tolerance >= 0):
        raise InvalidValue(
            f"a tolerance is a number from 0 on or a percentage, not {format_value(tolerance)}",
            path=path,
            meant='Write 0.5 for an absolute tolerance, "1%" for one relative to the value.',
        )


def is_close(wanted: float, value: float, tolerance: float | str) -> bool:
    """Whether ``value`` lies within ``tolerance`` (absolute, or a percentage of ``wanted``)."""
    try:
        if isinstance(tolerance, str):
            tolerance = abs(wanted) * float(tolerance.rstrip("% ")) / 100
        # The last digits of a float are rounding errors: 0.1 + 0.2 is within 0 of 0.3.
        return bool(abs(value - wanted) <= tolerance + 1e-9 * max(abs(wanted), abs(value)))
    # No float can hold this integer, so it is near no number that a suite can name.
    except OverflowError:
        return False
