"""What a conversation does in addition to asking and answering: by default nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeAlias

import anyio

from harness.sessions import Session
from harness.types import (
    RECALLED,
    Case,
    Interruption,
    JsonObject,
    LeaderboardRules,
    ScriptedCall,
    Stop,
    ToolCall,
    dataclass,
)

MakeCall: TypeAlias = Callable[[ScriptedCall], Awaitable[ToolCall]]
"""Makes a call of the case itself. If the server does not answer it, the trial ends as the server's
error."""

MakeCalls: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Makes all calls of a reply, records them and passes their results to the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a conversation begins."""

    system: str | None
    """The system prompt."""
    recalled: str = ""
    """The part of it that the server provided, for the log."""


class Strategy:
    """How a conversation goes; subclasses override single steps."""

    tell: Callable[[], None] = staticmethod(lambda: None)
    """Called after each reply and after its calls, for whoever looks on."""

    @property
    def ends_with_first_calls(self) -> bool:
        """Whether the conversation ends after the calls of the first reply."""
        return False

    def get_session(self, turn: int) -> Session | None:
        """Return the session to use from ``turn`` (from 0) on; ``None`` keeps the current one."""
        return None

    async def prepare_opening(self, system: str | None, call: MakeCall) -> Opening:
        """Prepare a conversation with the system prompt ``system``, if need be by a ``call``."""
        return Opening(system=system)

    def get_steering(self, replies: int) -> str | None:
        """Return what the user says right after reply number ``replies``, while the model works."""
        return None

    async def execute_calls(self, calls: MakeCalls) -> Stop | None:
        """Make the calls of a reply; return how they end the conversation, or ``None``."""
        await calls()
        return None


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


class LeaderboardStrategy(Strategy):
    """A conversation by the rules of a leaderboard."""

    def __init__(self, rules: LeaderboardRules, sessions: Mapping[int, Session]) -> None:
        """Converse by ``rules``; ``sessions`` has the session to use from each turn (from 0) on."""
        self._rules = rules
        self._sessions = sessions

    @property
    def ends_with_first_calls(self) -> bool:
        """Whether the leaderboard judges only the first reply."""
        return self._rules.one_reply

    def get_session(self, turn: int) -> Session | None:
        """Return the session for the routing of ``turn``, if a new session begins there."""
        return self._sessions.get(turn)

    async def prepare_opening(self, system: str | None, call: MakeCall) -> Opening:
        """Add the server's memories to the system prompt, if the leaderboard requires it."""
        if self._rules.recall is None:
            return Opening(system=system)
        recalled = (await call(self._rules.recall)).text
        return Opening(system=(system or "").replace(RECALLED, recalled), recalled=recalled)


def get_server_contexts(case: Case, key: str) -> dict[int, JsonObject | None]:
    """Return the server's context, by the first turn (from 0) in which it holds.

    ``key`` is the key of the trial.

    The context tells who asks. For a server of many cases it also names the case and the trial.
    """
    rules, asking = case.leaderboard, case.caller.user_context
    if rules.routing is None:
        return {0: asking}
    # Without a routing of its own, the first turn still opens a session.
    by_turn: dict[int, JsonObject] = {0: {}, **rules.later_routing}
    return {
        turn: {**(asking or {}), **rules.routing, **more, "trial": key}
        for turn, more in by_turn.items()
    }
