"""One place in the pool: the connection of one user to one server."""

from __future__ import annotations

import anyio

from harness.base import ServerError
from harness.sessions.connection import Connection
from harness.sessions.processes.server_starts import ServerStarts


class PoolEntry:
    """The entry of one server and user in the pool."""

    def __init__(self, starts: ServerStarts) -> None:
        self.starts = starts
        self.connection: Connection | None = None
        # Used connections that the next loan resets; only under `isolation: case`.
        self.returned: list[Connection] = []
        self.lock = anyio.Lock()
        self.loans = 0
        self.last_used = 0.0
        self.failures = 0
        self.failure: ServerError | None = None
        # Whose failure was counted last: many may wait for one start, which fails once.
        self.failed: Connection | None = None

    @property
    def is_idle(self) -> bool:
        """Whether its server is running and not in use."""
        return (
            self.connection is not None and self.connection.loss_reason is None and not self.loans
        )
