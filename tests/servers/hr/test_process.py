"""The server as the process that it is, for every tool and role, in both eras of the protocol."""

from typing import Any

import pytest

from tests.often import often
from tests.servers.data_governance.support import Mode, as_process, text_of
from tests.servers.hr.support import EMPLOYEE, HR, MANAGER, READING

pytestmark = pytest.mark.anyio

FREE: list[tuple[str, dict[str, Any]]] = [
    ("search_employees", {"name": "Cohen"}),
    ("get_employee_profile", {"employee_id": "EMP_0066"}),
    ("list_departments", {}),
    ("get_salary_statistics", {"department": "Sales"}),
]
SALARY = ("get_salary", {"employee_id": "EMP_0077"})
LEAVE = ("get_leave", {"employee_id": "EMP_0077"})
REQUEST = (
    "request_leave",
    {"employee_id": "EMP_0077", "first_day": "2026-03-02", "last_day": "2026-03-02"},
)
RAISE = ("update_salary", {"employee_id": "EMP_0077", "new_salary": 64_000})


@pytest.mark.parametrize("mode", often(["auto", "legacy"]))
async def test_every_tool_gives_every_role_what_it_may_have(mode: Mode) -> None:
    allowed: list[tuple[Any, list[tuple[str, dict[str, Any]]]]] = [
        (None, []),
        ({"role": None}, []),
        (EMPLOYEE, FREE),
        (MANAGER, [*FREE, SALARY, LEAVE]),
        ({"role": "employee", "employee_id": "EMP_0077"}, [*FREE, SALARY, LEAVE, REQUEST]),
        (HR, [*FREE, SALARY, LEAVE, REQUEST, RAISE]),
    ]
    async with as_process(module="servers.hr", mode=mode) as server:
        for user, calls in allowed:
            assert await server.tools(user) == (
                READING | {"update_salary"} if user is HR else READING
            )
            for tool, arguments in (*FREE, SALARY, LEAVE, REQUEST, RAISE):
                result = await server.call(user, tool, **arguments)
                if (tool, arguments) in calls:
                    assert not result.is_error, text_of(result)
                else:
                    assert text_of(result).startswith("Access denied: ")
