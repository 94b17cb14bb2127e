"""The strategy of interrupted cases: the user speaks during the work, or the trial is aborted."""

from __future__ import annotations

import anyio

from harness.runner.agent.strategy import MakeCalls, Strategy
from harness.types import Interruption, Stop

ABORT_AFTER_S = 1.0
"""Seconds from the first tool calls to the abort: time for them to reach the server."""


class InterruptedStrategy(Strategy):
    """A conversation that an `Interruption` interrupts."""

    def __init__(self, interruption: Interruption) -> None:
        """Take what interrupts the conversation."""
        self._interruption = interruption

    def get_steering(self, replies: int) -> str | None:
        """Return the steering message after the first reply."""
        return self._interruption.steering if replies == 1 else None

    async def execute_calls(self, calls: MakeCalls) -> Stop | None:
        """Make the calls; if the case is aborted, cancel them as an interrupt would."""
        if not self._interruption.abort:
            return await super().execute_calls(calls)
        async with anyio.create_task_group() as group:
            group.start_soon(calls)
            await anyio.sleep(ABORT_AFTER_S)
            group.cancel_scope.cancel()
        return "aborted"
