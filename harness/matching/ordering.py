"""The order of values: numbers by size, dates by time. Nothing else has an order.

A *date* is a text such as ``2024-03-31``, or with a time ``2024-03-31T09:30:00Z``. Where one of two
dates has no time, their days are compared, each as it is written. A time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from harness.matching.json_values import ABSENT, is_number, show

# Python reads further forms, and each version others.
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?P<time>[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?[Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)


def date_of(value: Any) -> date | datetime | None:
    """Return the day that a text names, or its moment with a zone; ``None`` if it is no date."""
    written = _DATE.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    try:
        if written["time"] is None:
            return date.fromisoformat(value)
        moment = datetime.fromisoformat(value.upper().replace(" Z", "Z"))
    except ValueError:  # such as 31 February
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def has_order(value: Any) -> bool:
    """Whether a value can be compared with others: a number or a date."""
    return is_number(value) or date_of(value) is not None


def compare(left: Any, right: Any) -> int | None:
    """Return -1, 0 or 1 as ``left`` is less than, equal to or more than ``right``.

    ``None``: they are not both numbers, nor both dates.
    """
    if is_number(left) and is_number(right):
        return int(left > right) - int(left < right)
    ours, theirs = date_of(left), date_of(right)
    if ours is None or theirs is None:
        return None
    if not (isinstance(ours, datetime) and isinstance(theirs, datetime)):
        ours, theirs = _day(ours), _day(theirs)
    return int(ours > theirs) - int(ours < theirs)


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def why_unlike(value: Any, bound: Any) -> str:
    """Return why ``value`` cannot be compared with ``bound``: ``'tomorrow' is not a date``.

    The text is empty if they can be compared, or if there is no value.
    """
    if value is ABSENT or compare(value, bound) is not None:
        return ""
    shown = f"'{show(value, 30)[1:-1]}'" if isinstance(value, str) else show(value, 30)
    return f"{shown} is not a {'number' if is_number(bound) else 'date'}"
