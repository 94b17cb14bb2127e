"""How likely a customer is to leave, told from when they ordered and for how much.

Three signs, each from 0 (nothing to see) to 1: how long they have been silent, measured by their
own pace; fewer orders in the last half year than in the one before; and less revenue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from statistics import median
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["low", "medium", "high"]
Order: TypeAlias = tuple[date, float]
"""Day and revenue in dollars."""

_HALF_YEAR: Final = timedelta(days=182)
_USUAL_GAP: Final = 60.0  # days between orders, of somebody who has ordered but once
_GONE_AFTER: Final = 4  # times the usual gap; whoever is silent for so long counts as gone
_SILENCE, _ORDERS, _REVENUE = 50, 25, 25  # what each sign is worth
_MEDIUM_FROM: Final = 35
_HIGH_FROM: Final = 65


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """What the orders of a customer say."""

    score: int
    """From 0 to 100."""
    level: Level
    """The same in a word."""
    days_since_last_order: int
    """Up to the day that was given."""
    usual_gap: float
    """Days between two orders, in the median."""
    orders: tuple[int, int]
    """In the half year before the last one, and in the last one."""
    revenue: tuple[float, float]
    """Dollars, likewise."""


def assess(orders: Sequence[Order], today: date) -> Risk:
    """Judge a customer by their ``orders`` (at least one, oldest first)."""
    days = [day for day, _ in orders]
    gaps = [(later - earlier).days for earlier, later in pairwise(days)]
    usual = max(1.0, float(median(gaps))) if gaps else _USUAL_GAP
    silent = (today - days[-1]).days
    recent = [order for order in orders if order[0] > today - _HALF_YEAR]
    before = [order for order in orders if today - 2 * _HALF_YEAR < order[0] <= today - _HALF_YEAR]
    counts = (len(before), len(recent))
    revenue = (_sum(before), _sum(recent))
    signs = (silent / usual - 1) / (_GONE_AFTER - 1), _drop(*counts), _drop(*revenue)
    silence, fewer, less = (min(1.0, max(0.0, sign)) for sign in signs)
    score = round(_SILENCE * silence + _ORDERS * fewer + _REVENUE * less)
    return Risk(
        score=score,
        level="high" if score >= _HIGH_FROM else "medium" if score >= _MEDIUM_FROM else "low",
        days_since_last_order=silent,
        usual_gap=usual,
        orders=counts,
        revenue=revenue,
    )


def _sum(orders: Sequence[Order]) -> float:
    return round(sum(revenue for _, revenue in orders), 2)


def _drop(before: float, now: float) -> float:
    """Return by which part ``now`` is less than ``before``.

    All of it if there was nothing in either.
    """
    return 1 - now / before if before else float(not now)
