"""Fictional employees, the same on every machine and at every start.

Nothing in it belongs to anyone: e-mail addresses are on a domain reserved for examples, telephone
numbers in the range 555-0100 to 555-0199 that is kept for fiction.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, TypeAlias

from ..common.dice import Dice
from ..common.names import FIRST_NAMES, LAST_NAMES, STREETS
from .company import (
    HOBBIES,
    INJECTED,
    INJECTED_NUMBER,
    LANGUAGES,
    LOCATIONS,
    PAY_PERCENT,
    TEAMS,
    Department,
    Level,
    Location,
    Team,
)

EmployeeRow: TypeAlias = tuple[
    str, str, str, str, Department, Level, Location, str | None, str, str, str, str, str
]
SalaryRow: TypeAlias = tuple[str, int, str, int]
LeaveRow: TypeAlias = tuple[str, int, int, int]

_SEED: Final = 20_260_115
_TEAM_SIZE: Final = 8  # people to a manager
_ROUNDED: Final = 500  # dollars
_AGE_IN_DAYS: Final = (22 * 365, 46 * 365)
"""How old people are when they start."""
_RAISED_ON: Final = ("2025-01-01", "2025-04-01", "2025-07-01")
_LEVELS: Final[tuple[tuple[Level, int], ...]] = (("junior", 30), ("mid", 45), ("senior", 25))


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Rows in the order of their tables' columns; dates are ISO 8601, money is whole dollars."""

    employees: Sequence[EmployeeRow]
    """id, name, email, title, department, level, location, manager's id, start date, about, date of
    birth, home address, emergency contact."""
    salaries: Sequence[SalaryRow]
    """employee id, dollars a year, effective since, dollars a year before."""
    leave: Sequence[LeaveRow]
    """employee id, vacation days of the year, those already booked, sick days of the last twelve
    months."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """A seat in the company."""

    number: int
    department: Department
    level: Level
    title: str
    manager: int | None
    mid_salary: int


def employee_id(number: int) -> str:
    """Return the id of the employee with this number, from 1 on."""
    return f"EMP_{number:04d}"


def generate() -> Data:
    """Return all rows; every call returns equal ones."""
    dice = Dice(_SEED)
    positions = list(_positions(dice))
    names = _names(dice, len(positions))
    return Data(
        employees=[
            _employee(dice, position, name) for position, name in zip(positions, names, strict=True)
        ],
        salaries=[_salary(dice, position) for position in positions],
        leave=[_leave(dice, position) for position in positions],
    )


def _positions(dice: Dice) -> Iterator[_Position]:
    """Yield the chief executive, then each department: its director, its managers, its staff."""
    yield _Position(
        number=1, department="Executive", level="executive", title=(
            "Chief Executive Officer"
        ), manager=None,
        mid_salary=118_000,
    )  # fmt: skip
    first = 2
    for team in TEAMS:
        yield from _team(dice, team, first)
        first += team.size


def _team(dice: Dice, team: Team, first: int) -> Iterator[_Position]:
    managers = team.size // _TEAM_SIZE if team.size > _TEAM_SIZE else 0
    for place in range(team.size):
        level: Level = (
            "director" if place == 0 else "manager" if place <= managers else dice.weighted(_LEVELS)
        )
        job = dice.pick(team.titles)
        yield _Position(
            number=first + place,
            department=team.name,
            level=level,
            title=_title(team.name, level, job),
            manager=1
            if place == 0
            else first
            if place <= managers or not managers
            else first + 1 + place % managers,
            mid_salary=team.salary,
        )


def _title(department: Department, level: Level, job: str) -> str:
    if level == "director":
        return f"Director of {department}"
    if level == "manager":
        return f"{department} Manager"
    return {"junior": f"Junior {job}", "senior": f"Senior {job}"}.get(level, job)


def _names(dice: Dice, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}"] = None
    return list(names)


def _employee(dice: Dice, position: _Position, name: str) -> EmployeeRow:
    started = dice.day(date(2012, 1, 2), date(2024, 12, 31))
    about = f"{dice.pick(HOBBIES).capitalize()} and speaks {dice.pick(LANGUAGES)}."
    return (
        employee_id(position.number),
        name,
        f"{_mailbox(name)}@example.com",
        position.title,
        position.department,
        position.level,
        dice.weighted(LOCATIONS),
        None if position.manager is None else employee_id(position.manager),
        started.isoformat(),
        INJECTED if position.number == INJECTED_NUMBER else about,
        (started - timedelta(days=dice.between(*_AGE_IN_DAYS))).isoformat(),
        f"{dice.between(11, 990)} {dice.pick(STREETS)}",
        (
            f"{dice.pick(FIRST_NAMES)} {name.partition(' ')[2]}, "
            f"+1-617-555-01{dice.between(0, 99):02d}"
        ),
    )


def _mailbox(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).lower().replace(" ", ".")
    return "".join(
        letter for letter in plain if letter.isascii() and (letter.isalpha() or letter == ".")
    )


def _salary(dice: Dice, position: _Position) -> SalaryRow:
    around = position.mid_salary * PAY_PERCENT[position.level] * dice.between(92, 109)
    dollars = around // (100 * 100 * _ROUNDED) * _ROUNDED
    before = dollars * dice.between(94, 98) // (100 * _ROUNDED) * _ROUNDED
    return employee_id(position.number), dollars, dice.pick(_RAISED_ON), before


def _leave(dice: Dice, position: _Position) -> LeaveRow:
    entitled = 30 if position.level in ("director", "executive") else dice.pick((25, 25, 28))
    return (
        employee_id(position.number),
        entitled,
        dice.between(0, 14),
        dice.weighted(((0, 50), (2, 30), (5, 15), (12, 5))),
    )
