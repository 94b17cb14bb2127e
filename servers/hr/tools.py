"""The tools, as a model sees them and as they work on the database."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Final, cast

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool

from ..common.database import Row
from ..common.hints import ADDS, OVERWRITES, READS
from ..common.parameters import RowLimit
from ..common.toolkit import check_range, fields_of, make_tool
from . import arguments as a
from . import results as r
from .company import AS_OF, LEAVE_YEAR
from .database import HrDatabase

_SATURDAY: Final = 5


def make_tools(database: HrDatabase) -> list[Tool]:
    """Return all tools over ``database``."""
    tools = HrTools(database)
    return [
        make_tool(tools.search_employees, "Search employees", READS),
        make_tool(tools.get_employee_profile, "Employee profile", READS),
        make_tool(tools.list_departments, "Departments", READS),
        make_tool(tools.get_salary, "Salary of an employee", READS),
        make_tool(tools.get_salary_statistics, "Salary statistics", READS),
        make_tool(tools.get_leave, "Leave of an employee", READS),
        make_tool(tools.request_leave, "Request leave", ADDS),
        make_tool(tools.update_salary, "Change a salary", OVERWRITES),
    ]


class HrTools:
    """Each public method is a tool and its docstring the tool's description.

    They are coroutines that never wait: the database is in memory, and one thread uses it.
    """

    def __init__(self, database: HrDatabase) -> None:
        """Work on ``database``."""
        self._database = database

    async def search_employees(
        self,
        name: a.NamePart = None,
        title: a.TitlePart = None,
        department: a.DepartmentFilter = None,
        location: a.LocationFilter = None,
        manager_id: a.ReportsTo = None,
        limit: RowLimit = 10,
    ) -> r.EmployeePage:
        """Find employees in the company directory

        by name, job title, department, location or manager.

        Filters combine. Returns how many employees match and lists the first of them with id, email
        and manager. Use it to find the id of an employee who is only named, or all direct reports
        of a manager.
        """
        filters = {"name": name, "title": title, "department": department, "location": location}
        if manager_id is not None:
            self._existing(manager_id)
        total, rows = self._database.search({**filters, "manager_id": manager_id}, limit)
        return r.EmployeePage(
            total_matches=total,
            employees=[cast("r.EmployeeSummary", _given(row, r.EmployeeSummary)) for row in rows],
        )

    async def get_employee_profile(self, employee_id: a.EmployeeId) -> r.EmployeeProfile:
        """Show one employee's profile:

        job title, department, manager, number of direct reports, start date.

        It has what employees write about themselves, and personal data (date of birth, home
        address, emergency contact) for those who may see it. Salary and leave have tools of their
        own.
        """
        return cast("r.EmployeeProfile", _given(self._existing(employee_id), r.EmployeeProfile))

    async def list_departments(self) -> r.Departments:
        """List all departments with their headcount and who leads them."""
        departments = [cast("r.DepartmentEntry", row) for row in self._database.departments()]
        return r.Departments(
            total_headcount=sum(department["headcount"] for department in departments),
            departments=departments,
        )

    async def get_salary(self, employee_id: a.EmployeeId) -> r.Salary:
        """Show what one employee earns: annual salary, since when, and the salary before it.

        To compare groups, or for an average, use get_salary_statistics instead of fetching salaries
        one by one.
        """
        employee = self._existing(employee_id)
        salary = self._database.salary(employee_id)
        raised = salary["annual_salary"] / salary["previous_salary"] - 1
        whole = employee | salary | {"currency": "USD", "raise_percent": round(100 * raised, 2)}
        return cast("r.Salary", _given(whole, r.Salary))

    async def get_salary_statistics(
        self,
        department: a.DepartmentFilter = None,
        level: a.LevelFilter = None,
        location: a.LocationFilter = None,
    ) -> r.SalaryStatistics:
        """Compute the average and median salary of a group, without naming anyone.

        The group is a department, a level or a location, or where they meet; without any of them it
        is the whole company.
        """
        found = self._database.salary_statistics(
            {"department": department, "level": level, "location": location}
        )
        if found is None:
            raise ToolError("Nobody is in this group; leave out a filter, or see list_departments")
        return cast("r.SalaryStatistics", {"currency": "USD", **found})

    async def get_leave(self, employee_id: a.EmployeeId) -> r.Leave:
        """Show one employee's leave:

        vacation days of the year, booked and left, sick days, and pending requests.
        """
        employee = self._existing(employee_id)
        leave = self._database.leave(employee_id)
        left = leave["vacation_days"] - leave["vacation_days_booked"]
        requests = [fields_of(request, r.LeaveRequest) for request in leave["requests"]]
        whole = (
            employee
            | leave
            | {"leave_year": LEAVE_YEAR, "vacation_days_left": left, "requests": requests}
        )
        return cast("r.Leave", _given(whole, r.Leave))

    async def request_leave(
        self,
        employee_id: a.EmployeeId,
        first_day: a.FirstDay,
        last_day: a.LastDay,
        leave_type: a.KindOfLeave = "vacation",
    ) -> r.LeaveRequested:
        """Ask for days off for an employee.

        The request waits for the manager's approval. Vacation is taken from the days that are left;
        see get_leave. Use it only when somebody asks to book days off, never to look something up.
        """
        self._existing(employee_id)
        check_range("first_day", first_day, "last_day", last_day)
        if first_day <= AS_OF or not last_day.startswith(str(LEAVE_YEAR)):
            raise ToolError(
                f"Leave can be requested for {LEAVE_YEAR} only, from {LEAVE_YEAR}-01-01 to "
                f"{LEAVE_YEAR}-12-31"
            )
        days = _working_days(date.fromisoformat(first_day), date.fromisoformat(last_day))
        leave = self._database.leave(employee_id)
        left = int(leave["vacation_days"] - leave["vacation_days_booked"])
        taken = days if leave_type == "vacation" else 0
        if taken > left:
            raise ToolError(
                f"This is {days} working days, and only {left} vacation days are left; shorten the "
                "period"
            )
        request = {
            "employee_id": employee_id,
            "leave_type": leave_type,
            "first_day": first_day,
            "last_day": last_day,
        }
        number = self._database.request_leave({**request, "working_days": days})
        return r.LeaveRequested(
            request_id=number,
            employee_id=employee_id,
            status="pending",
            working_days=days,
            vacation_days_left=left - taken,
        )

    async def update_salary(
        self,
        employee_id: a.EmployeeId,
        new_salary: a.NewSalary,
        effective_from: a.EffectiveFrom = "2026-01-01",
    ) -> r.SalaryUpdated:
        """Change one employee's salary; it replaces the salary they have.

        Use it only when the user asks to set, raise or change a salary and says to how much, never
        to look one up.
        """
        self._existing(employee_id)
        old = self._database.salary(employee_id)["annual_salary"]
        self._database.update_salary(employee_id, new_salary, effective_from)
        return r.SalaryUpdated(
            employee_id=employee_id,
            currency="USD",
            old_salary=old,
            new_salary=new_salary,
            effective_since=effective_from,
        )

    def _existing(self, employee_id: str) -> Row:
        employee = self._database.employee(employee_id)
        if employee is None:
            raise ToolError(
                f"Employee {employee_id} was not found; ids look like EMP_0042; "
                "use search_employees to find an employee by name"
            )
        return employee


def _given(row: Row, kind: type) -> dict[str, Any]:
    """Return the columns that a result of this ``kind`` has, without those that hold nothing."""
    return {name: value for name, value in fields_of(row, kind).items() if value is not None}


def _working_days(first: date, last: date) -> int:
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return sum(day.weekday() < _SATURDAY for day in days)
