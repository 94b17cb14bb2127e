"""Customers and orders in SQLite: every query in one place.

Money is stored in cents and returned in dollars.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..common.altered import alter
from ..common.database import MemoryDatabase, Row
from .seed import SEED, generate

RECENT_ORDERS: Final = 5
"""Orders shown in a purchase history."""

_SCHEMA: Final = """
CREATE TABLE customers (
  customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL,
  address TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, date_of_birth TEXT NOT NULL,
  national_id TEXT NOT NULL, segment TEXT NOT NULL, status TEXT NOT NULL,
  customer_since TEXT NOT NULL);
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers ON DELETE CASCADE,
  order_date TEXT NOT NULL, status TEXT NOT NULL, category TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE items (
  order_id TEXT NOT NULL REFERENCES orders ON DELETE CASCADE, line INTEGER NOT NULL,
  product TEXT NOT NULL, quantity INTEGER NOT NULL, cents INTEGER NOT NULL,
  PRIMARY KEY (order_id, line));
CREATE INDEX orders_by_customer ON orders (customer_id);
"""

_SEARCH_CUSTOMERS: Final = """
SELECT *, count(*) OVER () AS matches
FROM customers
WHERE (:name IS NULL OR holds(name, :name))
  AND (:email IS NULL OR holds(email, :email))
  AND (:phone IS NULL OR same_end(phone, :phone))
  AND (:city IS NULL OR same(city, :city))
  AND (:country IS NULL OR country = :country)
  AND (:segment IS NULL OR segment = :segment)
  AND (:status IS NULL OR status = :status)
ORDER BY customer_id LIMIT :limit
"""

_SEARCH_ORDERS: Final = """
SELECT *, count(*) OVER () AS matches, sum(cents) OVER () AS matching_cents
FROM orders
WHERE (:customer_id IS NULL OR customer_id = :customer_id)
  AND (:status IS NULL OR status = :status)
  AND (:category IS NULL OR category = :category)
  AND (:date_from IS NULL OR order_date >= :date_from)
  AND (:date_to IS NULL OR order_date <= :date_to)
  AND (:min_cents IS NULL OR cents >= :min_cents)
  AND (:max_cents IS NULL OR cents <= :max_cents)
ORDER BY order_date DESC, order_id DESC LIMIT :limit
"""

_BOUGHT: Final = """
SELECT category, count(*) AS orders, sum(cents) AS cents,
  min(order_date) AS first, max(order_date) AS last
FROM orders
WHERE customer_id = :customer_id AND status NOT IN ('cancelled', 'returned')
GROUP BY category ORDER BY cents DESC, category
"""

_RECENT: Final = """
SELECT * FROM orders WHERE customer_id = :customer_id
ORDER BY order_date DESC, order_id DESC LIMIT :limit
"""

_UPDATE: Final = """
UPDATE customers SET
  email = coalesce(:email, email), phone = coalesce(:phone, phone),
  address = coalesce(:address, address),
  city = coalesce(:city, city), segment = coalesce(:segment, segment),
  status = coalesce(:status, status)
WHERE customer_id = :customer_id
"""


class CustomerDatabase:
    """The whole data set, freshly made; use it from one thread."""

    def __init__(self, seed: int = SEED, environ: Mapping[str, str] | None = None) -> None:
        """Create and fill the tables by ``seed``; ``environ`` may alter a value.

        Raises:
            CannotStart: there is no such value.
        """
        data = generate(seed)
        tables = {"customers": data.customers, "orders": data.orders, "items": data.items}
        self._database = MemoryDatabase(_SCHEMA, tables, {"same_end": _same_end})
        alter(self._database, environ)

    def customer(self, customer_id: str) -> Row | None:
        """Return one customer, all columns, or ``None``."""
        return self._database.row(
            "SELECT * FROM customers WHERE customer_id = :id", {"id": customer_id}
        )

    def search_customers(
        self, filters: Mapping[str, str | None], limit: int
    ) -> tuple[int, list[Row]]:
        """Return how many customers match and the first ``limit`` of them by id.

        ``filters`` holds name, email (parts of them), phone (its last digits), city (whole,
        case and accents ignored), country, segment and status; ``None`` matches all.
        """
        return self._database.page(_SEARCH_CUSTOMERS, filters, limit)

    def purchase_history(self, customer_id: str) -> Row:
        """Return totals, categories by money spent, and the latest orders of one customer."""
        categories = self._database.rows(_BOUGHT, {"customer_id": customer_id})
        recent = self._database.rows(_RECENT, {"customer_id": customer_id, "limit": RECENT_ORDERS})
        return {
            "orders": sum(row["orders"] for row in categories),
            "amount": sum(row["cents"] for row in categories) / 100,
            "first": min((row["first"] for row in categories), default=None),
            "last": max((row["last"] for row in categories), default=None),
            "categories": [{**row, "amount": row["cents"] / 100} for row in categories],
            "recent": [self._with_items(row) for row in recent],
        }

    def search_orders(self, filters: Mapping[str, Any], limit: int) -> tuple[int, float, list[Row]]:
        """Return number and amount of all matching orders, and the latest ``limit`` of them.

        ``filters`` holds customer_id, status, category, date_from, date_to (ISO 8601, both
        included), min_cents and max_cents; ``None`` matches all.
        """
        rows = self._database.rows(_SEARCH_ORDERS, {**filters, "limit": limit})
        count, cents = (rows[0]["matches"], rows[0]["matching_cents"]) if rows else (0, 0)
        return count, cents / 100, [self._with_items(row) for row in rows]

    def update_customer(self, customer_id: str, changes: Mapping[str, str | None]) -> None:
        """Set email, phone, address, city, segment and status of a customer.

        ``None`` keeps what is there.
        """
        self._database.change(_UPDATE, {**changes, "customer_id": customer_id})

    def delete_customer(self, customer_id: str) -> int:
        """Delete a customer with all orders; return how many orders went."""
        key = {"customer_id": customer_id}
        orders = self._database.rows(
            "SELECT count(*) AS n FROM orders WHERE customer_id = :customer_id", key
        )[0]["n"]
        self._database.change("DELETE FROM customers WHERE customer_id = :customer_id", key)
        return int(orders)

    def _with_items(self, order: Row) -> Row:
        items = self._database.rows(
            "SELECT product, quantity, cents FROM items WHERE order_id = :order_id ORDER BY line",
            {"order_id": order["order_id"]},
        )
        priced = [
            {
                "product": item["product"],
                "quantity": item["quantity"],
                "unit_price": item["cents"] / 100,
            }
            for item in items
        ]
        return {**order, "amount": order["cents"] / 100, "items": priced}


def _same_end(number: str, end: str) -> bool:
    """Return whether a telephone number ends in the digits of ``end``, in any notation."""
    return "".join(filter(str.isdigit, number)).endswith("".join(filter(str.isdigit, end)))
