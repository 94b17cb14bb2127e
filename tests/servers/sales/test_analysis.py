from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.sales.analysis import analyze, start_before
from servers.sales.catalog import FIRST_DAY, LAST_DAY, PRODUCTS
from servers.sales.database import SalesDatabase
from servers.sales.seed import generate

DATA = generate()
DATABASE = SalesDatabase()
ALL = {"product_id": None, "category": None}
DAY_OF = {row[0]: row[2] for row in DATA.orders}
CATEGORY_OF = {row[0]: row[2] for row in DATA.products}
days = st.dates(FIRST_DAY, LAST_DAY)


def cents(first: date, last: date, category: str | None = None) -> int:
    """Add up the rows themselves."""
    return sum(
        quantity * price
        for order, product, quantity, price in DATA.lines
        if str(first) <= DAY_OF[order] <= str(last) and category in (None, CATEGORY_OF[product])
    )


@settings(max_examples=25)
@given(st.tuples(days, days), st.sampled_from([None, *PRODUCTS]))
def test_revenue_is_the_sum_of_what_was_sold(
    period: tuple[date, date], category: str | None
) -> None:
    first, last = sorted(period)
    analysis = analyze(DATABASE, {"product_id": None, "category": category}, first, last)
    assert round(analysis["revenue"] * 100) == cents(first, last, category)
    assert round(sum(month["revenue"] for month in analysis["monthly"]) * 100) == cents(
        first, last, category
    )
    if "previous_period" in analysis:
        before = analysis["previous_period"]
        start, end = date.fromisoformat(before["date_from"]), date.fromisoformat(before["date_to"])
        assert end == first - timedelta(days=1)
        assert round(before["revenue"] * 100) == cents(start, end, category)


def test_categories_add_up_to_everything() -> None:
    whole = analyze(DATABASE, ALL, FIRST_DAY, LAST_DAY)
    parts = [
        analyze(DATABASE, {**ALL, "category": category}, FIRST_DAY, LAST_DAY)
        for category in PRODUCTS
    ]
    assert whole["revenue"] == pytest.approx(sum(part["revenue"] for part in parts))
    assert whole["units_sold"] == sum(part["units_sold"] for part in parts)
    assert "previous_period" not in whole
    assert whole["change_percent"] is None


@pytest.mark.parametrize(
    ("first", "last", "before"),
    [
        ("2025-01-01", "2025-12-31", "2024-01-01"),
        ("2025-04-01", "2025-06-30", "2025-01-01"),
        ("2025-03-01", "2025-03-31", "2025-02-01"),
        ("2025-03-10", "2025-03-19", "2025-02-28"),
        ("2025-03-10", "2025-03-10", "2025-03-09"),
    ],
)
def test_the_period_before_is_as_many_months_or_days(first: str, last: str, before: str) -> None:
    assert str(start_before(date.fromisoformat(first), date.fromisoformat(last))) == before


def test_a_trend_compares_the_halves_of_the_period() -> None:
    software = analyze(DATABASE, {**ALL, "category": "software"}, date(2025, 1, 1), LAST_DAY)
    furniture = analyze(DATABASE, {**ALL, "category": "furniture"}, date(2025, 1, 1), LAST_DAY)
    assert (software["trend_within_period"], software["change_percent"]) == ("rising", 43.2)
    assert (furniture["trend_within_period"], furniture["change_percent"]) == ("falling", -44.2)


def test_a_day_has_no_trend() -> None:
    busy = next(
        day
        for day in sorted(DAY_OF.values())
        if cents(date.fromisoformat(day), date.fromisoformat(day))
    )
    analysis = analyze(DATABASE, ALL, date.fromisoformat(busy), date.fromisoformat(busy))
    assert analysis["revenue"] > 0
    assert analysis["trend_within_period"] == "stable"


def test_a_day_without_sales_is_an_analysis_of_nothing() -> None:
    empty = analyze(DATABASE, {**ALL, "product_id": "PRD_001"}, FIRST_DAY, FIRST_DAY)
    assert (empty["revenue"], empty["orders"], empty["average_order_value"]) == (0.0, 0, 0.0)
    assert (empty["monthly"], empty["best_sellers"], empty["trend_within_period"]) == (
        [],
        [],
        "stable",
    )
