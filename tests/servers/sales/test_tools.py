from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from servers.sales.server import make_server
from tests.servers.data_governance.support import text_of
from tests.servers.sales.support import ANYBODY, TOOLS, agree, fresh, shared

pytestmark = pytest.mark.anyio

TASK = {"customer_id": "CUS_062", "due_date": "2026-01-20", "note": "Ask about the next order."}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_products", {"category": "electronics", "max_results": 3}),
    ("search_products", {"text": "nothing of that name"}),
    ("analyze_sales", {}),
    (
        "analyze_sales",
        {"product_id": "prd_009", "date_from": "2024-01-01", "date_to": "2024-06-30"},
    ),
    ("analyze_sales", {"category": "software"}),
    ("search_customers", {"segment": "enterprise", "region": "North America"}),
    ("find_inactive_customers", {}),
    ("get_churn_risk", {"customer_id": "cus_058"}),
    ("list_projects", {}),
    ("list_projects", {"status": "on_hold", "name": "atlas"}),
    ("get_project", {"project_id": "prj_007"}),
    ("create_followup_task", TASK),
    ("list_followup_tasks", {}),
    ("list_followup_tasks", {"customer_id": "CUS_071", "status": "open"}),
    ("delete_project", {"project_id": "PRJ_007"}),
]


@pytest.mark.parametrize(
    "given",
    [
        {"date_from": "2024-01-01", "date_to": "9999-12-31"},
        {"date_from": "0001-01-01"},
        {"date_from": "1000-01-01", "date_to": "9999-12-31"},
    ],
)
async def test_a_period_that_reaches_beyond_the_data_is_what_there_is_of_it(
    given: dict[str, Any],
) -> None:
    async with shared() as server:
        whole = await server.data(
            ANYBODY, "analyze_sales", date_from="2024-01-01", date_to="2025-12-31"
        )
        assert await server.data(ANYBODY, "analyze_sales", **given) == whole


async def test_every_tool_tells_a_model_how_to_use_it_and_its_results_obey_its_schema() -> None:
    async with Client(make_server(), cache=None, elicitation_callback=agree) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, text_of(result)
            Draft202012Validator(tools[name].output_schema or {}).validate(
                result.structured_content
            )
    assert tools.keys() == TOOLS == {name for name, _ in CALLS}
    for tool in tools.values():
        assert tool.title
        assert len(tool.description or "") > 60
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.input_schema)
        for name, parameter in tool.input_schema["properties"].items():
            assert parameter.get("description"), f"{tool.name}.{name}"
    hints = {tool.name: tool.annotations for tool in tools.values() if tool.annotations}
    assert {name for name, hint in hints.items() if not hint.read_only_hint} == {
        "create_followup_task",
        "delete_project",
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"delete_project"}


async def test_products_are_found_by_category_name_price_and_stock() -> None:
    async with shared() as server:
        found = await server.data(ANYBODY, "search_products", category="electronics", max_results=2)
        assert (found["total_matches"], len(found["products"])) == (8, 2)
        cheap = await server.data(ANYBODY, "search_products", category="networking", max_price=119)
        assert [one["name"] for one in cheap["products"]] == [
            "Switchyard 8-port",
            "Patch Panel 24",
            "Fiber Module SFP+",
        ]
        desks = await server.data(ANYBODY, "search_products", text="ATLAS")
        assert [one["price"] for one in desks["products"]] == [649.0, 385.0]
        everything = await server.data(ANYBODY, "search_products", max_results=50)
        in_stock = await server.data(ANYBODY, "search_products", in_stock_only=True, max_results=50)
        assert (
            in_stock["total_matches"]
            == sum(one["stock"] > 0 for one in everything["products"])
            < 48
        )


async def test_inactive_customers_have_not_ordered_for_so_long() -> None:
    async with shared() as server:
        half = await server.data(ANYBODY, "find_inactive_customers", months=6, max_results=50)
        year = await server.data(ANYBODY, "find_inactive_customers", months=12)
        assert half["no_order_since"] == "2025-07-01"
        assert all(one["last_order_date"] < "2025-07-01" for one in half["customers"])
        assert half["customers"] == sorted(half["customers"], key=lambda one: -one["revenue"])
        assert [one["name"] for one in year["customers"]] == ["Harbor Realty", "Yarrow Logistics"]
        small = await server.data(
            ANYBODY, "find_inactive_customers", segment="small_business", max_results=50
        )
        assert {one["segment"] for one in small["customers"]} == {"small_business"}
        assert 0 < small["total_matches"] < half["total_matches"]


