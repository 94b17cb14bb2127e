"""The conversation strategy for public leaderboards, by `harness.types.LeaderboardRules`."""

from __future__ import annotations

from collections.abc import Mapping

from harness.runner.agent import Opening, Strategy
from harness.runner.agent.strategy import MakeCall
from harness.sessions import Session
from harness.types import RECALLED, Case, JsonObject, LeaderboardRules


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
