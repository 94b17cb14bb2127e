"""A server is started for one look at its tools."""

from __future__ import annotations

import anyio
import click

from harness.config import Config
from harness.errors import HarnessError
from harness.sessions import open_sessions
from harness.types import JsonObject, ServerSpec, ToolList


def chosen_server(config: Config, named: str | None) -> ServerSpec:
    """Return the server that a command was given; without one, the only one that is configured.

    Raises:
        UsageError: there is none.
    """
    if named:
        return config.server_option(named)
    return config.only_server(f"harness {click.get_current_context().info_name}")


def list_tools(spec: ServerSpec, user_context: JsonObject | None) -> ToolList:
    """Return the tools that ``user_context`` sees of the server; it is started, and has ended afterwards.

    Raises:
        ServerError: it could not be started, or could not list its tools, in time.
    """
    return anyio.run(_list, spec, user_context)


async def _list(spec: ServerSpec, user_context: JsonObject | None) -> ToolList:
    try:
        async with open_sessions() as pool, pool.session(spec, user_context) as session:
            return session.tools
    except BaseExceptionGroup as group:
        if group.subgroup(HarnessError) is None:
            raise
        raise next(error for error in group.exceptions if isinstance(error, HarnessError)) from group