async def test_churn_risk_agrees_with_what_is_known_of_the_customer() -> None:
    async with shared() as server:
        risk = await server.data(ANYBODY, "get_churn_risk", customer_id="CUS_058")
        found = await server.data(ANYBODY, "search_customers", name="atlas interiors")
    customer = found["customers"][0]
    assert (risk["name"], risk["risk_level"], risk["risk_score"]) == (
        "Atlas Interiors",
        "high",
        100,
    )
    assert risk["last_order_date"] == customer["last_order_date"] == "2025-04-20"
    assert risk["account_owner"] == customer["account_owner"]


async def test_a_project_is_overdue_only_while_it_goes_on() -> None:
    async with shared() as server:
        projects = (await server.data(ANYBODY, "list_projects"))["projects"]
    late = {
        one["status"] for one in projects if one["due_date"] < "2025-12-31" and not one["overdue"]
    }
    assert late == {"completed", "cancelled"}
    assert {one["status"] for one in projects if one["overdue"]} == {"active"}


async def test_a_deleted_project_is_gone_and_the_others_stay() -> None:
    async with fresh() as server:
        before = await server.data(ANYBODY, "list_projects")
        gone = await server.data(ANYBODY, "delete_project", project_id="prj_017")
        assert gone == {"project_id": "PRJ_017", "name": "Customer portal", "deleted": True}
        after = await server.data(ANYBODY, "list_projects")
        assert after["projects"] == [
            one for one in before["projects"] if one["project_id"] != "PRJ_017"
        ]
        assert (await server.call(ANYBODY, "delete_project", project_id="PRJ_017")).is_error


async def test_each_call_creates_one_more_task() -> None:
    async with fresh() as server:
        for number in (9, 10):
            task = await server.data(ANYBODY, "create_followup_task", **TASK)
            assert task == {
                "task_id": f"TSK_{number:03d}",
                "customer_id": "CUS_062",
                "customer": "Nimbus Bakeries",
                "kind": "call",
                "due_date": "2026-01-20",
                "note": "Ask about the next order.",
                "status": "open",
            }
        listed = await server.data(ANYBODY, "list_followup_tasks", customer_id="CUS_062")
        assert [one["task_id"] for one in listed["tasks"]] == ["TSK_009", "TSK_010"]


@pytest.mark.parametrize(
    ("tool", "arguments", "advice"),
    [
        ("search_products", {"category": "toys"}, "'electronics', 'furniture'"),
        ("search_products", {"max_results": 0}, "greater than or equal to 1"),
        ("search_products", {"limit": 5}, "unknown argument limit"),
        (
            "analyze_sales",
            {"product_id": "desk"},
            "ids look like PRD_042; use search_products to find one",
        ),
        (
            "analyze_sales",
            {"product_id": "PRD_999"},
            "use search_products to find a product by name",
        ),
        (
            "analyze_sales",
            {"product_id": "PRD_009", "category": "software"},
            "category furniture; leave category out",
        ),
        (
            "analyze_sales",
            {"date_from": "2025-06-01", "date_to": "2025-01-01"},
            "date_from is after date_to",
        ),
        ("analyze_sales", {"date_from": "last year"}, "write it as YYYY-MM-DD"),
        (
            "analyze_sales",
            {"date_to": "0001-01-01"},
            "no data for this period: it begins on 2024-01-01 and ends on",
        ),
        ("analyze_sales", {"date_from": "2026-01-01"}, "no data for this period"),
        (
            "analyze_sales",
            {"date_from": "2024-01-01", "date_to": "0001-01-01"},
            "date_from is after date_to",
        ),
        (
            "get_churn_risk",
            {"customer_id": "CUS_950"},
            "use search_customers to find a customer by name",
        ),
        (
            "get_churn_risk",
            {"customer_id": "Harbor Foods"},
            "ids look like CUS_042; use search_customers",
        ),
        ("find_inactive_customers", {"months": 0}, "greater than or equal to 1"),
        ("list_projects", {"status": "paused"}, "'on_hold'"),
        ("list_projects", {"customer_id": "CUS_950"}, "was not found"),
        ("list_followup_tasks", {"customer_id": "CUS_950"}, "was not found"),
        ("get_project", {"project_id": "PRJ_950"}, "use list_projects to find a project by name"),
        ("delete_project", {"project_id": "Atlas"}, "ids look like PRJ_042; use list_projects"),
        ("create_followup_task", {**TASK, "customer_id": "CUS_950"}, "was not found"),
        ("create_followup_task", {**TASK, "due_date": "2025-12-31"}, "due_date is in the past"),
        ("create_followup_task", {**TASK, "note": ""}, "at least 1 character"),
    ],
)
async def test_a_wrong_argument_is_an_error_that_guides(
    tool: str, arguments: dict[str, Any], advice: str
) -> None:
    async with shared() as server:
        result = await server.call(ANYBODY, tool, **arguments)
    assert result.is_error
    assert advice in text_of(result)
