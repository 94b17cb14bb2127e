"""The strategy of cases of a public leaderboard: `harness.types.LeaderboardRules` carried out."""

from __future__ import annotations

from collections.abc import Mapping

from harness.agent import Opening, Strategy
from harness.agent.strategy import MakeCall
from harness.sessions import Session
from harness.types import RECALLED, Case, JsonObject, LeaderboardRules


class ByRules(Strategy):
    """A conversation as the rules of a leaderboard have it."""

    def __init__(self, rules: LeaderboardRules, sessions: Mapping[int, Session]) -> None:
        """Converse by ``rules``; ``sessions`` has the session to use from each turn (from 0) on."""
        self._rules = rules
        self._sessions = sessions

    @property
    def ends_with_first_calls(self) -> bool:
        """Whether the leaderboard judges the first reply alone."""
        return self._rules.one_reply

    def session(self, turn: int) -> Session | None:
        """Return the session for the routing of ``turn``, if another one begins there."""
        return self._sessions.get(turn)

    async def opening(self, system: str | None, call: MakeCall) -> Opening:
        """Put the server's memories into the system prompt, where the leaderboard asks for it."""
        if self._rules.recall is None:
            return Opening(system=system)
        recalled = (await call(self._rules.recall)).text
        return Opening(system=(system or "").replace(RECALLED, recalled), recalled=recalled)


def contexts(case: Case, key: str) -> dict[int, JsonObject | None]:
    """Return the context for the server, by the first turn (from 0) for which it holds.

    ``key`` is the trial's.

    That is who asks, and for a server that serves many cases also which case and trial this is.
    """
    rules, asking = case.leaderboard, case.caller.user_context
    if rules.routing is None:
        return {0: asking}
    by_turn: dict[int, JsonObject] = {0: {}, **rules.later_routing}
    return {
        turn: {**(asking or {}), **rules.routing, **more, "trial": key}
        for turn, more in by_turn.items()
    }
