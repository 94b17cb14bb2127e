"""How the servers start: on stdin and stdout, until stdin ends."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ..common.errors import CannotStart
from .data import DomainData, default_folder, read_data
from .serving import Face, Tools, make_server


def serve(
    domain: str,
    title: str,
    make_tools: Callable[[Mapping[str, Any]], Tools],
    read: Callable[[Path], DomainData] = read_data,
) -> int:
    """Run the server ``servers.DOMAIN`` as its command line asks; return the exit code.

    0: stdin ended. 2: the data are not there or cannot be used.
    """
    parser = argparse.ArgumentParser(prog=f"servers.{domain}", description=title)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="where db.json, tools.json and policy.md lie"
    )
    parser.add_argument(
        "--reset-tool",
        metavar="NAME",
        help="have an unlisted tool NAME that makes the database what it was",
    )
    parser.add_argument(
        "--unlisted-tool",
        metavar="NAME",
        action="append",
        default=[],
        help="carry out the tool NAME without listing it",
    )
    options = parser.parse_args()
    try:
        data = read(options.data or default_folder(domain, os.environ))
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 2
    face = Face(
        name=domain,
        title=title,
        listing=data.tools,
        policy=data.policy,
        reset_tool=options.reset_tool,
        unlisted_tools=options.unlisted_tool,
    )
    anyio.run(_run, make_server(make_tools(data.database), face))
    # the process ends: Python need not take everything apart first, while a client waits
    gc.freeze()
    return 0


async def _run(server: Server[Any]) -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())
