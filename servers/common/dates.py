"""Days of the calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or the last one of it."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
