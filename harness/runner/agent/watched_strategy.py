"""A strategy that tells of each step and changes nothing, for whoever looks on."""

from __future__ import annotations

from collections.abc import Callable

from harness.runner.agent.strategy import MakeCall, MakeCalls, Opening, Strategy
from harness.sessions import Session
from harness.types import Stop


class WatchedStrategy(Strategy):
    """Another strategy, and a call of ``tell`` after each reply and after its calls."""

    def __init__(self, strategy: Strategy, tell: Callable[[], None]) -> None:
        """Go as ``strategy`` does."""
        self._strategy = strategy
        self._tell = tell

    @property
    def ends_with_first_calls(self) -> bool:
        """As the other one."""
        return self._strategy.ends_with_first_calls

    def get_session(self, turn: int) -> Session | None:
        """As the other one."""
        return self._strategy.get_session(turn)

    async def prepare_opening(self, system: str | None, call: MakeCall) -> Opening:
        """As the other one."""
        return await self._strategy.prepare_opening(system, call)

    def get_steering(self, replies: int) -> str | None:
        """Tell of the reply."""
        self._tell()
        return self._strategy.get_steering(replies)

    async def execute_calls(self, calls: MakeCalls) -> Stop | None:
        """Make the calls, and tell of them."""
        stop = await self._strategy.execute_calls(calls)
        self._tell()
        return stop
