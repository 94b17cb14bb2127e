from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import digest_json
from harness.judging.matching.json_values import ABSENT
from harness.judging.matching.matchers import matches_pattern
from harness.judging.matching.ordering import compare_values, parse_date, why_unlike
from harness.types import StateReading
from tests.judging.checks.scenes import call, fails, judge, passes, scene
from tests.judging.checks.strategies import JSON

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(timezones=ZONES).filter(lambda moment: 1 < moment.year < 9999)


def _signed(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


@given(MOMENTS, MOMENTS)
def test_moments_are_compared_as_moments_whatever_their_zones(
    left: datetime, right: datetime
) -> None:
    assert compare_values(left.isoformat(), right.isoformat()) == _signed(left, right)
    assert compare_values(left.isoformat(" "), left.astimezone(UTC).isoformat()) == 0


@given(st.dates(), st.dates())
def test_days_are_compared_by_the_calendar(left: date, right: date) -> None:
    assert compare_values(left.isoformat(), right.isoformat()) == _signed(left, right)


@given(MOMENTS, st.dates())
def test_a_moment_and_a_day_are_compared_by_their_days_as_written(
    moment: datetime, day: date
) -> None:
    assert compare_values(moment.isoformat(), day.isoformat()) == _signed(moment.date(), day)


@given(JSON, JSON)
def test_a_bound_holds_for_comparable_values_only_and_the_other_ones_say_why(
    bound: Any, value: Any
) -> None:
    held = [matches_pattern({sign: bound}, value) for sign in ("$gt", "$gte", "$lt", "$lte")]
    if compare_values(value, bound) is None:
        assert held == [False] * 4
        assert why_unlike(value, bound)
    else:
        assert held[0] != held[3]
        assert held[2] != held[1]
        assert why_unlike(value, bound) == ""


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29",
        "2024-02-29T09:30",
        "2024-02-29T09:30Z",
        "2024-02-29 09:30:15",
        "2024-02-29 09:30:15 Z",
        "2024-02-29t09:30:15.5z",
        "2024-02-29T09:30:15.123456789+0530",
        "2024-02-29T09:30:15,25-07",
    ],
)
def test_a_day_with_or_without_a_time_is_a_date(text: str) -> None:
    assert parse_date(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29 09:30:15 UTC",
        "2024-02-29 11:30:15 +02:00",
        "2024-02-29T04:30:15\u221205",
        "20240229T093015Z",
        "20240229 0930",
        "2024/2/29 09:30",
        "Thu, 29 Feb 2024 09:30:15 GMT",
        "29 February 2024 10:30 +0100",
        "29-Feb-2024 09:30",
        "Feb 29, 2024 09:30",
    ],
)
def test_any_way_to_write_a_date_that_leaves_no_doubt_is_read(text: str) -> None:
    moment = parse_date(text)
    assert isinstance(moment, datetime)
    assert moment.astimezone(UTC).replace(second=0) == datetime(2024, 2, 29, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow",
        "",
        "2024",
        "2024-02",
        "20240230",
        "202402291",
        "2024-W09-4",
        "2024-060",
        "1709164800",
        "29.02.2024",
        "01/02/2024",
        "2024-02/29",
        "29 Marvel 2024",
        "June 31, 2024",
        "2024-02-29T09",
        "2024-02-29T09:30 CET",
        "2024-02-29 09:30 AM",
        "2023-02-29",
        "2024-02-30",
        "2024-02-29T25:00",
        "2024-02-29T09:30+99:00",
        " 2024-02-29",
        "2024-02-29\n",
        "２０２４-02-29",
        "from 2024-02-29",
    ],
)
def test_any_other_text_is_no_date(text: str) -> None:
    assert parse_date(text) is None
    assert compare_values(text, "2024-02-29") is None


@pytest.mark.parametrize(
    ("value", "bound", "why"),
    [
        ("tomorrow", "2024-01-01", "'tomorrow' is not a date such as 2024-03-31"),
        ("6", 5, "'6' is not a number"),
        (6, "2024-01-01", "6 is not a date such as 2024-03-31"),
        (True, 5, "true is not a number"),
        (None, 5, "null is not a number"),
        ("2024-01-01", 5, "'2024-01-01' is not a number"),
        (ABSENT, 5, ""),
        (5, 6, ""),
    ],
)
def test_what_cannot_be_compared_is_said_in_words(value: Any, bound: Any, why: str) -> None:
    assert why_unlike(value, bound) == why


def test_a_time_without_a_zone_is_utc_wherever_it_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert compare_values("2024-01-01T00:00:00", "2024-01-01T00:00:00Z") == 0
        assert compare_values("2024-01-01 00:00", "2024-01-01T00:00:00+01:00") == 1
    finally:
        monkeypatch.undo()
        time.tzset()


SINCE = {"$gte": "2024-01-01"}
STATE = {"resource": "db://order"}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("must_call", {"tool": "get_orders", "args": {"since": SINCE}}),
        ("must_call_any", [{"tool": "get_orders", "args": {"since": SINCE}}]),
        ("tool_result", {"path": "since", "value": SINCE}),
        ("tool_result", {"value": {"$path": {"since": SINCE}}}),
        ("end_state", {**STATE, "path": "since", "value": SINCE}),
        ("graded", {"expected": [{"tool": "get_orders", "args": {"since": SINCE}}]}),
    ],
)
def test_every_check_compares_dates_as_dates(kind: str, value: Any) -> None:
    def held(since: Any) -> Any:
        return scene(
            call("get_orders", {"since": since}, structured={"since": since}),
            states=(StateReading(source=STATE, value={"since": since}, digest=digest_json(since)),),
        )

    failed = judge(kind, value, held("tomorrow"))
    assert failed.verdict == "failed"
    assert "'tomorrow' is not a date" in failed.explanation
    fails(kind, value, held("2023-12-31T23:59:59-08:00"), "")
    if kind != "graded":  # which needs an answer to be faithful, too
        passes(kind, value, held("2024-01-01T00:00:00+14:00"))
