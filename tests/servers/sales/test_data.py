import hashlib
import json
from collections import Counter
from datetime import date

from servers.sales.catalog import FIRST_DAY, LAST_DAY, PRODUCTS
from servers.sales.database import SalesDatabase
from servers.sales.seed import CUSTOMERS, generate

DATA = generate()
DIGEST = "68a8e6c6e4f3513ce82c846c4b846834ea0fcb616d84500e3481763b0639c84a"


def test_the_data_is_the_same_everywhere_and_for_ever() -> None:
    data = json.dumps(
        [DATA.products, DATA.customers, DATA.orders, DATA.lines, DATA.projects, DATA.tasks]
    )
    assert hashlib.sha256(data.encode()).hexdigest() == DIGEST


def test_every_row_refers_to_rows_that_are_there() -> None:
    products = {row[0]: row for row in DATA.products}
    customers = {row[0] for row in DATA.customers}
    orders = {row[0]: row for row in DATA.orders}
    assert len(products) == sum(map(len, PRODUCTS.values()))
    assert len(customers) == len({row[1] for row in DATA.customers}) == CUSTOMERS
    assert {row[1] for row in DATA.orders} == customers
    assert {row[0] for row in DATA.lines} == orders.keys()
    for _order, product, quantity, cents in DATA.lines:
        assert quantity > 0
        assert cents == products[product][3] > 0
    for row in (*DATA.projects, *DATA.tasks):
        assert customers & set(row)


def test_orders_lie_in_the_two_years_and_after_the_customer_was_won() -> None:
    since = {row[0]: row[5] for row in DATA.customers}
    for _, customer, day in DATA.orders:
        assert FIRST_DAY <= date.fromisoformat(day) <= LAST_DAY
        assert day >= since[customer]


def test_there_are_projects_of_every_status_and_their_dates_fit_it() -> None:
    assert set(Counter(row[3] for row in DATA.projects)) == {
        "planned",
        "active",
        "on_hold",
        "completed",
        "cancelled",
    }
    for row in DATA.projects:
        status, start, due, done = row[3], row[5], row[6], row[8]
        assert start < due
        assert (status == "planned") == (start > LAST_DAY.isoformat())
        assert (status == "completed") == (done == 100)


def test_whoever_ordered_on_the_very_day_is_not_inactive_since_then() -> None:
    database = SalesDatabase()
    last = {
        customer: max(row[2] for row in DATA.orders if row[1] == customer)
        for customer, *_ in DATA.customers
    }
    for since in {*last.values()}:
        total, rows = database.inactive_customers(since, None, CUSTOMERS)
        assert {row["customer_id"] for row in rows} == {
            customer for customer, day in last.items() if day < since
        }
        assert total == len(rows)
