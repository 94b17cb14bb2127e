"""What a conversation does beyond asking and answering: by default nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.sessions import Session
from harness.types import ScriptedCall, Stop, ToolCall

MakeCall: TypeAlias = Callable[[ScriptedCall], Awaitable[ToolCall]]
"""Makes a call that is none of the model's. If the server does not answer it, the trial ends as the
server's error."""

MakeCalls: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Makes all calls of a reply, and records and answers them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a conversation begins."""

    system: str | None
    """The system prompt."""
    recalled: str = ""
    """The part of it that the server provided, for the log."""


class Strategy:
    """How a conversation goes; subclasses change single steps of it."""

    @property
    def ends_with_first_calls(self) -> bool:
        """Whether the conversation is over once the calls of the first reply were made."""
        return False

    def session(self, turn: int) -> Session | None:
        """Return the session that is used from ``turn`` (from 0) on; ``None`` keeps the one before."""
        return None

    async def opening(self, system: str | None, call: MakeCall) -> Opening:
        """Prepare a conversation whose system prompt is ``system``; ``call`` may be used to do so."""
        return Opening(system=system)

    def said_after(self, replies: int) -> str | None:
        """Return what the user says while the model is at work, right after its reply number ``replies``."""
        return None

    async def carry_out(self, calls: MakeCalls) -> Stop | None:
        """Have the calls of a reply made; return how they end the conversation, or ``None`` if it goes on."""
        await calls()
        return None
