"""The first requests of a connection: the handshake, and the list of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from harness.sessions.processes.http_servers import POLL_S, Host
from harness.sessions.processes.process import ServerProcess
from harness.sessions.transports.http_errors import HttpFault
from harness.types import ServerSpec, ToolList

if TYPE_CHECKING:
    from harness.sessions.client import McpClient

HANDSHAKE = "complete the handshake"
"""The first step of opening a connection, in messages."""

HINT = "; if it only knows the older handshake, set protocol: legacy (--protocol legacy)"
"""Advice where a server ended or kept silent before both handshakes were tried."""


def hint_at(step: str, spec: ServerSpec) -> str:
    """Return the advice for a server that answers nothing at ``step``, or an empty text."""
    return HINT if step == HANDSHAKE and spec.transport.protocol == "auto" else ""


async def shake_hands(client: McpClient, spec: ServerSpec, place: ServerProcess | Host) -> None:
    """Agree on a protocol version; retry while a server listens but is not ready."""
    while True:
        try:
            await client.negotiate(spec)
        except HttpFault as fault:
            if not fault.may_pass or not isinstance(place, Host) or not place.is_starting:
                raise
        else:
            return
        await anyio.sleep(POLL_S)


async def first_list(client: McpClient, spec: ServerSpec) -> ToolList:
    """Return the tools of the connection's own user; none where all users share it."""
    from harness.sessions.tool_list import list_tools  # loads the MCP SDK

    if spec.isolation == "none":
        return ToolList(tools=())  # the server may refuse each user
    return await list_tools(client.request, spec.refusals)
