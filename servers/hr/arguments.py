"""The arguments of the tools: types, and descriptions for the model."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import Field

from ..common.parameters import Day, IdForm, Text
from .company import Department, LeaveType, Level, Location

LOWEST_SALARY: Final = 20_000
HIGHEST_SALARY: Final = 2_000_000
"""Beyond these bounds a salary is a slip of the keyboard."""

_Id: TypeAlias = Annotated[
    str,
    IdForm(
        prefix="EMP",
        digits=4,
        thing="an employee",
        advice="use search_employees to find one by name",
    ),
]

EmployeeId: TypeAlias = Annotated[
    _Id,
    Field(
        description="Id of the employee, such as EMP_0042. Case does not matter. search_employees "
        "finds ids."
    ),
]
NamePart: TypeAlias = Annotated[
    Text | None, Field(description="Name of the employee or a part of it, such as Rossi.")
]
TitlePart: TypeAlias = Annotated[
    Text | None, Field(description="Job title or a part of it, such as Engineer.")
]
DepartmentFilter: TypeAlias = Annotated[
    Department | None, Field(description="Only employees of this department.")
]
LevelFilter: TypeAlias = Annotated[
    Level | None, Field(description="Only employees of this level of seniority.")
]
LocationFilter: TypeAlias = Annotated[
    Location | None, Field(description="Only employees at this location.")
]
ReportsTo: TypeAlias = Annotated[
    _Id | None,
    Field(
        description="Only direct reports of this manager, given by the manager's id, such as "
        "EMP_0042."
    ),
]

NewSalary: TypeAlias = Annotated[
    int,
    Field(
        ge=LOWEST_SALARY,
        le=HIGHEST_SALARY,
        description="New gross salary a year, in US dollars, without cents.",
    ),
]
EffectiveFrom: TypeAlias = Annotated[
    Day, Field(description="First day of the new salary, YYYY-MM-DD.")
]

KindOfLeave: TypeAlias = Annotated[LeaveType, Field(description="Kind of leave.")]
FirstDay: TypeAlias = Annotated[Day, Field(description="First day off, YYYY-MM-DD.")]
LastDay: TypeAlias = Annotated[
    Day, Field(description="Last day off, YYYY-MM-DD; the same as the first for a single day.")
]
