"""Assembles the server: tools over the database, under the policies."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..common.errors import CannotStart
from ..common.governed import GovernedServer
from ..common.policy_file import load_policies
from ..common.shapes import shape_of
from .database import CustomerDatabase
from .seed import SEED
from .tools import make_tools

POLICIES: Final = Path(__file__).with_name("policies.yml")
"""The rules that hold unless others are asked for."""
SEED_VARIABLE: Final = "HARNESS_SEED"
"""Environment variable with the number that the data is made from; suites are written for the data
without it."""

_INSTRUCTIONS: Final = (
    "Customers and orders of a fictional shop, 2022 to 2025, amounts in US dollars. What you can "
    "see depends on who asks. When a call is refused, tell the user what the refusal says; trying "
    "another way round does not help."
)


def make_server(policies: Path, environ: Mapping[str, str]) -> GovernedServer:
    """Return the server with a fresh database, under the policy file ``policies``.

    ``environ`` may name the user of requests that carry no identity of their own, and with
    `SEED_VARIABLE` other data: same tools, same rules, other people. One value may be altered
    (`servers.common.altered`).

    Raises:
        PolicyError: the policy file cannot be used; the text names file and line.
        CannotStart: the seed is no whole number, or there is no such value.
    """
    tools = make_tools(CustomerDatabase(_seed(environ), environ))
    shapes = {tool.name: shape_of(tool.parameters, tool.output_schema or {}) for tool in tools}
    return GovernedServer(
        "data_governance",
        title="Customer data",
        instructions=_INSTRUCTIONS,
        tools=tools,
        policies=load_policies(policies, shapes),
        environ=environ,
    )


def _seed(environ: Mapping[str, str]) -> int:
    given = environ.get(SEED_VARIABLE) or str(SEED)
    try:
        return int(given)
    except ValueError as error:
        raise CannotStart(
            f"{SEED_VARIABLE} has to be a whole number, and is {given[:80]!r}"
        ) from error
