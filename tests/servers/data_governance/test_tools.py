import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from servers.data_governance.server import POLICIES, make_server
from tests.servers.data_governance.support import ADMIN, Caller, in_memory, meta, shared, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server() -> AsyncIterator[Caller]:
    """A server that the test does not change."""
    async with shared() as caller:
        yield caller


@pytest.fixture
async def fresh() -> AsyncIterator[Caller]:
    """A server of the test's own."""
    async with in_memory() as caller:
        yield caller


async def test_every_tool_tells_a_model_how_to_use_it() -> None:
    async with Client(make_server(POLICIES, {}), cache=None) as client:
        tools = (await client.list_tools(meta=meta(ADMIN))).tools
    assert len(tools) == 6
    for tool in tools:
        assert tool.title
        assert tool.description
        assert len(tool.description) > 80
        assert tool.annotations is not None
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        for name, parameter in tool.input_schema["properties"].items():
            assert parameter.get("description"), f"{tool.name}.{name}"
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in tools
        if tool.annotations
    }
    assert [name for name, (reads, _) in hints.items() if not reads] == [
        "update_customer",
        "delete_customer",
    ]
    assert [name for name, (_, destroys) in hints.items() if destroys] == [
        "update_customer",
        "delete_customer",
    ]


async def test_results_obey_their_output_schemas_for_every_role() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_customer_details", {"customer_id": "CUST_00042"}),
        ("get_customer_details", {"customer_id": "CUST_00042", "include_pii": True}),
        ("search_customers", {"city": "Toronto"}),
        ("search_customers", {"name": "nobody of that name"}),
        ("get_customer_purchase_history", {"customer_id": "CUST_00104"}),
        ("search_orders", {"customer_id": "CUST_00104", "limit": 50}),
        ("search_orders", {"min_amount": 999_999}),
        ("update_customer", {"customer_id": "CUST_00011", "status": "inactive"}),
        ("delete_customer", {"customer_id": "CUST_00012"}),
    ]
    validated = 0
    async with Client(make_server(POLICIES, {}), cache=None) as client:
        schemas = {
            tool.name: tool.output_schema
            for tool in (await client.list_tools(meta=meta(ADMIN))).tools
        }
        for role in ("admin", "analyst", "user"):
            for tool, arguments in calls:
                result = await client.call_tool(tool, arguments, meta=meta({"role": role}))
                if not result.is_error:
                    schema = schemas[tool]
                    assert schema is not None
                    Draft202012Validator(schema).validate(result.structured_content)
                    validated += 1
    assert validated == 9 + 6 + 6


async def test_details_hold_personal_data_only_when_asked_for(server: Caller) -> None:
    brief = await server.data(ADMIN, "get_customer_details", customer_id="CUST_00042")
    assert brief == {
        "customer_id": "CUST_00042",
        "name": "Omar Petrov",
        "city": "San Diego",
        "country": "United States",
        "segment": "enterprise",
        "status": "active",
        "customer_since": "2024-11-03",
    }
    whole = await server.data(
        ADMIN, "get_customer_details", customer_id="CUST_00042", include_pii=True
    )
    assert whole == brief | {
        "email": "omar.petrov42@example.com",
        "phone": "+1-619-555-0148",
        "address": "589 Chestnut Street",
        "date_of_birth": "2002-12-30",
        "national_id": "666-49-9598",
    }


@pytest.mark.parametrize("spelling", ["cust_00042", "Cust_00042", " CUST_00042 "])
async def test_an_id_is_read_however_it_is_written(server: Caller, spelling: str) -> None:
    for tool in ("get_customer_details", "get_customer_purchase_history"):
        assert (await server.data(ADMIN, tool, customer_id=spelling))["customer_id"] == "CUST_00042"
    orders = await server.data(ADMIN, "search_orders", customer_id=spelling)
    assert orders == await server.data(ADMIN, "search_orders", customer_id="CUST_00042")


