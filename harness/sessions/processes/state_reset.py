"""Resets the state of a server by its own call, so that the next trial needs no new process."""

from __future__ import annotations

import anyio

from harness.base import ServerError
from harness.sessions.session import Session
from harness.types import ServerSpec, ToolRequest


async def reset_state(connection: Session, server: ServerSpec) -> bool:
    """Make the call that resets the server's state; return whether it succeeded."""
    assert server.reset is not None
    if connection.loss_reason is not None:
        return False
    request = ToolRequest(id="reset", tool=server.reset.tool, arguments=server.reset.arguments)
    return not (await connection.call(request, reply=0, epoch=anyio.current_time())).is_error


async def require_reset(connection: Session, server: ServerSpec) -> None:
    """Reset the server's state.

    Raises:
        ServerError: that failed.
    """
    if not await reset_state(connection, server):
        assert server.reset is not None
        raise ServerError(
            f"server {server.name!r} could not be reset by its tool {server.reset.tool!r}"
        )
