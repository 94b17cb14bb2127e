"""The headers that say when to come again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.limiting.retries import retry_after_s

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "20"}, 0.02),
        ({"retry-after-ms": "20", "retry-after": "7"}, 0.02),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        (
            {
                "date": format_datetime(NOW - timedelta(hours=1), usegmt=True),
                "retry-after": format_datetime(NOW - timedelta(hours=1, seconds=-5), usegmt=True),
            },
            5.0,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1_0"}, None),
        ({"retry-after": "1e1"}, None),
        ({"retry-after": "+10"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": " 10 "}, 10.0),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "1_000", "retry-after": "7"}, 7.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "x", "retry-after": "7"}, 7.0),
    ],
)
def test_every_form_of_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


@given(st.text(), st.text(), st.text())
def test_no_header_makes_reading_it_fail(milliseconds: str, seconds: str, date: str) -> None:
    headers = {"retry-after-ms": milliseconds, "retry-after": seconds, "date": date}
    wait = retry_after_s(headers)
    assert wait is None or wait >= 0
