"""Products, customers, orders, projects and tasks in SQLite: every query in one place.

Money is stored in cents and returned in dollars.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..common.database import MemoryDatabase, Row
from .seed import generate

_SCHEMA: Final = """
CREATE TABLE products (
  product_id TEXT PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, cents INTEGER NOT NULL,
  stock INTEGER NOT NULL, status TEXT NOT NULL);
CREATE TABLE customers (
  customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, segment TEXT NOT NULL, region TEXT NOT NULL,
  account_owner TEXT NOT NULL, customer_since TEXT NOT NULL);
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers,
  order_date TEXT NOT NULL);
CREATE TABLE lines (
  order_id TEXT NOT NULL REFERENCES orders, product_id TEXT NOT NULL REFERENCES products,
  quantity INTEGER NOT NULL, cents INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE projects (
  project_id TEXT PRIMARY KEY, name TEXT NOT NULL, customer_id TEXT NOT NULL REFERENCES customers,
  status TEXT NOT NULL, owner TEXT NOT NULL, start_date TEXT NOT NULL, due_date TEXT NOT NULL,
  budget_cents INTEGER NOT NULL, percent_done INTEGER NOT NULL);
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, kind TEXT NOT NULL,
  due_date TEXT NOT NULL, note TEXT NOT NULL, status TEXT NOT NULL);
CREATE INDEX orders_by_customer ON orders (customer_id, order_date);
CREATE VIEW sales AS
  SELECT order_id, customer_id, order_date, product_id, p.name AS product, category, quantity,
    quantity * l.cents AS cents
  FROM lines AS l JOIN orders USING (order_id) JOIN products AS p USING (product_id);
CREATE VIEW buyers AS
  SELECT c.*, count(DISTINCT order_id) AS orders, max(order_date) AS last_order_date,
    sum(cents) / 100.0 AS revenue
  FROM customers AS c JOIN sales USING (customer_id) GROUP BY customer_id;
"""

_PRODUCTS: Final = """
SELECT *, cents / 100.0 AS price, count(*) OVER () AS matches
FROM products
WHERE (:text IS NULL OR holds(name, :text))
  AND (:category IS NULL OR category = :category)
  AND (:max_cents IS NULL OR cents <= :max_cents)
  AND (:in_stock_only = 0 OR stock > 0)
ORDER BY product_id LIMIT :limit
"""

_SOLD: Final = """
WITH chosen AS (
  SELECT * FROM sales
  WHERE (:product_id IS NULL OR product_id = :product_id)
    AND (:category IS NULL OR category = :category)
    AND order_date BETWEEN :date_from AND :date_to)
"""
_TOTALS: Final = (
    _SOLD
    + """
SELECT coalesce(sum(cents), 0) / 100.0 AS revenue, coalesce(sum(quantity), 0) AS units_sold,
  count(DISTINCT order_id) AS orders, count(DISTINCT customer_id) AS customers
FROM chosen
"""
)
_BY_MONTH: Final = (
    _SOLD
    + """
SELECT substr(order_date, 1, 7) AS month, sum(cents) / 100.0 AS revenue, sum(quantity) AS units_sold
FROM chosen GROUP BY month ORDER BY month
"""
)
_BY_PRODUCT: Final = (
    _SOLD
    + """
SELECT product_id, product AS name, sum(cents) / 100.0 AS revenue, sum(quantity) AS units_sold
FROM chosen GROUP BY product_id ORDER BY revenue DESC, product_id LIMIT :limit
"""
)

_CUSTOMERS: Final = """
SELECT *, count(*) OVER () AS matches
FROM buyers
WHERE (:name IS NULL OR holds(name, :name))
  AND (:segment IS NULL OR segment = :segment)
  AND (:region IS NULL OR region = :region)
ORDER BY customer_id LIMIT :limit
"""

_INACTIVE: Final = """
SELECT *, count(*) OVER () AS matches
FROM buyers
WHERE last_order_date < :since AND (:segment IS NULL OR segment = :segment)
ORDER BY revenue DESC, customer_id LIMIT :limit
"""

_ORDERS_OF: Final = """
SELECT order_date, sum(cents) / 100.0 AS revenue
FROM sales WHERE customer_id = :customer_id GROUP BY order_id ORDER BY order_date
"""

_PROJECT_COLUMNS: Final = """
SELECT p.*, c.name AS customer, budget_cents / 100.0 AS budget, count(*) OVER () AS matches
FROM projects AS p JOIN customers AS c USING (customer_id)
"""
_PROJECTS: Final = (
    _PROJECT_COLUMNS
    + """
