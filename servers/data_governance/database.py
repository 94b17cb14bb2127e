"""Customers and orders in SQLite, held in memory: every query in one place, every value a parameter.

Each statement is a constant. A filter that was not given is null, and ``:x IS NULL OR …`` lets all
rows pass. Money is stored in cents and returned in dollars.
"""

from __future__ import annotations

import sqlite3
import unicodedata
import weakref
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from .seed import generate

Row: TypeAlias = dict[str, Any]
"""One row by column name."""

RECENT_ORDERS: Final = 5
"""Orders shown in a purchase history."""

_SCHEMA: Final = """
CREATE TABLE customers (
  customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL,
  address TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, date_of_birth TEXT NOT NULL,
  national_id TEXT NOT NULL, segment TEXT NOT NULL, status TEXT NOT NULL, customer_since TEXT NOT NULL);
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers ON DELETE CASCADE,
  order_date TEXT NOT NULL, status TEXT NOT NULL, category TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE items (
  order_id TEXT NOT NULL REFERENCES orders ON DELETE CASCADE, line INTEGER NOT NULL,
  product TEXT NOT NULL, quantity INTEGER NOT NULL, cents INTEGER NOT NULL, PRIMARY KEY (order_id, line));
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
SELECT category, count(*) AS orders, sum(cents) AS cents, min(order_date) AS first, max(order_date) AS last
FROM orders
WHERE customer_id = :customer_id AND status NOT IN ('cancelled', 'returned')
GROUP BY category ORDER BY cents DESC, category
"""

_RECENT: Final = """
SELECT * FROM orders WHERE customer_id = :customer_id ORDER BY order_date DESC, order_id DESC LIMIT :limit
"""

_UPDATE: Final = """
UPDATE customers SET
  email = coalesce(:email, email), phone = coalesce(:phone, phone), address = coalesce(:address, address),
  city = coalesce(:city, city), segment = coalesce(:segment, segment), status = coalesce(:status, status)
WHERE customer_id = :customer_id
"""


class CustomerDatabase:
    """The whole data set, freshly made; use it from one thread."""

    def __init__(self) -> None:
        """Create and fill the tables."""
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        weakref.finalize(self, self._connection.close)
        self._connection.row_factory = sqlite3.Row
        for name, function in (("holds", _holds), ("same", _same), ("same_end", _same_end)):
            self._connection.create_function(name, 2, function, deterministic=True)
        self._connection.executescript(_SCHEMA)
        data = generate()
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO customers VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", data.customers)
            self._connection.executemany("INSERT INTO orders VALUES (?,?,?,?,?,?)", data.orders)
            self._connection.executemany("INSERT INTO items VALUES (?,?,?,?,?)", data.items)
        self._connection.execute("PRAGMA foreign_keys = ON")

    def customer(self, customer_id: str) -> Row | None:
        """Return one customer, all columns, or ``None``."""
        rows = self._rows("SELECT * FROM customers WHERE customer_id = :customer_id", {"customer_id": customer_id})
        return rows[0] if rows else None

    def search_customers(self, filters: Mapping[str, str | None], limit: int) -> tuple[int, list[Row]]:
        """Return how many customers match and the first ``limit`` of them by id.

        ``filters`` holds name, email (parts of them), phone (its last digits), city (whole,
        case and accents ignored), country, segment and status; ``None`` matches all.
        """
        rows = self._rows(_SEARCH_CUSTOMERS, {**filters, "limit": limit})
        return (rows[0]["matches"] if rows else 0), rows

    def purchase_history(self, customer_id: str) -> Row:
        """Return totals, categories by money spent, and the latest orders of one customer."""
        categories = self._rows(_BOUGHT, {"customer_id": customer_id})
        recent = self._rows(_RECENT, {"customer_id": customer_id, "limit": RECENT_ORDERS})
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

        ``filters`` holds customer_id, status, category, date_from, date_to (ISO 8601, both included),
        min_cents and max_cents; ``None`` matches all.
        """
        rows = self._rows(_SEARCH_ORDERS, {**filters, "limit": limit})
        count, cents = (rows[0]["matches"], rows[0]["matching_cents"]) if rows else (0, 0)
        return count, cents / 100, [self._with_items(row) for row in rows]

    def update_customer(self, customer_id: str, changes: Mapping[str, str | None]) -> None:
        """Set email, phone, address, city, segment and status of a customer; ``None`` keeps what is there."""
        self._connection.execute(_UPDATE, {**changes, "customer_id": customer_id})

    def delete_customer(self, customer_id: str) -> int:
        """Delete a customer with all orders; return how many orders went."""
        key = {"customer_id": customer_id}
        orders = self._rows("SELECT count(*) AS n FROM orders WHERE customer_id = :customer_id", key)[0]["n"]
        self._connection.execute("DELETE FROM customers WHERE customer_id = :customer_id", key)
        return int(orders)

    def _rows(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return [dict(row) for row in self._connection.execute(statement, values)]

    def _with_items(self, order: Row) -> Row:
        items = self._rows(
            "SELECT product, quantity, cents FROM items WHERE order_id = :order_id ORDER BY line",
            {"order_id": order["order_id"]},
        )
        priced = [
            {"product": item["product"], "quantity": item["quantity"], "unit_price": item["cents"] / 100}
            for item in items
        ]
        return {**order, "amount": order["cents"] / 100, "items": priced}


def _fold(text: str) -> str:
    """Return ``text`` without case and accents: *José* is *jose*."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter)
    )


def _holds(whole: str, part: str) -> bool:
    """Return whether ``part`` stands in ``whole``; unlike in LIKE, nothing in it is a wildcard."""
    return _fold(part) in _fold(whole)


def _same(one: str, other: str) -> bool:
    return _fold(one) == _fold(other.strip())


def _same_end(number: str, end: str) -> bool:
    """Return whether a telephone number ends in the digits of ``end``, however either is written."""
    return "".join(filter(str.isdigit, number)).endswith("".join(filter(str.isdigit, end)))
