"""The server put together: tools over the database, the same for everybody."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Final

from ..common.governed import GovernedServer
from ..common.policy import Policies
from .catalog import LAST_DAY
from .database import SalesDatabase
from .tools import make_tools

_INSTRUCTIONS: Final = (
    "Products, sales, customers, projects and follow-up tasks of a fictional wholesaler. The data "
    f"stands at {LAST_DAY}: the last months count back from that day. All amounts are US dollars."
)


def make_server() -> GovernedServer:
    """Return the server with a fresh database; whoever reaches it may do everything."""
    return GovernedServer(
        "sales",
        title="Sales",
        instructions=_INSTRUCTIONS,
        tools=make_tools(SalesDatabase()),
        policies=Policies(),
        environ={},
    )
