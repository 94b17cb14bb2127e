"""What a conversation does in addition to asking and answering: by default nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.sessions import Session
from harness.types import ScriptedCall, Stop, ToolCall

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
