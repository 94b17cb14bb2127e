from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from servers.hr.server import POLICIES, make_server
from tests.servers.data_governance.support import meta, text_of
from tests.servers.hr.support import EMPLOYEE, HR, MANAGER, READING, fresh, shared

pytestmark = pytest.mark.anyio


async def test_every_tool_tells_a_model_how_to_use_it() -> None:
    async with Client(make_server(POLICIES, {}), cache=None) as client:
        tools = (await client.list_tools(meta=meta(HR))).tools
    assert {tool.name for tool in tools} == READING | {"update_salary"}
    for tool in tools:
        assert tool.title
        assert len(tool.description or "") > 60
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema or {})
        for name, parameter in tool.input_schema["properties"].items():
            assert parameter.get("description"), f"{tool.name}.{name}"
    hints = {tool.name: tool.annotations for tool in tools if tool.annotations}
    assert {name for name, hint in hints.items() if not hint.read_only_hint} == {
        "request_leave",
        "update_salary",
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"update_salary"}
    assert hints["update_salary"].idempotent_hint
    assert not hints["request_leave"].idempotent_hint


async def test_results_obey_their_output_schemas_for_every_role() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_employees", {"department": "Legal"}),
        ("search_employees", {"name": "nobody of that name"}),
        ("get_employee_profile", {"employee_id": "EMP_0001"}),
        ("get_employee_profile", {"employee_id": "EMP_0067"}),
        ("list_departments", {}),
        ("get_salary", {"employee_id": "EMP_0067"}),
        ("get_salary_statistics", {}),
        (
            "request_leave",
            {"employee_id": "EMP_0067", "first_day": "2026-03-02", "last_day": "2026-03-03"},
        ),
        ("get_leave", {"employee_id": "EMP_0067"}),
        ("update_salary", {"employee_id": "EMP_0067", "new_salary": 70_000}),
    ]
    validated = 0
    async with Client(make_server(POLICIES, {}), cache=None) as client:
        schemas = {
            tool.name: tool.output_schema for tool in (await client.list_tools(meta=meta(HR))).tools
        }
        for user in (HR, MANAGER, EMPLOYEE):
            for tool, arguments in calls:
                result = await client.call_tool(tool, arguments, meta=meta(user))
                if not result.is_error:
                    Draft202012Validator(schemas[tool] or {}).validate(result.structured_content)
                    validated += 1
    assert validated == 10 + 8 + 9


async def test_a_search_finds_ids_titles_and_reports() -> None:
    async with shared() as server:
        found = await server.data(EMPLOYEE, "search_employees", name="tessa cohen")
        assert found == {
            "total_matches": 1,
            "employees": [
                {
                    "employee_id": "EMP_0067",
                    "name": "Tessa Cohen",
                    "email": "tessa.cohen@example.com",
                    "title": "Support Engineer",
                    "department": "Customer Support",
                    "level": "mid",
                    "location": "Remote",
                    "manager_id": "EMP_0064",
                }
            ],
        }
        reports = await server.data(EMPLOYEE, "search_employees", manager_id="emp_0062")
        assert [one["employee_id"] for one in reports["employees"]] == ["EMP_0063", "EMP_0064"]
        few = await server.data(
            EMPLOYEE, "search_employees", department="Engineering", title="director", limit=1
        )
        assert few["employees"][0]["name"] == "Tariq Tanaka"
        many = await server.data(EMPLOYEE, "search_employees", department="Engineering", limit=3)
        assert (many["total_matches"], len(many["employees"])) == (38, 3)


async def test_the_chief_executive_has_no_manager_in_any_result() -> None:
    async with shared() as server:
        for tool in ("get_employee_profile", "get_salary", "get_leave"):
            assert not (await server.data(HR, tool, employee_id="EMP_0001")).keys() & {
                "manager_id",
                "manager_name",
            }
        profile = await server.data(HR, "get_employee_profile", employee_id="EMP_0001")
        assert profile["direct_reports"] == 8


async def test_departments_add_up() -> None:
    async with shared() as server:
        found = await server.data(EMPLOYEE, "list_departments")
    assert found["total_headcount"] == sum(one["headcount"] for one in found["departments"]) == 120
    support = next(one for one in found["departments"] if one["department"] == "Customer Support")
    assert support == {
        "department": "Customer Support",
        "headcount": 20,
        "head_id": "EMP_0062",
        "head_name": "José Moreau",
    }


async def test_statistics_agree_with_the_salaries_of_the_group() -> None:
    async with shared() as server:
        whole = await server.data(HR, "get_salary_statistics", department="Legal")
        salaries = [
            (await server.data(HR, "get_salary", employee_id=one))["annual_salary"]
            for one in ("EMP_0118", "EMP_0119", "EMP_0120")
        ]
    assert whole == {
        "currency": "USD",
        "headcount": 3,
        "average_salary": round(sum(salaries) / 3),
        "median_salary": sorted(salaries)[1],
        "lowest_salary": min(salaries),
        "highest_salary": max(salaries),
    }


