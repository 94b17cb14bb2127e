"""Every rule, from both sides of it."""

from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.common.policy import Denied
from servers.hr.company import Department, Level, Location
from servers.hr.seed import generate
from tests.servers.data_governance.support import text_of
from tests.servers.hr.support import (
    EMPLOYEE,
    HR,
    MANAGER,
    READING,
    STRANGERS,
    fresh,
    shared,
    unchanging_server,
)

pytestmark = pytest.mark.anyio

MANAGER_OF = {row[0]: row[7] for row in generate().employees}
SALARY_OF = {row[0]: row[1] for row in generate().salaries}
SOME = [
    "EMP_0001",
    "EMP_0002",
    "EMP_0062",
    "EMP_0063",
    "EMP_0064",
    "EMP_0066",
    "EMP_0067",
    "EMP_0077",
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_employees", {"name": "Cohen"}),
    ("get_employee_profile", {"employee_id": "EMP_0067"}),
    ("list_departments", {}),
    ("get_salary", {"employee_id": "EMP_0067"}),
    ("get_salary_statistics", {"department": "Sales"}),
    ("get_leave", {"employee_id": "EMP_0067"}),
    (
        "request_leave",
        {"employee_id": "EMP_0067", "first_day": "2026-03-02", "last_day": "2026-03-02"},
    ),
    ("update_salary", {"employee_id": "EMP_0067", "new_salary": 70_000}),
]


async def test_changing_salaries_exists_for_hr_alone() -> None:
    async with shared() as server:
        assert await server.tools(HR) == READING | {"update_salary"}
        for user in (MANAGER, EMPLOYEE, *STRANGERS):
            assert await server.tools(user) == READING
            text = await server.text(
                user, "update_salary", employee_id="EMP_0067", new_salary=70_000
            )
            assert text == "Access denied: only HR may change a salary"


@pytest.mark.parametrize("user", STRANGERS, ids=repr)
async def test_without_a_known_role_nothing_is_given(user: Any) -> None:
    async with shared() as server:
        for tool, arguments in CALLS:
            result = await server.call(user, tool, **arguments)
            assert result.is_error
            assert text_of(result).startswith("Access denied: ")
            assert result.structured_content is None


def test_the_calls_above_are_of_every_tool() -> None:
    assert {tool for tool, _ in CALLS} == READING | {"update_salary"}


async def test_a_salary_and_leave_are_for_hr_for_oneself_and_for_ones_manager() -> None:
    async with shared() as server:
        for role, own, whose in product(("hr_admin", "manager", "employee"), SOME, SOME):
            user = {"role": role, "employee_id": own}
            may = (
                role == "hr_admin"
                or own == whose
                or (role == "manager" and MANAGER_OF[whose] == own)
            )
            for tool in ("get_salary", "get_leave"):
                result = await server.call(user, tool, employee_id=whose)
                assert result.is_error != may, (user, whose)
                assert str(SALARY_OF[whose]) not in text_of(result) or may


@pytest.mark.parametrize("own", [None, "", "emp_0067", 67, ["EMP_0067"], True], ids=repr)
@pytest.mark.parametrize("role", ["employee", "manager"])
async def test_an_id_that_is_missing_or_of_another_form_is_nobodys(role: str, own: Any) -> None:
    async with shared() as server:
        for whose in ("EMP_0001", "EMP_0067"):
            for tool in ("get_salary", "get_leave"):
                assert (
                    await server.call({"role": role, "employee_id": own}, tool, employee_id=whose)
                ).is_error
        profile = await server.data(
            {"role": role, "employee_id": own}, "get_employee_profile", employee_id="EMP_0067"
        )
        assert "home_address" not in profile


async def test_the_order_of_arguments_and_their_spelling_open_no_door() -> None:
    async with shared() as server:
        for spelling in ("emp_0064", " EMP_0064 ", "Emp_0064"):
            assert (await server.call(EMPLOYEE, "get_salary", employee_id=spelling)).is_error
        assert not (await server.call(EMPLOYEE, "get_salary", employee_id="emp_0067")).is_error


async def test_sick_days_are_for_hr_and_oneself() -> None:
    async with shared() as server:
        for user, seen in ((HR, True), (EMPLOYEE, True), (MANAGER, False)):
            leave = await server.data(user, "get_leave", employee_id="EMP_0067")
            assert ("sick_days" in leave) is seen
            assert leave["vacation_days_left"] == 26


async def test_personal_data_of_a_profile_is_for_hr_and_oneself() -> None:
    personal = {"date_of_birth", "home_address", "emergency_contact"}
    async with shared() as server:
        for user, seen in ((HR, personal), (EMPLOYEE, personal), (MANAGER, set())):
            profile = await server.data(user, "get_employee_profile", employee_id="EMP_0067")
            assert profile["name"] == "Tessa Cohen"
            assert profile.keys() & personal == seen


async def test_no_group_below_five_and_no_extremes_are_shown_outside_hr() -> None:
    groups = product(
        (None, *get_args(Department)), (None, *get_args(Level)), (None, *get_args(Location))
    )
    sizes: dict[bool, set[int]] = {True: set(), False: set()}
    async with shared() as server:
        for department, level, location in groups:
            given_filters = {"department": department, "level": level, "location": location}
            filters = {name: value for name, value in given_filters.items() if value}
            result = await server.call(EMPLOYEE, "get_salary_statistics", **filters)
            if "Nobody is in this group" in text_of(result):
                continue
            whole = await server.data(HR, "get_salary_statistics", **filters)
            sizes[result.is_error is True].add(whole["headcount"])
            if not result.is_error:
                assert result.structured_content == {
                    name: value
                    for name, value in whole.items()
                    if name not in ("lowest_salary", "highest_salary")
                }
    assert sizes[True] == {1, 2, 3, 4}
    assert min(sizes[False]) == 5


async def test_leave_is_requested_for_oneself_or_by_hr() -> None:
    day = {"first_day": "2026-03-02", "last_day": "2026-03-02"}
    async with fresh() as server:
        for user in (EMPLOYEE, MANAGER):
            text = await server.text(user, "request_leave", employee_id="EMP_0066", **day)
            assert text == "Access denied: employees may request leave only for themselves"
        assert (await server.data(HR, "get_leave", employee_id="EMP_0066"))["requests"] == []
        for user in (EMPLOYEE, HR):
            await server.data(user, "request_leave", employee_id="EMP_0067", **day)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(role=_json.filter(lambda role: role not in ("hr_admin", "manager", "employee")), own=_json)
def test_no_role_but_the_known_ones_opens_anything(role: Any, own: Any) -> None:
    policies = unchanging_server()._policies
    user = {
        name: value
        for name, value in {"role": role, "employee_id": own}.items()
        if value is not None
    }
    assert policies.hides("update_salary", user)
    for tool, arguments in CALLS:
        with pytest.raises(Denied):
            policies.check_call(tool, user, arguments)
