"""The headers with which an API or a server says when to come again."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DIGITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds of any form of Retry-After; ``None`` without one.

    ``retry-after-ms`` is more exact and wins. A date is compared with the response's own ``Date``,
    so that a wrong clock on this machine does no harm; without one, with ``now``.
    """
    milliseconds = _parse_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _parse_number(value)
    if seconds is not None:
        return max(0.0, seconds)
    until = _parse_date(value)
    if until is None:
        return None
    # A date that has passed, by whichever clock, is no negative wait.
    return max(
        0.0,
        (until - (_parse_date(headers.get("date")) or now or datetime.now(UTC))).total_seconds(),
    )


def _parse_number(value: str | None) -> float | None:
    """Return a number in plain digits; unlike ``float``, refuse ``1_0`` and ``1e3``."""
    if value is None or not _DIGITS.fullmatch(value.strip(" \t")):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _parse_date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
