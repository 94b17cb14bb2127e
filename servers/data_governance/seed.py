"""Fictional customers and orders, the same on every machine and at every start.

Nothing in it belongs to anyone: e-mail addresses are on the domains reserved for examples,
telephone numbers in the range 555-0100 to 555-0199 that is kept for fiction, and national ids begin
with 666 or 000, which are never issued.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import Final, Literal, TypeAlias, get_args

from ..common.dice import Dice
from ..common.names import FIRST_NAMES, LAST_NAMES, STREETS
from .names import CITIES, PRODUCTS

Country: TypeAlias = Literal["United States", "Canada"]
Segment: TypeAlias = Literal["consumer", "small_business", "enterprise"]
CustomerStatus: TypeAlias = Literal["active", "inactive", "suspended"]
OrderStatus: TypeAlias = Literal["pending", "shipped", "delivered", "cancelled", "returned"]
Category: TypeAlias = Literal[
    "electronics", "books", "home", "clothing", "sports", "beauty", "toys", "garden"
]

CUSTOMERS: Final = 300
ORDERS: Final = 3_000
FIRST_DAY: Final = date(2022, 1, 1)
"""The day of the earliest possible order."""
LAST_DAY: Final = date(2025, 12, 31)
"""The day of the latest possible order; the data does not move with the calendar."""
_SETTLED: Final = timedelta(days=21)
"""An order older than this on the last day is no longer on its way."""
SEED: Final = 20_260_101
"""The data that suites are written for."""
_CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)

CustomerRow: TypeAlias = tuple[
    str, str, str, str, str, str, str, str, str, Segment, CustomerStatus, str
]
OrderRow: TypeAlias = tuple[str, str, str, OrderStatus, Category, int]
ItemRow: TypeAlias = tuple[str, int, str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Rows in the order of their tables' columns; dates are ISO 8601, money is cents."""

    customers: Sequence[CustomerRow]
    """id, name, email, phone, address, city, country, date of birth, national id, segment, status,
    since."""
    orders: Sequence[OrderRow]
    """id, customer id, date, status, category, amount."""
    items: Sequence[ItemRow]
    """order id, line, product, quantity, unit price."""


def generate(seed: int = SEED) -> Data:
    """Return all rows; equal seeds give equal ones."""
    dice = Dice(seed)
    lines: dict[str, int] = {}
    customers = [_customer(dice, number, lines) for number in range(1, CUSTOMERS + 1)]
    orders, items = _orders(dice, customers)
    return Data(customers=customers, orders=orders, items=items)


def _customer(dice: Dice, number: int, lines: dict[str, int]) -> CustomerRow:
    first, last = dice.pick(FIRST_NAMES), dice.pick(LAST_NAMES)
    city, country, area_code = dice.pick(CITIES)
    mailbox = f"{_ascii(first)}.{_ascii(last)}{number}".lower()
    # 37 and 100 share no divisor: the first hundred customers of a city all have numbers of their
    # own.
    lines[area_code] = lines.get(area_code, 0) + 37
    prefix = "666" if country == "United States" else "000"
    return (
        f"CUST_{number:05d}",
        f"{first} {last}",
        f"{mailbox}@example.{dice.pick(('com', 'net', 'org'))}",
        f"+1-{area_code}-555-01{lines[area_code] % 100:02d}",
        f"{11 + dice.below(989)} {dice.pick(STREETS)}",
        city,
        country,
        dice.day(date(1946, 1, 1), date(2003, 12, 31)).isoformat(),
        f"{prefix}-{10 + dice.below(89)}-{1000 + number * 7919 % 9000}",
        dice.weighted((("consumer", 75), ("small_business", 18), ("enterprise", 7))),
        dice.weighted((("active", 84), ("inactive", 12), ("suspended", 4))),
        dice.day(date(2021, 1, 1), date(2025, 6, 30)).isoformat(),
    )


def _ascii(name: str) -> str:
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", name)
        if letter.isascii() and letter.isalpha()
    )


def _orders(dice: Dice, customers: Sequence[CustomerRow]) -> tuple[list[OrderRow], list[ItemRow]]:
    # A customer has a few favourite categories and an appetite of their own; some never order.
    buyers = []
    for customer in customers:
        appetite = dice.weighted(((0, 5), (1, 30), (3, 40), (6, 20), (12, 5)))
        buyers += [(customer, [dice.pick(_CATEGORIES) for _ in range(3)])] * appetite
    drafts = []
    for _ in range(ORDERS):
        customer, favourites = dice.pick(buyers)
        day = dice.day(max(FIRST_DAY, date.fromisoformat(customer[-1])), LAST_DAY)
        category = dice.pick(favourites) if dice.below(4) else dice.pick(_CATEGORIES)
        drafts.append((day, customer[0], category))
    drafts.sort(key=itemgetter(0))
    return _rows(dice, drafts)


def _rows(
    dice: Dice, drafts: Sequence[tuple[date, str, Category]]
) -> tuple[list[OrderRow], list[ItemRow]]:
    orders: list[OrderRow] = []
    items: list[ItemRow] = []
    serial: dict[int, int] = {}
    for day, customer_id, category in drafts:
        serial[day.year] = serial.get(day.year, 0) + 1
        order_id = f"ORD_{day.year}_{serial[day.year]:04d}"
        cart: dict[str, tuple[int, int]] = {}
        for _ in range(dice.weighted(((1, 45), (2, 35), (3, 20)))):
            product, cents = dice.pick(PRODUCTS[category])
            cart[product] = (dice.weighted(((1, 70), (2, 22), (3, 8))), cents)
        items += [
            (order_id, line, product, *cart[product]) for line, product in enumerate(cart, start=1)
        ]
        amount = sum(quantity * cents for quantity, cents in cart.values())
        orders.append(
            (order_id, customer_id, day.isoformat(), _status(dice, day), category, amount)
        )
    return orders, items


def _status(dice: Dice, day: date) -> OrderStatus:
    if day > LAST_DAY - _SETTLED:
        return dice.weighted((("pending", 40), ("shipped", 50), ("cancelled", 10)))
    return dice.weighted((("delivered", 88), ("cancelled", 7), ("returned", 5)))
