"""Assembles the server: four tools over the sample, the same for all callers."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Final

from ..common.governed import GovernedServer
from ..common.policy import Policies
from .market import Market
from .prices import LAST_DAY
from .tools import make_tools

_INSTRUCTIONS: Final = (
    "Share prices, company facts, financial ratios and compound interest. Prices are a fixed "
    f"sample that ends on {LAST_DAY}; say so when you quote one. All amounts are US dollars."
)


def make_server() -> GovernedServer:
    """Return the server with the sample loaded; there is nothing in it to protect."""
    return GovernedServer(
        "finance",
        title="Finance",
        instructions=_INSTRUCTIONS,
        tools=make_tools(Market()),
        policies=Policies(),
        environ={},
    )