async def test_leave_that_was_requested_shows_and_counts() -> None:
    async with fresh() as server:
        asked = await server.data(
            EMPLOYEE,
            "request_leave",
            employee_id="EMP_0067",
            first_day="2026-07-03",
            last_day="2026-07-14",
        )
        assert (asked["working_days"], asked["vacation_days_left"], asked["status"]) == (
            8,
            18,
            "pending",
        )
        unpaid = await server.data(
            EMPLOYEE,
            "request_leave",
            employee_id="EMP_0067",
            first_day="2026-05-04",
            last_day="2026-05-04",
            leave_type="unpaid",
        )
        assert unpaid["vacation_days_left"] == 18
        leave = await server.data(EMPLOYEE, "get_leave", employee_id="EMP_0067")
    assert (leave["vacation_days_booked"], leave["vacation_days_left"]) == (10, 18)
    assert [(one["request_id"], one["leave_type"]) for one in leave["requests"]] == [
        (2, "unpaid"),
        (1, "vacation"),
    ]


async def test_a_salary_that_was_changed_is_the_new_one_and_again_changes_nothing() -> None:
    change = {"employee_id": "EMP_0067", "new_salary": 70_000, "effective_from": "2026-04-01"}
    async with fresh() as server:
        assert await server.data(HR, "update_salary", **change) == {
            "employee_id": "EMP_0067",
            "currency": "USD",
            "old_salary": 64_500,
            "new_salary": 70_000,
            "effective_since": "2026-04-01",
        }
        once = await server.data(HR, "get_salary", employee_id="EMP_0067")
        await server.data(HR, "update_salary", **change)
        assert await server.data(HR, "get_salary", employee_id="EMP_0067") == once
    assert (once["annual_salary"], once["previous_salary"], once["raise_percent"]) == (
        70_000,
        64_500,
        8.53,
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "advice"),
    [
        ("get_salary", {}, "employee_id: Field required"),
        (
            "get_salary",
            {"employee_id": "Lucia Chen"},
            "ids look like EMP_0042; use search_employees to find one",
        ),
        (
            "get_salary",
            {"employee_id": "EMP_9999"},
            "Employee EMP_9999 was not found; ids look like EMP_0042",
        ),
        (
            "get_leave",
            {"employee_id": "EMP_9999"},
            "use search_employees to find an employee by name",
        ),
        ("get_employee_profile", {"employee_id": "EMP_9999"}, "was not found"),
        ("search_employees", {"manager_id": "EMP_9999"}, "was not found"),
        ("search_employees", {"departement": "Sales"}, "did you mean department?"),
        ("search_employees", {"department": "HR"}, "'Legal'"),
        ("search_employees", {"limit": 51}, "less than or equal to 50"),
        (
            "get_salary_statistics",
            {"department": "Legal", "level": "manager"},
            "Nobody is in this group",
        ),
        ("update_salary", {"employee_id": "EMP_9999", "new_salary": 70_000}, "was not found"),
        (
            "update_salary",
            {"employee_id": "EMP_0067", "new_salary": 7_000},
            "greater than or equal to 20000",
        ),
        ("update_salary", {"employee_id": "EMP_0067", "new_salary": 70_000.5}, "valid integer"),
        (
            "update_salary",
            {"employee_id": "EMP_0067", "new_salary": 70_000, "effective_from": "March"},
            "YYYY-MM-DD",
        ),
    ],
)
async def test_a_wrong_argument_is_an_error_that_guides(
    tool: str, arguments: dict[str, Any], advice: str
) -> None:
    async with shared() as server:
        result = await server.call(HR, tool, **arguments)
    assert result.is_error
    assert advice in text_of(result)


@pytest.mark.parametrize(
    ("first", "last", "advice"),
    [
        ("2026-03-09", "2026-03-02", "first_day is after last_day"),
        ("2025-03-02", "2025-03-09", "for 2026 only"),
        ("2026-12-30", "2027-01-02", "for 2026 only"),
        ("2026-02-30", "2026-03-02", "write it as YYYY-MM-DD"),
        ("2026-03-02", "2026-06-30", "This is 87 working days, and only 26 vacation days are left"),
    ],
)
async def test_leave_that_cannot_be_is_refused_with_the_reason(
    first: str, last: str, advice: str
) -> None:
    async with shared() as server:
        result = await server.call(
            EMPLOYEE, "request_leave", employee_id="EMP_0067", first_day=first, last_day=last
        )
        assert result.is_error
        assert advice in text_of(result)
        assert (await server.data(EMPLOYEE, "get_leave", employee_id="EMP_0067"))["requests"] == []
