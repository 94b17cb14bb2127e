"""Dates as people write them, relative to a given *today*, and sums that a prompt asks for.

``last year``, ``in March 2025``, ``since 2023``, ``between 1 May and 2025-06-30``,
``the past 6 months``.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from harness.models.tool_text.terms import extract_terms, term_set
from harness.types import dataclass

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
# Round numbers: whoever says "the last 6 months" does not mean a day.
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
_LONGEST_SPAN = 36_500  # days: a hundred years; a longer period is not meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A range of days that a text names."""

    first: date | None
    """First day; ``None`` when the text leaves it open ("before May")."""
    last: date | None
    """Last day, included; ``None`` when the text leaves it open ("since May")."""
    start: int
    """Where the words begin in the text."""
    end: int
    """Where they end."""
    rolling: bool = False
    """Whether it is counted back from today ("the last 6 months"): its number may have a meaning of
    its own."""


def find_periods(text: str, today: date) -> tuple[Period, ...]:
    """Return the periods that ``text`` names, in its order."""
    found: list[Period] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            # A more exact way of writing, which was read before, has taken these words.
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            # No period: a day that does not exist, such as 31 February or the year 0.
            with suppress(ValueError, OverflowError):
                first, last = read(match, today)
                start, end, rolling = *match.span(), read is _read_rolling
                period = Period(first=first, last=last, start=start, end=end, rolling=rolling)
                found.append(period)
    return tuple(_join_related(text, sorted(found, key=lambda period: period.start)))


def count_days(number: float, unit: str) -> int | None:
    """Return about how many days ``6 month`` is; ``None`` if ``unit`` is not a unit of days."""
    days = _UNIT_DAYS.get(unit.lower().rstrip("s"))
    return None if days is None or not 0 < number * days <= _LONGEST_SPAN else round(number * days)


_Days = tuple[date, date]


def _read_iso(match: re.Match[str], _today: date) -> _Days:
    day = date(int(match["year"]), int(match["m"]), int(match["day"]))
    return day, day


def _named_day(match: re.Match[str], today: date) -> _Days:
    day = date(int(match["year"] or today.year), _MONTHS[match["month"].lower()], int(match["day"]))
    return day, day


def _named_month(match: re.Match[str], today: date) -> _Days:
    number = _MONTHS[match["month"].lower()]
    year = int(match["year"]) if match["year"] else today.year - (number > today.month)
    return _span_month(year, number)


def _iso_month(match: re.Match[str], _today: date) -> _Days:
    return _span_month(int(match["year"]), int(match["m"]))


def _read_quarter(match: re.Match[str], today: date) -> _Days:
    return _span_quarter(int(match["year"] or today.year), int(match["quarter"]))


def _read_year(match: re.Match[str], _today: date) -> _Days:
    return _span_year(int(match["year"]))


def _day_word(match: re.Match[str], today: date) -> _Days:
    step = {"yesterday": -1, "today": 0, "tomorrow": 1}[match["word"].lower()]
    day = today + timedelta(days=step)
    return day, day


