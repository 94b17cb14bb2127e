import hashlib
import json
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.common.database import fold
from servers.data_governance.database import CustomerDatabase
from servers.data_governance.seed import FIRST_DAY, LAST_DAY, generate
from tests.often import often

GOLDEN = "dd3b1a6071332a42d43c3c04da8ce5216b925c129d41878c44cfb5bd1a672435"
NO_FILTER = dict.fromkeys(("name", "email", "phone", "city", "country", "segment", "status"))

DATABASE = CustomerDatabase()
DATA = generate()


def dump(database: CustomerDatabase) -> str:
    return "\n".join(database._database._connection.iterdump())


def test_the_data_is_the_same_everywhere_and_for_ever() -> None:
    data = json.dumps([DATA.customers, DATA.orders, DATA.items])
    assert hashlib.sha256(data.encode()).hexdigest() == GOLDEN
    assert dump(CustomerDatabase()) == dump(DATABASE)


def test_the_data_is_believable() -> None:
    assert (len(DATA.customers), len(DATA.orders)) == (300, 3_000)
    since = {row[0]: date.fromisoformat(row[11]) for row in DATA.customers}
    lines = Counter(order_id for order_id, *_ in DATA.items)
    for order_id, customer_id, day, _status, _category, cents in DATA.orders:
        assert FIRST_DAY <= date.fromisoformat(day) <= LAST_DAY
        assert date.fromisoformat(day) >= since[customer_id]
        assert lines[order_id] >= 1
        assert cents > 0
    assert {row[3] for row in DATA.orders} == {
        "pending",
        "shipped",
        "delivered",
        "cancelled",
        "returned",
    }


def test_the_data_belongs_to_nobody() -> None:
    for row in DATA.customers:
        email, phone, national_id = row[2], row[3], row[8]
        assert email.rpartition("@")[2] in {"example.com", "example.net", "example.org"}
        assert phone[-8:-2] == "555-01"
        assert national_id.startswith(("666-", "000-"))
    for column in (0, 2, 3, 8):
        assert len({row[column] for row in DATA.customers}) == len(DATA.customers)


@given(
    st.text(max_size=5)
    | st.sampled_from(["%", "_", "\\", "' OR 1=1 --", "o'", "%a%", "\\%", "jose", "É", "\0"])
)
def test_a_name_filter_finds_exactly_the_names_that_contain_it(part: str) -> None:
    wanted = fold(part)
    expected = [row[0] for row in DATA.customers if wanted in fold(row[1])]
    count, rows = DATABASE.search_customers({**NO_FILTER, "name": part}, 300)
    assert [row["customer_id"] for row in rows] == expected
    assert count == len(expected)


@pytest.mark.parametrize("field", NO_FILTER)
@pytest.mark.parametrize(
    "attack",
    often(["' OR '1'='1", "x'; DROP TABLE customers; --", '" OR 1=1 --', "%", "_", "\\"], 2),
)
def test_sql_in_a_filter_is_just_a_text_that_nobody_has(field: str, attack: str) -> None:
    before = dump(DATABASE)
    assert DATABASE.search_customers({**NO_FILTER, field: attack + "9999"}, 300) == (0, [])
    assert dump(DATABASE) == before


def test_sql_in_a_new_value_is_stored_as_it_is() -> None:
    database = CustomerDatabase()
    attack = "x', status = 'suspended' WHERE 1=1; --"
    changes = {
        "email": None,
        "phone": None,
        "address": attack,
        "city": None,
        "segment": None,
        "status": None,
    }
    database.update_customer("CUST_00042", changes)
    changed = database.customer("CUST_00042")
    assert changed is not None
    assert (changed["address"], changed["status"]) == (attack, "active")
    assert database.customer("CUST_00041") == DATABASE.customer("CUST_00041")
