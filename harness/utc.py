"""The time, as logs and reports have it."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the time as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