def _calendar_unit(match: re.Match[str], today: date) -> _Days:
    """Return this, last or next week, month, quarter or year as the calendar has it."""
    step = {"this": 0, "current": 0, "last": -1, "previous": -1, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
        return monday, monday + timedelta(days=6)
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return _span_month(months // 12, months % 12 + 1)
    if unit == "quarter":
        quarters = today.year * 4 + (today.month - 1) // 3 + step
        return _span_quarter(quarters // 4, quarters % 4 + 1)
    return _span_year(today.year + step)


def _read_rolling(match: re.Match[str], today: date) -> _Days:
    days = count_days(int(match["number"] or 1), match["unit"])
    # Caught as a day that does not exist: the words are no period then.
    if days is None:
        raise ValueError(match[0])
    return today - timedelta(days=days), today


def _span_month(year: int, month: int) -> _Days:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _span_quarter(year: int, quarter: int) -> _Days:
    return date(year, 3 * quarter - 2, 1), _span_month(year, 3 * quarter)[1]


def _span_year(year: int) -> _Days:
    return date(year, 1, 1), date(year, 12, 31)


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], _Days]], ...] = tuple(
    (re.compile(rf"(?<![\w/.$€£-]){pattern}(?![\w%/]|[.-]\d)", re.IGNORECASE), read)
    for pattern, read in (
        (_YEAR + r"-(?P<m>\d\d)-(?P<day>\d\d)", _read_iso),
        (_MONTH + r"\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+" + _YEAR + ")?", _named_day),
        (
            r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?" + _MONTH + r"(?:,?\s+" + _YEAR + ")?",
            _named_day,
        ),
        (_YEAR + r"-(?P<m>\d\d)", _iso_month),
        (r"(?<=in\s)" + _MONTH + r"(?:\s+" + _YEAR + ")?", _named_month),
        (_MONTH + r"\s+" + _YEAR, _named_month),
        (r"Q(?P<quarter>[1-4])(?:\s+(?:of\s+)?" + _YEAR + ")?", _read_quarter),
        (r"(?P<word>yesterday|today|tomorrow)", _day_word),
        (
            r"(?:last|past|previous)\s+(?P<number>\d{1,5})\s+(?P<unit>days?|weeks?|months?|quarters?|years?)",
            _read_rolling,
        ),
        (r"past\s+(?P<number>)(?P<unit>week|month|quarter|year)", _read_rolling),
        (
            r"(?P<which>this|current|last|previous|next)\s+(?P<unit>week|month|quarter|year)",
            _calendar_unit,
        ),
        (
            r"(?<!top )(?<!first )"
            + _YEAR
            + r"(?!\s+(?:dollars|euros|usd|customers|orders|items))",
            _read_year,
        ),
    )
)
"""Every way of writing a period, the most exact first."""

_OPEN_END = re.compile(
    r"\b(?:since|after|from|starting|as of|newer than)(?:\s+(?:in|on|the))*\s*$", re.IGNORECASE
)
_OPEN_START = re.compile(
    r"\b(?:before|until|till|up to|prior to|older than)(?:\s+(?:the))?\s*$", re.IGNORECASE
)
_FROM = re.compile(r"\b(?:since|after|starting)\b", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:to|and|until|till|through|[-–—])\s*(?:the\s+)?", re.IGNORECASE)


def _join_related(text: str, found: list[Period]) -> Iterator[Period]:
    """Join ``A to B`` into one period, and open the periods that are open-ended."""
    pending: Period | None = None
    for period in found:
        # Nothing but "to" or a dash between the two: otherwise they are two periods.
        if pending is not None and _RANGE.fullmatch(text[pending.end : period.start]):
            first = _not_after(pending.first, period)
            yield Period(first=first, last=period.last, start=pending.start, end=period.end)
            pending = None
            continue
        if pending is not None:
            yield _open_period(text, pending)
        pending = period
    if pending is not None:
        yield _open_period(text, pending)


def _not_after(first: date | None, second: Period) -> date | None:
    """Return the first day of ``1 May to 3 June 2025``, where the year stands only once."""
    if first is None or second.first is None or first <= second.first:
        return first
    # Of another year this day may not exist.
    is_leap_day = (first.month, first.day) == (2, 29)
    return first if is_leap_day else first.replace(year=second.first.year)


def _open_period(text: str, period: Period) -> Period:
    """Open the end after "since", and the beginning after "before".

    "From 2024" means the whole year 2024; "from 2024-05-01" has no end.
    """
    # Room for the longest of these words; it keeps the search from the beginning of the text.
    before = text[max(0, period.start - 20) : period.start]
    if _OPEN_START.search(before) and period.first is not None:
        return replace(period, first=None, last=period.first - timedelta(days=1))
    opens = _OPEN_END.search(before)
    # "from 2024" is all of 2024, "since 2024" has no end.
    if opens is None or not (period.first == period.last or _FROM.search(opens[0])):
        return period
    if period.last is not None and period.first != period.last and "after" in opens[0].lower():
        return replace(period, first=period.last + timedelta(days=1), last=None)
    return replace(period, last=None)


def find_zone(city: str) -> str | None:
    """Return the IANA zone named after ``city``, in any case: ``Asia/Tokyo`` for Tokyo."""
    return _load_zones().get(" ".join(city.lower().split()))


