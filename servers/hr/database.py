"""Employees, salaries and leave in SQLite: every query in one place."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from ..common.altered import alter
from ..common.database import MemoryDatabase, Row
from .seed import generate

_SCHEMA: Final = """
CREATE TABLE employees (
  employee_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, title TEXT NOT NULL,
  department TEXT NOT NULL, level TEXT NOT NULL, location TEXT NOT NULL,
  manager_id TEXT REFERENCES employees,
  start_date TEXT NOT NULL, about TEXT NOT NULL, date_of_birth TEXT NOT NULL,
  home_address TEXT NOT NULL,
  emergency_contact TEXT NOT NULL);
CREATE TABLE salaries (
  employee_id TEXT PRIMARY KEY REFERENCES employees, annual_salary INTEGER NOT NULL,
  effective_since TEXT NOT NULL, previous_salary INTEGER NOT NULL);
CREATE TABLE leave (
  employee_id TEXT PRIMARY KEY REFERENCES employees, vacation_days INTEGER NOT NULL,
  vacation_days_booked INTEGER NOT NULL, sick_days INTEGER NOT NULL);
CREATE TABLE leave_requests (
  request_id INTEGER PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
  leave_type TEXT NOT NULL,
  first_day TEXT NOT NULL, last_day TEXT NOT NULL, working_days INTEGER NOT NULL,
  status TEXT NOT NULL);
"""

_EMPLOYEE: Final = """
SELECT e.*, m.name AS manager_name,
  (SELECT count(*) FROM employees AS r WHERE r.manager_id = e.employee_id) AS direct_reports
FROM employees AS e LEFT JOIN employees AS m ON m.employee_id = e.manager_id
WHERE e.employee_id = :employee_id
"""

_SEARCH: Final = """
SELECT *, count(*) OVER () AS matches
FROM employees
WHERE (:name IS NULL OR holds(name, :name))
  AND (:title IS NULL OR holds(title, :title))
  AND (:department IS NULL OR department = :department)
  AND (:location IS NULL OR location = :location)
  AND (:manager_id IS NULL OR manager_id = :manager_id)
ORDER BY employee_id LIMIT :limit
"""

_DEPARTMENTS: Final = """
SELECT e.department, count(*) AS headcount, h.employee_id AS head_id, h.name AS head_name
FROM employees AS e JOIN employees AS h
  ON h.department = e.department AND h.level IN ('director', 'executive')
GROUP BY e.department ORDER BY headcount DESC, e.department
"""

_SALARIES: Final = """
SELECT annual_salary FROM salaries JOIN employees USING (employee_id)
WHERE (:department IS NULL OR department = :department)
  AND (:level IS NULL OR level = :level)
  AND (:location IS NULL OR location = :location)
"""

_SET_SALARY: Final = """
UPDATE salaries SET previous_salary = annual_salary, annual_salary = :annual_salary,
  effective_since = :effective_since
WHERE employee_id = :employee_id
  AND (annual_salary, effective_since) <> (:annual_salary, :effective_since)
"""

_REQUESTS: Final = (
    "SELECT * FROM leave_requests WHERE employee_id = :employee_id ORDER BY first_day, request_id"
)
_REQUEST: Final = """
INSERT INTO leave_requests (employee_id, leave_type, first_day, last_day, working_days, status)
VALUES (:employee_id, :leave_type, :first_day, :last_day, :working_days, 'pending')
"""
_BOOK: Final = """
UPDATE leave SET vacation_days_booked = vacation_days_booked + :working_days
WHERE employee_id = :employee_id
"""


class HrDatabase:
    """The whole data set, freshly made; use it from one thread."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Create and fill the tables; ``environ`` may alter a value.

        Raises:
            CannotStart: there is no such value.
        """
        data = generate()
        tables = {"employees": data.employees, "salaries": data.salaries, "leave": data.leave}
        self._database = MemoryDatabase(_SCHEMA, tables)
        alter(self._database, environ)

    def employee(self, employee_id: str) -> Row | None:
        """Return one employee with manager's name and number of direct reports, or ``None``."""
        return self._database.row(_EMPLOYEE, {"employee_id": employee_id})

    def search(self, filters: Mapping[str, str | None], limit: int) -> tuple[int, list[Row]]:
        """Return how many employees match and the first ``limit`` of them by id.

        ``filters`` holds name and title (parts of them), department, location and manager_id;
        ``None`` matches all.
        """
        return self._database.page(_SEARCH, filters, limit)

    def departments(self) -> list[Row]:
        """Return each department with headcount and head, the largest first."""
        return self._database.rows(_DEPARTMENTS)

    def salary(self, employee_id: str) -> Row:
        """Return the salary of somebody who exists."""
        return self._one("SELECT * FROM salaries WHERE employee_id = :employee_id", employee_id)

    def salary_statistics(self, filters: Mapping[str, str | None]) -> Row | None:
        """Return headcount and average, median, lowest and highest salary of a group.

        ``None`` stands for an empty group.

        ``filters`` holds department, level and location; ``None`` matches all.
        """
        salaries = [row["annual_salary"] for row in self._database.rows(_SALARIES, filters)]
        if not salaries:
            return None
        return {
            "headcount": len(salaries),
            "average_salary": round(sum(salaries) / len(salaries)),
            "median_salary": round(median(salaries)),
            "lowest_salary": min(salaries),
            "highest_salary": max(salaries),
        }

    def update_salary(self, employee_id: str, annual_salary: int, effective_since: str) -> None:
        """Set a salary and keep the old one as the previous; the same value changes nothing."""
        values = {
            "employee_id": employee_id,
            "annual_salary": annual_salary,
            "effective_since": effective_since,
        }
        self._database.change(_SET_SALARY, values)

    def leave(self, employee_id: str) -> Row:
        """Return the leave of somebody who exists, with what was requested of this server."""
        row = self._one("SELECT * FROM leave WHERE employee_id = :employee_id", employee_id)
        return {**row, "requests": self._database.rows(_REQUESTS, {"employee_id": employee_id})}

    def request_leave(self, request: Mapping[str, Any]) -> int:
        """Add a request (employee_id, leave_type, first_day, last_day, working_days).

        Return its number.

        Vacation days count as booked from now on.
        """
        self._database.change(_REQUEST, request)
        if request["leave_type"] == "vacation":
            self._database.change(_BOOK, request)
        return int(
            self._database.rows("SELECT max(request_id) AS last FROM leave_requests")[0]["last"]
        )

    def _one(self, statement: str, employee_id: str) -> Row:
        return self._database.rows(statement, {"employee_id": employee_id})[0]
