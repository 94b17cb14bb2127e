"""Sales in a period, their growth, and the comparison with the period before."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final, TypeAlias, cast

from ..common.dates import months_before
from . import results as r
from .catalog import FIRST_DAY
from .database import SalesDatabase

_BEST_SELLERS: Final = 5
_STABLE: Final = 0.05
_ONE_DAY: Final = timedelta(days=1)

Scope: TypeAlias = Mapping[str, str | None]
"""``product_id`` and ``category``; ``None`` for all."""


def analyze(database: SalesDatabase, scope: Scope, first: date, last: date) -> r.SalesAnalysis:
    """Return the sales of ``scope`` from the day ``first`` to the day ``last``, both included."""
    period = _period(scope, first, last)
    totals = database.sold(period)
    analysis = r.SalesAnalysis(
        date_from=str(first),
        date_to=str(last),
        currency="USD",
        revenue=totals["revenue"],
        units_sold=totals["units_sold"],
        orders=totals["orders"],
        customers=totals["customers"],
        average_order_value=round(totals["revenue"] / totals["orders"], 2)
        if totals["orders"]
        else 0.0,
        change_percent=None,
        trend_within_period=_trend(database, scope, first, last),
        monthly=[cast("r.MonthOfSales", row) for row in database.sold_by_month(period)],
        best_sellers=[
            cast("r.BestSeller", row) for row in database.best_sellers(period, _BEST_SELLERS)
        ],
    )
    start, end = start_before(first, last), first - _ONE_DAY
    if start >= FIRST_DAY:
        before = database.sold(_period(scope, start, end))["revenue"]
        analysis["previous_period"] = r.PreviousPeriod(
            date_from=str(start), date_to=str(end), revenue=before
        )
        analysis["change_percent"] = (
            round(100 * (totals["revenue"] / before - 1), 1) if before else None
        )
    return analysis


def start_before(first: date, last: date) -> date:
    """Return where the period before begins: as many whole months earlier, or as many days."""
    after = last + _ONE_DAY
    if first.day == after.day == 1:
        return months_before(first, 12 * (after.year - first.year) + after.month - first.month)
    return first - (after - first)


def _trend(database: SalesDatabase, scope: Scope, first: date, last: date) -> r.Trend:
    if first == last:
        return "stable"  # a day has no halves
    middle = first + (last - first) / 2
    before = database.sold(_period(scope, first, middle))["revenue"]
    after = database.sold(_period(scope, middle + _ONE_DAY, last))["revenue"]
    if abs(after - before) <= _STABLE * before:
        return "stable"
    return "rising" if after > before else "falling"


def _period(scope: Scope, first: date, last: date) -> dict[str, Any]:
    return {**scope, "date_from": str(first), "date_to": str(last)}
