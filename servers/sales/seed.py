"""Fictional products, customers, orders and projects: the same at every start, everywhere."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, Literal, TypeAlias

from ..common.dice import Dice
from ..common.names import FIRST_NAMES, LAST_NAMES
from .catalog import (
    DISCONTINUED,
    FIRST_DAY,
    GROWTH,
    LAST_DAY,
    NAME_ENDS,
    NAME_STARTS,
    NOTES,
    PRODUCTS,
    PROJECTS,
    Category,
    Region,
    Segment,
)

Row: TypeAlias = tuple[Any, ...]
Habit: TypeAlias = Literal["steady", "slowing", "gone"]

CUSTOMERS: Final = 80
TASKS: Final = 8
_SEED: Final = 20_251_130
_SEGMENTS: Final[tuple[tuple[Segment, int], ...]] = (
    ("small_business", 50),
    ("mid_market", 35),
    ("enterprise", 15),
)
_REGIONS: Final[tuple[tuple[Region, int], ...]] = (
    ("North America", 45), ("Europe", 30), ("Asia-Pacific", 15), ("Latin America", 10),
)  # fmt: skip
_HABITS: Final[tuple[tuple[Habit, int], ...]] = (("steady", 70), ("slowing", 14), ("gone", 16))
_ACQUIRED: Final = (
    ((date(2016, 1, 1), date(2023, 12, 31)), 60),
    ((date(2024, 3, 1), date(2025, 9, 30)), 40),
)
"""When customers were won; those of the second stretch make the trade grow."""
_QUANTITIES: Final[dict[Segment, int]] = {"small_business": 3, "mid_market": 8, "enterprise": 20}
_SLOWER_FROM: Final = date(2025, 6, 1)
_OWNERS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Rows in the order of their tables' columns; dates are ISO 8601, money is cents."""

    products: Sequence[Row]
    """id, name, category, price, units in stock, status."""
    customers: Sequence[Row]
    """id, name, segment, region, account owner, customer since."""
    orders: Sequence[Row]
    """id, customer id, date."""
    lines: Sequence[Row]
    """order id, product id, quantity, price of one."""
    projects: Sequence[Row]
    """id, name, customer id, status, owner, start, due date, budget, percent done."""
    tasks: Sequence[Row]
    """number, customer id, kind, due date, note, status."""


def generate() -> Data:
    """Return all rows; every call returns equal ones."""
    dice = Dice(_SEED)
    owners = [f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}" for _ in range(_OWNERS)]
    products = list(_products(dice))
    customers = list(_customers(dice, owners))
    orders, lines = _orders(dice, customers, products)
    return Data(
        products=products,
        customers=customers,
        orders=orders,
        lines=lines,
        projects=list(_projects(dice, customers, owners)),
        tasks=list(_tasks(dice, customers)),
    )


def _products(dice: Dice) -> Iterator[Row]:
    named = [
        (category, *product) for category, products in PRODUCTS.items() for product in products
    ]
    for number, (category, name, cents) in enumerate(named, start=1):
        gone = name in DISCONTINUED
        stock = (
            0
            if gone
            else dice.weighted(((0, 6), (dice.between(1, 20), 24), (dice.between(21, 400), 70)))
        )
        yield (
            f"PRD_{number:03d}",
            name,
            category,
            cents,
            stock,
            "discontinued" if gone else "available",
        )


def _customers(dice: Dice, owners: Sequence[str]) -> Iterator[Row]:
    names: dict[str, None] = {}
    while len(names) < CUSTOMERS:
        names[f"{dice.pick(NAME_STARTS)} {dice.pick(NAME_ENDS)}"] = None
    for number, name in enumerate(names, start=1):
        since = dice.day(*dice.weighted(_ACQUIRED)).isoformat()
        yield (
            f"CUS_{number:03d}", name, dice.weighted(_SEGMENTS), dice.weighted(_REGIONS),
            dice.pick(owners), since,
        )  # fmt: skip


def _orders(
    dice: Dice, customers: Sequence[Row], products: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    drafts = sorted(
        (day, customer) for customer in customers for day in _order_days(dice, customer)
    )
    shelves = {category: [one for one in products if one[2] == category] for category in PRODUCTS}
    orders: list[Row] = []
    lines: list[Row] = []
    for number, (day, customer) in enumerate(drafts, start=1):
        order_id = f"ORD_{number:05d}"
        orders.append((order_id, customer[0], day.isoformat()))
        cart: dict[str, Row] = {}
        for _ in range(dice.weighted(((1, 40), (2, 35), (3, 25)))):
            product = dice.pick(shelves[_category(dice, day)])
            quantity = dice.between(1, _QUANTITIES[customer[2]])
            cart[product[0]] = (order_id, product[0], quantity, product[3])
        lines += cart.values()
    return orders, lines


def _order_days(dice: Dice, customer: Row) -> Iterator[date]:
    """Yield the days on which a customer orders, at a pace that may slow down or end."""
    habit = dice.weighted(_HABITS)
    pace = dice.between(18, 70)
    end = dice.day(date(2024, 12, 1), date(2025, 9, 15)) if habit == "gone" else LAST_DAY
    day = max(FIRST_DAY, date.fromisoformat(customer[5])) + timedelta(days=dice.below(pace))
    end = max(end, day)  # nobody is a customer who has never ordered
    while day <= end:
        yield day
        if habit == "slowing" and day > _SLOWER_FROM:
            pace = pace * 16 // 10
        day += timedelta(days=dice.between(pace // 2, pace * 3 // 2))


def _category(dice: Dice, day: date) -> Category:
    """Return what is bought on a day; demand moves with the years."""
    passed = (day - FIRST_DAY).days
    return dice.weighted(
        [(category, 365 * 100 + growth * passed) for category, growth in GROWTH.items()]
    )


def _projects(dice: Dice, customers: Sequence[Row], owners: Sequence[str]) -> Iterator[Row]:
    for number, (name, status, done, budget) in enumerate(PROJECTS, start=1):
        if status == "planned":
            start = dice.day(date(2026, 1, 15), date(2026, 5, 1))
        elif status == "completed":
            start = dice.day(date(2024, 1, 15), date(2025, 1, 31))
        else:
            start = dice.day(date(2025, 2, 1), date(2025, 10, 31))
        due = start + timedelta(days=dice.between(90, 300))
        yield (
            f"PRJ_{number:03d}", name, dice.pick(customers)[0], status, dice.pick(owners),
            start.isoformat(), due.isoformat(), budget * 100_000, done,
        )  # fmt: skip


def _tasks(dice: Dice, customers: Sequence[Row]) -> Iterator[Row]:
    for number in range(1, TASKS + 1):
        due = dice.day(date(2025, 12, 1), date(2026, 2, 28))
        status = "done" if due <= LAST_DAY else "open"
        kind = dice.pick(("call", "email", "meeting"))
        yield number, dice.pick(customers)[0], kind, due.isoformat(), dice.pick(NOTES), status
