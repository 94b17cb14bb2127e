"""Two years of daily prices: a random walk from a company's first price to its last."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, TypeAlias

from ..common.dice import Dice  # noqa: TID252  # the package also travels inside another one
from .figures import PRICES, PriceRow

DayRow: TypeAlias = tuple[str, str, int, int, int, int]
"""Ticker, day, closing, lowest and highest price in cents, and shares traded."""

FIRST_DAY: Final = date(2024, 1, 2)
LAST_DAY: Final = date(2025, 12, 31)
"""The day of every current price; the sample does not move with the calendar."""

_SEED: Final = 20_251_231
_WHOLE: Final = 10_000  # basis points
_WEEKEND: Final = 5
_CLOSED: Final = frozenset(
    date.fromisoformat(day)
    for day in (
        "2024-01-15", "2024-02-19", "2024-03-29", "2024-05-27", "2024-06-19", "2024-07-04",
        "2024-09-02", "2024-11-28", "2024-12-25", "2025-01-01", "2025-01-09", "2025-01-20",
        "2025-02-17", "2025-04-18", "2025-05-26", "2025-06-19", "2025-07-04", "2025-09-01",
        "2025-11-27", "2025-12-25",
    )
)  # fmt: skip
"""Weekdays on which the exchanges in New York were closed."""


def trading_days() -> list[date]:
    """Return the days that have prices, in order."""
    days = (FIRST_DAY + timedelta(days=number) for number in range((LAST_DAY - FIRST_DAY).days + 1))
    return [day for day in days if day.weekday() < _WEEKEND and day not in _CLOSED]


def daily_prices() -> Iterator[DayRow]:
    """Yield the prices of all companies; every call yields equal ones."""
    dice = Dice(_SEED)
    days = [day.isoformat() for day in trading_days()]
    for row in PRICES:
        yield from _company(dice, days, row)


def _company(dice: Dice, days: list[str], row: PriceRow) -> Iterator[DayRow]:
    """Yield one company's days: a straight line from first to last price, times a random walk.

    The walk starts and ends at 1.

    All in whole numbers, which are the same on every machine.
    """
    ticker, first, last, move, volume = row
    walk = [0]
    for _ in days[1:]:
        walk.append(walk[-1] + dice.between(-3 * move // 2, 3 * move // 2))
    steps = len(days) - 1
    for place, day in enumerate(days):
        line = first * (steps - place) + last * place
        detour = walk[place] * steps - walk[-1] * place
        close = line * (_WHOLE * steps + detour) // (_WHOLE * steps * steps)
        low = close - close * dice.below(move) // _WHOLE
        high = close + close * dice.below(move) // _WHOLE
        yield ticker, day, close, low, high, volume * dice.between(600, 1_500)