@pytest.mark.parametrize(
    "tool",
    [
        "get_customer_details",
        "get_customer_purchase_history",
        "search_orders",
        "update_customer",
        "delete_customer",
    ],
)
async def test_a_customer_that_does_not_exist_is_an_error_that_guides(
    server: Caller, tool: str
) -> None:
    extra = {"status": "inactive"} if tool == "update_customer" else {}
    result = await server.call(ADMIN, tool, customer_id="cust_99999", **extra)
    assert result.is_error
    assert text_of(result) == (
        "Customer CUST_99999 was not found; ids look like CUST_00042; "
        "use search_customers to find a customer by name, city or segment"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "advice"),
    [
        ("get_customer_details", {}, "customer_id: Field required"),
        (
            "get_customer_details",
            {"customer_id": "42"},
            "ids look like CUST_00042; use search_customers",
        ),
        (
            "get_customer_details",
            {"customer_id": "CUST_00042", "includePii": True},
            "did you mean include_pii?",
        ),
        (
            "get_customer_details",
            {"customer_id": "CUST_00042", "include_pii": "maybe"},
            "valid boolean",
        ),
        ("search_customers", {"segment": "vip"}, "'consumer', 'small_business' or 'enterprise'"),
        ("search_customers", {"phone": "abc"}, "at least its last 4 digits"),
        ("search_customers", {"phone": "cust_00158"}, "give a phone number"),
        ("search_customers", {"limit": 1_000}, "less than or equal to 50"),
        ("search_orders", {"limit": 0}, "greater than or equal to 1"),
        ("search_orders", {"date_from": "2024"}, "write it as YYYY-MM-DD"),
        ("search_orders", {"date_from": "2024-02-30"}, "write it as YYYY-MM-DD"),
        (
            "search_orders",
            {"date_from": "2024-12-31", "date_to": "2024-01-01"},
            "date_from is after date_to",
        ),
        ("search_orders", {"min_amount": 10, "max_amount": 9}, "nothing can match"),
        ("search_orders", {"category": "spaceships"}, "'electronics', 'books'"),
        (
            "update_customer",
            {"customer_id": "CUST_00042"},
            "Nothing to change: give at least one of email",
        ),
        ("update_customer", {"customer_id": "CUST_00042", "email": "nowhere"}, "email: "),
    ],
)
async def test_a_wrong_argument_is_an_error_that_guides(
    server: Caller, tool: str, arguments: dict[str, object], advice: str
) -> None:
    result = await server.call(ADMIN, tool, **arguments)
    assert result.is_error
    assert advice in text_of(result)
    assert "pydantic" not in text_of(result)


async def test_an_error_does_not_repeat_what_was_sent(server: Caller) -> None:
    for tool, arguments in [
        ("get_customer_details", {"customer_id": "omar.petrov42@example.com"}),
        ("search_customers", {"segment": "omar.petrov42@example.com"}),
        ("update_customer", {"customer_id": "CUST_00042", "email": "omar.petrov42@example com"}),
    ]:
        result = await server.call(ADMIN, tool, **arguments)
        assert result.is_error
        assert "omar.petrov42" not in text_of(result)


async def test_an_unknown_tool_is_called_unknown(server: Caller) -> None:
    assert await server.text(ADMIN, "drop_table") == "Unknown tool: drop_table"


async def test_customers_are_found_by_part_of_a_name_without_accents_or_case(
    server: Caller,
) -> None:
    found = await server.data(ADMIN, "search_customers", name="JOSE", limit=50)
    assert {row["name"].split()[0] for row in found["customers"]} == {"José"}
    assert found["total_matches"] == len(found["customers"]) == 6


async def test_filters_combine(server: Caller) -> None:
    found = await server.data(
        ADMIN, "search_customers", city="toronto", segment="enterprise", country="Canada"
    )
    assert [row["customer_id"] for row in found["customers"]] == ["CUST_00254"]


@pytest.mark.parametrize("number", ["+1-619-555-0148", "(619) 555 0148", "6195550148"])
async def test_an_administrator_finds_a_customer_by_phone_however_it_is_written(
    server: Caller, number: str
) -> None:
    found = await server.data(ADMIN, "search_customers", phone=number)
    assert [row["name"] for row in found["customers"]] == ["Omar Petrov"]


async def test_a_search_is_a_bounded_page_with_totals_over_all_matches(server: Caller) -> None:
    everyone = await server.data(ADMIN, "search_customers")
    assert (everyone["total_matches"], len(everyone["customers"])) == (300, 10)
    orders = await server.data(ADMIN, "search_orders")
    assert (orders["total_orders"], len(orders["orders"])) == (3000, 10)
    assert len((await server.data(ADMIN, "search_orders", limit=50))["orders"]) == 50
    assert len(json.dumps(orders)) < 6_000


