"""Who asks, and ways to reach the server."""

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from servers.common.governed import GovernedServer
from servers.hr.server import POLICIES, make_server
from tests.servers.data_governance.support import WAIT_S, Caller

HR = {"role": "hr_admin", "employee_id": "EMP_0116"}
MANAGER = {"role": "manager", "employee_id": "EMP_0064"}
"""Has EMP_0067 and EMP_0077 among their reports; reports to EMP_0062."""
EMPLOYEE = {"role": "employee", "employee_id": "EMP_0067"}
STRANGERS: list[Any] = [
    None,
    {},
    {"role": None, "employee_id": "EMP_0067"},
    {"role": "", "employee_id": "EMP_0067"},
    {"role": "HR_ADMIN", "employee_id": "EMP_0067"},
    {"role": ["hr_admin"], "employee_id": "EMP_0067"},
    {"role": "analyst"},
    {"permissions": ["hr_admin"]},
    "hr_admin",
]
"""Identities that are none."""

READING = {
    "search_employees",
    "get_employee_profile",
    "list_departments",
    "get_salary",
    "get_salary_statistics",
    "get_leave",
    "request_leave",
}
"""Tools that everybody is offered."""


@functools.cache
def unchanging_server() -> GovernedServer:
    """Return the server that all tests share which change nothing."""
    return make_server(POLICIES, {})


@asynccontextmanager
async def shared() -> AsyncIterator[Caller]:
    async with Client(unchanging_server(), read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)


@asynccontextmanager
async def fresh(policies: Path = POLICIES) -> AsyncIterator[Caller]:
    async with Client(make_server(policies, {}), read_timeout_seconds=WAIT_S, cache=None) as client:
        yield Caller(client)