@cache
def _load_zones() -> Mapping[str, str]:
    """Return city → zone.

    The list is a copy of the tz database: the machine's own copy may differ or be missing.
    """
    listed = files(__package__).joinpath("zones.txt").read_text(encoding="utf-8").split()
    return {name.rpartition("/")[2].replace("_", " ").lower(): name for name in listed}


_AMOUNT = r"[-−]?\$?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,15})?"
_OPERAND = rf"(?:\(\s?){{0,4}}{_AMOUNT}(?:\s?\)){{0,4}}"
_SPELLED = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", ("to the "
        "power of"): "**",
    "raised to the power of": "**", "modulo": "%", "mod": "%",
}  # fmt: skip
_WORDS = "|".join(sorted(_SPELLED, key=len, reverse=True))
_OPERATOR = rf"\s?(?:\*\*|[*×·÷^+])\s?|\s[-−/x]\s|(?<=\d)/(?=\d)|\s(?:{_WORDS})\s"
_FIRST = re.compile(rf"(?<![\w.,/:(-]){_OPERAND}")
_NEXT = re.compile(rf"(?P<operator>{_OPERATOR})(?P<operand>{_OPERAND})", re.IGNORECASE)
_END_OF_TERM = re.compile(r"(?![\w/:-]|[.,]\d)")
_HINT = re.compile(
    rf"\d[\s)]{{0,4}}(?:[-−+*×·÷^/x%]|percent|{_WORDS})", re.IGNORECASE
)  # every formula has one of these
_MOST_STEPS = 20  # a longer formula does not occur in a prompt
_SHARE = re.compile(
    rf"(?<![\w.,/:-])(?P<share>{_AMOUNT})\s?(?:%|percent) of (?P<whole>{_AMOUNT})(?![\w/:-]|[.,]\d)"
)
_SIGNS = {"×": "*", "·": "*", "x": "*", "÷": "/", "−": "-", "^": "**"}
_NAMED_BY = {
    "+": "add addition plus sum",
    "-": "subtract subtraction minus difference",
    "*": "multiply multiplication times product",
    "/": "divide division quotient",
    "**": "power exponent exponentiate",
    "%": "modulo remainder modulus",
}
"""Operator → the words that tools name it by; the first is the one to search with."""
NAMES = {operator: term_set(words) for operator, words in _NAMED_BY.items()}
"""Operator → the terms that tools name it by."""


class Calculation(NamedTuple):
    """A formula, and its position in the text."""

    expression: str
    """The formula in the notation of programs: ``17 * 23``."""
    start: int
    end: int


def find_calculations(text: str) -> Iterator[Calculation]:
    """Yield the formulas in ``text`` whose brackets are balanced."""
    # Most prompts have no formula, and the searches below are slow.
    if _HINT.search(text) is None:
        return
    for match in _SHARE.finditer(text):
        share, whole = (_normalise(match[name]) for name in ("share", "whole"))
        yield Calculation(f"{share} / 100 * {whole}", match.start(), match.end())
    place = 0
    while first := _FIRST.search(text, place):
        parts, place = [first[0]], first.end()
        # One step after the other: linear time for any text.
        while step := _NEXT.match(text, place):
            parts += [_parse_operator(step["operator"]), step["operand"]]
            place = step.end()
        # Without recursion: the operands have brackets of their own, which only have to add up.
        balanced = text.count("(", first.start(), place) == text.count(")", first.start(), place)
        if 1 < len(parts) <= 1 + 2 * _MOST_STEPS and balanced and _END_OF_TERM.match(text, place):
            yield Calculation(_normalise(" ".join(parts)), first.start(), place)


def list_operators(expression: str) -> tuple[str, ...]:
    """Return the operators of a `Calculation.expression`, in order."""
    return tuple(part for part in expression.split() if part in NAMES)


def operation_terms(expression: str) -> tuple[str, ...]:
    """Return the terms by which to find a tool that can compute ``expression``."""
    found = dict.fromkeys(list_operators(expression))
    # Of several operations none can do it alone: a calculator is sought.
    named = [_NAMED_BY[operator].split()[0] for operator in found] if len(found) == 1 else []
    return extract_terms(" ".join(["calculate", *named]))


def _normalise(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d)", "", text).replace("$", "").strip()


def _parse_operator(said: str) -> str:
    said = " ".join(said.lower().split())
    return _SPELLED.get(said) or _SIGNS.get(said, said)
