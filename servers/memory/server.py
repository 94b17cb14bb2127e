"""Assembles the server: one store, chosen at the start, with a memory for each user."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mcp.server.mcpserver.tools import Tool

from ..common.governed import GovernedServer
from ..common.policy import Policies
from .key_value import key_value_tools
from .records import Records
from .summary import summary_tools
from .vectors import vector_tools

STORES: Final[Mapping[str, Callable[[Records], list[Tool]]]] = {
    "kv": key_value_tools,
    "vector": vector_tools,
    "summary": summary_tools,
}
"""Name → the tools of that store; the first is the default."""

_INSTRUCTIONS: Final = (
    "A memory that lasts over conversations. Store what the user tells you as soon as they tell "
    "it, and look it up before you say that you do not know."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this server takes beside what all take."""
    stores = tuple(STORES)
    parser.add_argument(
        "--store", choices=stores, default=stores[0], help="how it remembers (default: %(default)s)"
    )
    parser.add_argument(
        "--file", type=Path, metavar="PATH", help="keep memories in this file (SQLite), made if new"
    )


def make_server(options: argparse.Namespace) -> GovernedServer:
    """Return the server with the store that ``options`` ask for.

    Raises:
        CannotStart: the file that was named cannot be used.
    """
    return GovernedServer(
        "memory",
        title="Memory",
        instructions=_INSTRUCTIONS,
        tools=STORES[options.store](Records(options.file)),
        policies=Policies(),
        environ=os.environ,
    )
