"""The order of values: numbers by size, dates by time. Nothing else has an order.

A *date* is a text such as ``2024-03-31``, or with a time ``2024-03-31T09:30:00Z``; other ways to
write one are read if they leave no doubt. Where one of two dates has no time, their days are
compared, each as it is written. A time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

from harness.judging.matching.json_values import ABSENT, format_value, is_number

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_YEAR, _MONTH, _DAY = r"(?P<year>[0-9]{4})", r"(?P<month>[A-Za-z]{3,9})", r"(?P<day>[0-9]{1,2})"
_TIME = (
    r"([Tt ](?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})"
    r"(:?(?P<second>[0-9]{2})([.,](?P<part>[0-9]+))?)?"
    r"( ?([Zz]|UTC|GMT|(?P<sign>[+\u2212-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})?))?)?"
)
# Python reads further forms, and each version others. 01/02/2024 is a day in January or February.
_FORMS = [
    re.compile(day + _TIME)
    for day in (
        rf"{_YEAR}(?P<between>[-/])(?P<month>[0-9]{{1,2}})(?P=between){_DAY}",
        rf"{_YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})",
        rf"([A-Z][a-z]{{2,8}}, )?{_DAY}[ -]{_MONTH}[ -]{_YEAR}",
        rf"([A-Z][a-z]{{2,8}}, )?{_MONTH} {_DAY},? {_YEAR}",
    )
]


def parse_date(value: Any) -> date | datetime | None:
    """Return the day that a text names, or its moment with a zone; ``None`` if it is no date."""
    written = (form.fullmatch(value) for form in _FORMS) if isinstance(value, str) else ()
    for found in filter(None, written):
        try:
            return _build_date(found)
        except ValueError:  # such as 31 February
            return None
    return None


def _build_date(found: re.Match[str]) -> date | datetime:
    month = found["month"].lower()
    if not month.isdecimal():
        # An unknown name is month 0, which `date` refuses.
        month = next((n for n, name in enumerate(_MONTHS, 1) if month in (name, name[:3])), 0)
    day = date(int(found["year"]), int(month), int(found["day"]))
    if found["hour"] is None:
        return day
    zone = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    clock = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    return datetime.combine(
        day,
        # Python's times end at microseconds.
        time(*clock, int((found["part"] or "0")[:6].ljust(6, "0"))),
        timezone(zone if found["sign"] == "+" else -zone) if zone else UTC,
    )


def has_order(value: Any) -> bool:
    """Whether a value can be compared with others: a number or a date."""
    return is_number(value) or parse_date(value) is not None


def compare_values(left: Any, right: Any) -> int | None:
    """Return -1, 0 or 1 as ``left`` is less than, equal to or more than ``right``.

    ``None``: they are not both numbers, nor both dates.
    """
    if not (is_number(left) and is_number(right)):
        left, right = parse_date(left), parse_date(right)
        if left is None or right is None:
            return None
        if not (isinstance(left, datetime) and isinstance(right, datetime)):
            left, right = _to_day(left), _to_day(right)
    return int(left > right) - int(left < right)


def _to_day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def why_unlike(value: Any, bound: Any) -> str:
    """Return why ``value`` cannot be compared with ``bound``: ``'tomorrow' is not a date``.

    The text is empty if they can be compared, or if there is no value.
    """
    if value is ABSENT or compare_values(value, bound) is not None:
        return ""
    shown = format_value(value, 30)
    if isinstance(value, str):
        shown = f"'{shown[1:-1]}'"
    return f"{shown} is not a {'number' if is_number(bound) else 'date such as 2024-03-31'}"
