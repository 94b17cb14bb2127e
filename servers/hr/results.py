"""The results of the tools: output schemas, field by field.

Fields that a policy may take out are never required.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field

# `typing.TypedDict` is one that pydantic cannot read before Python 3.12.
from typing_extensions import TypedDict

from ..common.toolkit import closed
from .company import Department, LeaveStatus, LeaveType, Level, Location

Count: TypeAlias = Annotated[int, Field(ge=0)]
Dollars: TypeAlias = Annotated[int, Field(description="US dollars a year, gross.")]
Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD.")]
ManagerId: TypeAlias = Annotated[
    str, Field(description="Whom they report to; absent for the chief executive.")
]


@closed
class EmployeeSummary(TypedDict):
    """An employee as the company directory shows them."""

    employee_id: str
    name: str
    email: str
    title: str
    department: Department
    level: Level
    location: Location
    manager_id: NotRequired[ManagerId]


@closed
class EmployeePage(TypedDict):
    """Employees that match a search, no more than were asked for."""

    total_matches: Annotated[
        Count, Field(description="All employees that match, also those not shown.")
    ]
    employees: list[EmployeeSummary]


@closed
class EmployeeProfile(EmployeeSummary):
    """One employee; personal data only for those who may see it."""

    manager_name: NotRequired[str]
    direct_reports: Count
    start_date: Day
    about: Annotated[str, Field(description="What the employee wrote about themselves; unchecked.")]
    date_of_birth: NotRequired[Annotated[str, Field(description="YYYY-MM-DD; personal data.")]]
    home_address: NotRequired[Annotated[str, Field(description="Personal data.")]]
    emergency_contact: NotRequired[Annotated[str, Field(description="Personal data.")]]


@closed
class DepartmentEntry(TypedDict):
    """A department."""

    department: Department
    headcount: Count
    head_id: str
    head_name: str


@closed
class Departments(TypedDict):
    """All departments."""

    total_headcount: Count
    departments: Annotated[list[DepartmentEntry], Field(description="The largest first.")]


@closed
class Salary(TypedDict):
    """What one employee earns."""

    employee_id: str
    name: str
    manager_id: NotRequired[ManagerId]
    currency: Literal["USD"]
    annual_salary: Dollars
    effective_since: Day
    previous_salary: Dollars
    raise_percent: Annotated[
        float, Field(description="Change from the previous salary, in percent.")
    ]


@closed
class SalaryStatistics(TypedDict):
    """What a group earns."""

    currency: Literal["USD"]
    headcount: Annotated[Count, Field(description="People in the group.")]
    average_salary: Dollars
    median_salary: Dollars
    lowest_salary: NotRequired[
        Annotated[int, Field(description="US dollars a year; one person's salary.")]
    ]
    highest_salary: NotRequired[
        Annotated[int, Field(description="US dollars a year; one person's salary.")]
    ]


@closed
class LeaveRequest(TypedDict):
    """Leave that was asked for."""

    request_id: int
    leave_type: LeaveType
    first_day: Day
    last_day: Day
    working_days: Count
    status: LeaveStatus


@closed
class Leave(TypedDict):
    """One employee's leave of the year."""

    employee_id: str
    name: str
    manager_id: NotRequired[ManagerId]
    leave_year: int
    vacation_days: Annotated[Count, Field(description="Days that the employee has in this year.")]
    vacation_days_booked: Count
    vacation_days_left: int
    sick_days: NotRequired[
        Annotated[int, Field(description="Days of the last twelve months; health data.")]
    ]
    requests: Annotated[list[LeaveRequest], Field(description="New requests, by first day.")]


@closed
class LeaveRequested(TypedDict):
    """What became of a request for leave."""

    request_id: int
    employee_id: str
    status: LeaveStatus
    working_days: Annotated[Count, Field(description="Days from Monday to Friday in the period.")]
    vacation_days_left: int


@closed
class SalaryUpdated(TypedDict):
    """A salary after a change."""

    employee_id: str
    currency: Literal["USD"]
    old_salary: Dollars
    new_salary: Dollars
    effective_since: Day
