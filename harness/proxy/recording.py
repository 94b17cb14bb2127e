"""What one session of a foreign client consisted of: its calls, as a conversation.

Who asked for a call is not seen from here: what a client asks for while none of its calls is under
way begins a new reply, and what it asks for meanwhile belongs to the same one.
"""

from __future__ import annotations

import anyio

from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
)


class Recording:
    """Collects the calls of one client, in the order in which it made them."""

    def __init__(self) -> None:
        """Begin now: times count from here."""
        self.epoch = anyio.current_time()
        """The start, on the clock of `anyio.current_time`."""
        self.replies = 0
        """How many groups of calls were made."""
        self._asked: list[tuple[int, ToolRequest]] = []
        self._made: dict[str, ToolCall] = {}
        self._under_way = 0

    def begin(self, tool: str) -> tuple[int, str]:
        """Return the reply that a call of ``tool`` belongs to, and an id for it; `end` ends it."""
        if not self._under_way:
            self.replies += 1
        self._under_way += 1
        self._asked.append(
            (self.replies, ToolRequest(id=f"call_{len(self._asked) + 1}", tool=tool))
        )
        return self.replies, self._asked[-1][1].id

    def end(self, request: ToolRequest, call: ToolCall) -> None:
        """Take the record of the call that ``request`` asked for."""
        self._under_way -= 1
        place = next(n for n, (_, asked) in enumerate(self._asked) if asked.id == request.id)
        reply, _ = self._asked[place]
        self._asked[place] = (
            reply,
            ToolRequest(id=request.id, tool=request.tool, arguments=request.arguments),
        )
        self._made[request.id] = call

    @property
    def begun(self) -> int:
        """How many calls were asked for."""
        return len(self._asked)

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that have ended, in the order in which they were made."""
        return tuple(self._made[asked.id] for _, asked in self._asked if asked.id in self._made)

    def messages(self) -> tuple[Message, ...]:
        """Return the calls as replies of a model, each followed by what it was told."""
        told: list[Message] = []
        for reply in range(1, self.replies + 1):
            asked = [
                request for at, request in self._asked if at == reply and request.id in self._made
            ]
            told += [
                AssistantMessage(reply=Reply(tool_requests=tuple(asked), stop="tool_calls")),
                ToolMessage(answers=tuple(_answer(self._made[request.id]) for request in asked)),
            ]
        return tuple(told)


def _answer(call: ToolCall) -> ToolAnswer:
    return ToolAnswer(request_id=call.request_id, text=call.text, is_error=call.is_error)
