"""Starts a server to list its tools, and what else it has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from harness.base import GATE, HarnessError, UsageError
from harness.cli.options import (
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    bundle_options,
    caller_option,
    server_option,
)
from harness.runner import run_alone
from harness.sessions import JoinedSession, Session, get_next_cursor, open_sessions
from harness.suites import load_config
from harness.types import JsonObject, Protocol, ServerSpec, ToolList, dataclass

_MOST_PAGES = 100


@dataclass(frozen=True, slots=True)
class ServerTools:
    """The server of a command, and its tools."""

    server: ServerSpec
    tools: ToolList
    homes: Mapping[str, str]
    """The server of each tool by its name, if several are joined; else empty."""


def _list_server(
    server: str | None,
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    protocol: Protocol | None,
    start_timeout: float | None,
    user_context: JsonObject | None,
) -> ServerTools:
    config = load_config(Path.cwd(), os.environ, mcp_config, protocol, start_timeout)
    # Several are joined; without any, the only configured one is meant.
    named = [*([server] if server else []), *command_lines]
    spec = (
        config.server_options(named)
        if named
        else config.only_server(f"harness {click.get_current_context().info_name}")
    )
    GATE.require_plan([spec])
    return ServerTools(spec, *_list_with_homes(spec, user_context))


LISTED = bundle_options(
    "listed",
    _list_server,
    click.argument("server", required=False, metavar="[SERVER]"),
    server_option('For example "python my_server.py"; several are joined.'),
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    caller_option("Caller to list the tools as."),
)
"""Passes a command its server and the server's tools."""


def list_tools(spec: ServerSpec, user_context: JsonObject | None) -> ToolList:
    """Start the server, return the tools that ``user_context`` sees, and end it.

    Raises:
        ServerError: it could not be started, or could not list its tools, in time.
    """
    return _list_with_homes(spec, user_context)[0]


def _list_with_homes(
    spec: ServerSpec, user_context: JsonObject | None
) -> tuple[ToolList, Mapping[str, str]]:
    """Return the tools, and the server of each if several are joined."""

    async def list_offered() -> tuple[ToolList, Mapping[str, str]]:
        async with open_sessions() as pool, pool.lend_session(spec, user_context) as session:
            if not isinstance(session, JoinedSession):
                return session.tools, {}
            names = [tool.name for tool in session.tools.tools]
            return session.tools, {
                name: spec.members[session.get_server_index(name)].name for name in names
            }

    return run_alone(list_offered)


async def list_items(session: Session, method: str, key: str) -> list[Any]:
    """Return all pages of a list; nothing if the server has no such list."""
    items: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        try:
            page = await session.send_request(method, {} if cursor is None else {"cursor": cursor})
        except HarnessError:
            if cursor is None:
                return []
            raise
        items += page.get(key) or []
        if (cursor := get_next_cursor(page)) is None:
            return items
    raise UsageError(f"{method} has no end: {_MOST_PAGES} pages were read")
