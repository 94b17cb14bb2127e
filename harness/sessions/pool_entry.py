"""One place in the pool: the connection of one user to one server."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from harness.base import ServerError
from harness.sessions.connection import Connection
from harness.sessions.identity.delivery import Identity
from harness.sessions.processes.process import MAX_STARTS, ServerStarts
from harness.types import ScriptedCall, ServerSpec, ToolRequest


@dataclass(slots=True, eq=False)
class PoolEntry:
    """The entry of one server and user in the pool."""

    server: ServerSpec
    """The server."""
    identity: Identity
    """The user; nobody, if all users share the connection."""
    starts: ServerStarts
    """What all users' starts of the server came to."""
    connection: Connection | None = None
    """The running connection, or the one that the next loan gets."""
    returned: list[Connection] = field(default_factory=list)
    """Used connections that the next loan resets; only under ``isolation: case``."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while a connection is chosen or started."""
    loans: int = 0
    """How many use it now."""
    last_used: float = 0.0
    """When the last loan ended."""
    has_started: bool = False
    """Whether it has started for this user."""
    failures: int = 0
    """Failed starts in a row."""
    failure: ServerError | None = None
    """Why the last of them failed."""
    failed: Connection | None = None
    """Whose failure was counted last: many may wait for one start, which fails once."""

    async def require_hope(self) -> None:
        """Refuse to start a server again that does not start, by itself or for somebody else."""
        last = self.connection
        if last is not None and last.loss_reason is not None and self.failed is not last:
            await self.wait_ready(last)  # a start in advance may have failed
        self.refuse_hopeless()

    def refuse_hopeless(self) -> None:
        """Refuse to start a server again of which it is known that it does not start.

        Raises:
            ServerError: it is; the error says why it did not start.
        """
        hangs = self.failed is not None and self.failed.is_late and not self.has_started
        # The limit of a start is long: what has never started is not waited for again.
        self.starts.refuse_hopeless(MAX_STARTS if hangs else self.failures, self.failure)

    async def wait_ready(self, connection: Connection) -> None:
        """Wait until ``connection`` is ready, and count its failure.

        Raises:
            ServerError: it could not be opened.
        """
        try:
            await connection.wait_ready()
        except ServerError as error:
            # many may wait for the same start: it counts as one failure
            if self.failed is not connection:
                self.failures += 1
                self.failure, self.failed = error, connection
                self.starts.record_failure(
                    self.server, error, is_general=error.gone or not connection.has_met_caller
                )
            raise
        self.failures, self.has_started = 0, True
        self.starts.record_success()


async def reset_state(connection: Connection, reset: ScriptedCall) -> bool:
    """Make the call that resets the server's state; return whether it succeeded."""
    if connection.loss_reason is not None:
        return False
    request = ToolRequest(id="reset", tool=reset.tool, arguments=reset.arguments)
    return not (await connection.call(request, reply=0, epoch=anyio.current_time())).is_error


async def require_reset(connection: Connection, server: ServerSpec, reset: ScriptedCall) -> None:
    """Reset the server's state.

    Raises:
        ServerError: that failed.
    """
    if not await reset_state(connection, reset):
        how = f"could not be reset by its tool {reset.tool!r}"
        raise ServerError(f"server {server.name!r} {how}")