WHERE (:status IS NULL OR status = :status)
  AND (:name IS NULL OR holds(p.name, :name))
  AND (:customer_id IS NULL OR customer_id = :customer_id)
ORDER BY project_id LIMIT :limit
"""
)
_PROJECT: Final = _PROJECT_COLUMNS + " WHERE project_id = :project_id"

_TASKS: Final = """
SELECT t.*, c.name AS customer
FROM tasks AS t JOIN customers AS c USING (customer_id)
WHERE (:customer_id IS NULL OR customer_id = :customer_id)
  AND (:status IS NULL OR t.status = :status)
ORDER BY due_date, number
"""
_NEW_TASK: Final = """
INSERT INTO tasks (customer_id, kind, due_date, note, status)
VALUES (:customer_id, :kind, :due_date, :note, 'open')
"""


class SalesDatabase:
    """The whole data set, freshly made; use it from one thread."""

    def __init__(self) -> None:
        """Create and fill the tables."""
        data = generate()
        tables = {
            "products": data.products,
            "customers": data.customers,
            "orders": data.orders,
            "lines": data.lines,
            "projects": data.projects,
            "tasks": data.tasks,
        }
        self._database = MemoryDatabase(_SCHEMA, tables)

    def product(self, product_id: str) -> Row | None:
        """Return one product, or ``None``."""
        return self._database.row(
            "SELECT * FROM products WHERE product_id = :id", {"id": product_id}
        )

    def search_products(self, filters: Mapping[str, Any], limit: int) -> tuple[int, list[Row]]:
        """Return how many products match and the first of them.

        ``filters`` holds text (part of the name), category, max_cents (``None`` matches all) and
        in_stock_only.
        """
        return self._database.page(_PRODUCTS, filters, limit)

    def sold(self, period: Mapping[str, Any]) -> Row:
        """Return revenue, units_sold, orders and customers of a period.

        ``period`` holds product_id and category (``None`` for all), date_from and date_to, both
        included.
        """
        return self._database.rows(_TOTALS, period)[0]

    def sold_by_month(self, period: Mapping[str, Any]) -> list[Row]:
        """Return revenue and units_sold of each month that had any."""
        return self._database.rows(_BY_MONTH, period)

    def best_sellers(self, period: Mapping[str, Any], limit: int) -> list[Row]:
        """Return the products that brought most."""
        return self._database.rows(_BY_PRODUCT, {**period, "limit": limit})

    def customer(self, customer_id: str) -> Row | None:
        """Return one customer with their number of orders, last order and revenue, or ``None``."""
        return self._database.row(
            "SELECT * FROM buyers WHERE customer_id = :id", {"id": customer_id}
        )

    def search_customers(
        self, filters: Mapping[str, str | None], limit: int
    ) -> tuple[int, list[Row]]:
        """Return how many customers match and the first of them.

        ``filters`` holds name, segment and region.
        """
        return self._database.page(_CUSTOMERS, filters, limit)

    def inactive_customers(
        self, since: str, segment: str | None, limit: int
    ) -> tuple[int, list[Row]]:
        """Return how many customers have ordered nothing since ``since``, and the best of them."""
        return self._database.page(_INACTIVE, {"since": since, "segment": segment}, limit)

    def orders_of(self, customer_id: str) -> list[Row]:
        """Return order_date and revenue of a customer's orders, oldest first."""
        return self._database.rows(_ORDERS_OF, {"customer_id": customer_id})

    def projects(self, filters: Mapping[str, str | None], limit: int) -> tuple[int, list[Row]]:
        """Return how many projects match and the first of them.

        ``filters`` holds status, name and customer_id.
        """
        return self._database.page(_PROJECTS, filters, limit)

    def project(self, project_id: str) -> Row | None:
        """Return one project, or ``None``."""
        return self._database.row(_PROJECT, {"project_id": project_id})

    def delete_project(self, project_id: str) -> None:
        """Delete a project for good."""
        self._database.change("DELETE FROM projects WHERE project_id = :id", {"id": project_id})

    def tasks(self, customer_id: str | None, status: str | None) -> list[Row]:
        """Return follow-up tasks by due date; ``None`` matches all."""
        return self._database.rows(_TASKS, {"customer_id": customer_id, "status": status})

    def add_task(self, task: Mapping[str, str]) -> int:
        """Add a task (customer_id, kind, due_date, note); return its number."""
        self._database.change(_NEW_TASK, task)
        return int(self._database.rows("SELECT max(number) AS last FROM tasks")[0]["last"])
