"""A session that enforces a case's limits, which an agent's own loop does not know."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from harness.sessions import Session, SessionWrapper, build_unanswered_call
from harness.types import JsonObject, Limits, Stop, ToolCall, ToolRequest

_WORDS: dict[Stop, str] = {
    "reply_limit": "not sent by harness: the limit of replies was reached",
    "call_limit": "not sent by harness: the limit of tool calls was reached",
}


class LimitedSession(SessionWrapper):
    """A session in one trial of an agent: it counts calls, and signals when the trial must end."""

    def __init__(self, session: Session, limits: Limits, tell: Callable[[], None]) -> None:
        """Send through ``session``; ``tell`` is called after each call."""
        super().__init__(session)
        self._limits = limits
        self._tell = tell
        self._asked = 0
        self.answers = 0
        """Number of turns that the agent has answered: each is a reply besides those with calls."""
        self.reached = False
        """Whether the agent listed the tools, or called one."""
        self.stop: Stop | None = None
        """The limit that was reached."""
        self.lost_by: str | None = None
        """Why the server was lost during a call."""
        self.over = anyio.Event()
        """Set when the agent must stop."""

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call, unless a limit was reached."""
        self.reached = True
        # Counted before it is sent, since several calls may be under way at once.
        self._asked += 1
        # The first limit stays: every later call would exceed it, too.
        if self.stop is None:
            self.stop = self._find_limit(reply)
        if self.stop is not None:
            self.over.set()
            words = _WORDS[self.stop]
            return build_unanswered_call(request, "blocked", words, reply=reply, epoch=epoch)
        call = await self._session.call(request, reply=reply, epoch=epoch)
        if call.outcome == "server_lost":
            self.lost_by = self.lost_by or call.text
        # Over HTTP the session outlives a lost server, so a call may be the only one to tell.
        if self.lost_by is not None or self._session.loss_reason is not None:
            self.over.set()
        self._tell()
        return call

    def _find_limit(self, reply: int) -> Stop | None:
        """Return the limit that a call of ``reply`` would exceed; its last reply is the answer."""
        if self._asked > self._limits.max_calls:
            return "call_limit"
        return "reply_limit" if reply + self.answers >= self._limits.max_replies else None

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request: as `Session.send_request`."""
        self.reached = self.reached or method == "tools/list"
        return await self._session.send_request(method, params)

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone: as `Session.loss_reason`."""
        return self.lost_by or self._session.loss_reason
