"""The record of a foreign client's session: its calls, as a conversation.

The proxy cannot see the replies of the client's model. A call that begins while no other is running
starts a new reply; calls that begin meanwhile belong to the same reply. A call that the server
answers with a question, and that the client repeats with the answer, is one call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from harness.base import canonical_json
from harness.runlog import build_conversation
from harness.sessions import build_unanswered_call, describe_required_input
from harness.types import (
    JsonObject,
    Message,
    ToolCall,
    ToolRequest,
)

_UNANSWERED = "harness was ended before the server answered"
_GIVEN_UP = "the client ended the call before the server answered"


@dataclass(eq=False, slots=True, kw_only=True)
class RecordedCall:
    """A call of a client, from its beginning to its answer."""

    id: str
    """Unique in its session."""
    reply: int
    """The reply that it belongs to."""
    made: ToolCall
    """Its record so far."""
    result: JsonObject | None = None
    """The server's raw answer."""

    def record_question(self, result: JsonObject) -> None:
        """Record that the client got the question ``result`` before the server answered."""
        text = describe_required_input(result, may_answer=True)
        self.made = replace(self.made, outcome="tool_error", text=text)
        self.result = result


class Recording:
    """Collects the calls of one client, in the order in which it made them."""

    def __init__(self, keep: Callable[[ToolCall], None] = lambda _: None) -> None:
        """Begin now: times count from here.

        ``keep`` gets the record of each call twice, when it begins and when it ends.
        """
        self.epoch = anyio.current_time()
        """The start, on the clock of `anyio.current_time`."""
        self.replies = 0
        """Number of replies with calls."""
        self._keep = keep
        self._calls: list[RecordedCall] = []
        self._ended: set[str] = set()
        self._questions: dict[str, RecordedCall] = {}
        self._under_way = 0

    def begin_call(self, tool: str, arguments: JsonObject, params: JsonObject) -> RecordedCall:
        """Record the start of a call; ``params`` are those of its request. `end_call` ends it."""
        asked = self._find_repeated(tool, arguments, params)
        if not self._under_way and asked is None:
            self.replies += 1
        self._under_way += 1
        reply = self.replies if asked is None else asked.reply
        name = f"call_{len(self._calls) + 1}" if asked is None else asked.id
        request = ToolRequest(id=name, tool=tool, arguments=arguments)
        # Kept before it is sent: if harness is killed, the log still has the call.
        made = build_unanswered_call(request, "timeout", _UNANSWERED, reply=reply, epoch=self.epoch)
        call = asked or RecordedCall(id=name, reply=reply, made=made)
        if asked is None:
            self._calls.append(call)
        call.made, call.result = made, None
        self._keep(made)
        return call

    def end_call(self, call: RecordedCall) -> None:
        """Record the end of ``call``."""
        self._under_way -= 1
        # Nothing has replaced the first record, so the client has cancelled the request.
        if call.made.text == _UNANSWERED:
            call.made = replace(call.made, text=_GIVEN_UP)
        self._ended.add(call.id)
        self._keep(call.made)
        if call.result is not None and call.result.get("resultType") == "input_required":
            state = call.result.get("requestState")
            self._questions[_build_question_key(call.made.tool, call.made.arguments, state)] = call

    def list_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that have ended, in the order in which they were made."""
        return tuple(call.made for call in self._calls if call.id in self._ended)

    def build_messages(self) -> tuple[Message, ...]:
        """Return the calls as a conversation (`build_conversation`)."""
        return build_conversation(self.list_calls())

    def _find_repeated(
        self, tool: str, arguments: JsonObject, params: JsonObject
    ) -> RecordedCall | None:
        """Return the call that a request repeats with the requested input."""
        if "inputResponses" not in params and "requestState" not in params:
            return None
        key = _build_question_key(tool, arguments, params.get("requestState"))
        return self._questions.pop(key, None)


def _build_question_key(tool: str, arguments: JsonObject, state: object) -> str:
    return canonical_json([tool, dict(arguments), state])
