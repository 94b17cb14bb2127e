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

PROBE_S = 5.0
"""Seconds to wait for ``server/discover`` before the server counts as one with the older handshake.

Most such servers refuse the method at once; some never answer an unknown method.
"""

PROBE_SHARE = 1 / 3
"""The same as a share of the available time, which applies if it is less, so that the handshake has
time too."""

HINT = "; if it only knows the older handshake, set protocol: legacy (--protocol legacy)"
"""Advice where a server ended or kept silent before both handshakes were tried."""


def compute_probe_timeout(spec: ServerSpec) -> float:
    """Return how long ``server/discover`` may take."""
    return min(PROBE_S, spec.start_timeout_s * PROBE_SHARE)


def find_hint(step: str, spec: ServerSpec, client: McpClient) -> str:
    """Return the advice for a server that answers nothing at ``step``, or an empty text."""
    is_open = step == HANDSHAKE and spec.transport.protocol == "auto"
    return HINT if is_open and not client.needs_initialize else ""


async def shake_hands(client: McpClient, spec: ServerSpec, place: ServerProcess | Host) -> None:
    """Agree on a protocol version; retry while a server listens but is not ready.

    A request that breaks off is a sign of that at first. Later, and always where harness did not
    start the server, it is a reason to try the older handshake.
    """
    settling = anyio.current_time() + compute_probe_timeout(spec)
    while True:
        is_starting = isinstance(place, Host) and place.is_starting
        try:
            is_early = is_starting and anyio.current_time() < settling
            await client.negotiate(spec, is_early=is_early)
        except HttpFault as fault:
            if not fault.may_pass or not is_starting:
                raise
            client.hindrance = f": it {fault}"
        else:
            client.hindrance = ""
            return
        await anyio.sleep(POLL_S)


async def list_first_tools(client: McpClient, spec: ServerSpec) -> ToolList:
    """Return the tools of the connection's own user; none where all users share it."""
    from harness.sessions.tool_list import list_tools  # loads the MCP SDK

    if spec.isolation == "none":
        return ToolList(tools=())  # the server may refuse each user
    return await list_tools(
        client.request,
        spec.refusals,
        said=client.introduction,
    )