async def test_orders_of_a_year_are_those_of_that_year(server: Caller) -> None:
    year = {"date_from": "2024-01-01", "date_to": "2024-12-31"}
    found = await server.data(
        ADMIN, "search_orders", category="electronics", status="delivered", limit=50, **year
    )
    assert (found["total_orders"], found["total_amount"]) == (95, 17603.22)
    for order in found["orders"]:
        assert order["order_date"].startswith("2024-")
        assert (order["category"], order["status"]) == ("electronics", "delivered")
        assert order["amount"] == round(
            sum(item["quantity"] * item["unit_price"] for item in order["items"]), 2
        )


async def test_totals_of_parts_add_up_to_the_whole(server: Caller) -> None:
    whole = await server.data(ADMIN, "search_orders")
    parts = [
        await server.data(
            ADMIN, "search_orders", date_from=f"{year}-01-01", date_to=f"{year}-12-31"
        )
        for year in (2022, 2023, 2024, 2025)
    ]
    assert sum(part["total_orders"] for part in parts) == whole["total_orders"]
    assert round(sum(part["total_amount"] for part in parts), 2) == whole["total_amount"]


async def test_amount_limits_are_included(server: Caller) -> None:
    exact = await server.data(ADMIN, "search_orders", min_amount=104.25, max_amount=104.25)
    assert exact["total_orders"] > 0
    assert {order["amount"] for order in exact["orders"]} == {104.25}


async def test_a_purchase_history_counts_what_was_kept(server: Caller) -> None:
    history = await server.data(ADMIN, "get_customer_purchase_history", customer_id="CUST_00104")
    orders = (await server.data(ADMIN, "search_orders", customer_id="CUST_00104", limit=50))[
        "orders"
    ]
    kept = [order for order in orders if order["status"] not in ("cancelled", "returned")]
    assert len(kept) < len(orders)
    assert history["order_count"] == len(kept)
    assert history["lifetime_value"] == round(sum(order["amount"] for order in kept), 2) == 802.46
    assert [row["category"] for row in history["top_categories"]] == [
        "clothing",
        "sports",
        "home",
        "beauty",
    ]
    assert history["recent_orders"] == orders[:5]
    assert history["last_order"] == kept[0]["order_date"]


async def test_a_customer_without_orders_has_an_empty_history(server: Caller) -> None:
    for number in range(1, 301):
        history = await server.data(
            ADMIN, "get_customer_purchase_history", customer_id=f"CUST_{number:05d}"
        )
        if not history["recent_orders"]:
            assert (
                history["lifetime_value"],
                history["order_count"],
                history["average_order_value"],
            ) == (0, 0, 0)
            assert "first_order" not in history
            return
    pytest.fail("somebody never orders")


async def test_an_update_changes_what_was_given_and_nothing_else(fresh: Caller) -> None:
    before = await fresh.data(
        ADMIN, "get_customer_details", customer_id="CUST_00042", include_pii=True
    )
    done = await fresh.data(
        ADMIN, "update_customer", customer_id="cust_00042", status="inactive", city="Denver"
    )
    assert done == {"customer_id": "CUST_00042", "changed": ["city", "status"]}
    after = await fresh.data(
        ADMIN, "get_customer_details", customer_id="CUST_00042", include_pii=True
    )
    assert after == before | {"status": "inactive", "city": "Denver"}


async def test_a_deleted_customer_is_gone_with_all_orders(fresh: Caller) -> None:
    orders = await fresh.data(ADMIN, "search_orders", customer_id="CUST_00042")
    done = await fresh.data(ADMIN, "delete_customer", customer_id="CUST_00042")
    assert done == {
        "customer_id": "CUST_00042",
        "deleted": True,
        "orders_deleted": orders["total_orders"],
    }
    assert "was not found" in await fresh.text(
        ADMIN, "get_customer_details", customer_id="CUST_00042"
    )
    left = await fresh.data(ADMIN, "search_orders")
    assert left["total_orders"] == 3000 - orders["total_orders"]
