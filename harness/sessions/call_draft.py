"""The record of a call as it grows, until it has an outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio

from harness.base import Validation
from harness.sessions.call_frames import reduce_frame
from harness.sessions.server_messages import Exchange
from harness.sessions.side_channels import limit_side_channels
from harness.types import Outcome, SideContent, ToolCall, ToolRequest, Wire


class CallDraft:
    """The facts of a call before its answer."""

    __slots__ = (
        "arguments",
        "came_with",
        "echoed",
        "exchange",
        "heard",
        "reply",
        "request",
        "sent_at",
        "started_s",
        "waited_s",
        "wire",
    )

    def __init__(self, request: ToolRequest, reply: int, started_s: float) -> None:
        """Begin the record of ``request``, which came so long after the start of the trial."""
        self.request = request
        self.reply = reply
        self.started_s = started_s
        self.waited_s = 0.0
        self.sent_at: float | None = None
        self.arguments = Validation()
        self.came_with: tuple[SideContent, ...] = ()
        self.heard: list[SideContent] = []
        self.echoed = False
        self.exchange = Exchange()
        self.wire: Wire | None = None

    def record_wait(self, seconds: float) -> None:
        """Note that it has waited so long for its turn, in all."""
        self.waited_s = round(seconds, 6)

    def record_send(self, epoch: float) -> float:
        """Note that it is sent now, and return the time; the last attempt is what counts."""
        self.sent_at = anyio.current_time()
        self.started_s = self.sent_at - epoch
        return self.sent_at

    def compute_duration(self) -> float:
        """Return the seconds since it was sent; 0 if it was not."""
        return 0.0 if self.sent_at is None else anyio.current_time() - self.sent_at

    def build_record(self, outcome: Outcome, text: str, **facts: Any) -> ToolCall:
        """Return the record of the call, which ended so."""
        made = ToolCall(
            tool=self.request.tool,
            arguments=self.request.arguments,
            outcome=outcome,
            reply=self.reply,
            request_id=self.request.id,
            text=text,
            argument_errors=self.arguments.errors,
            arguments_not_validated=self.arguments.gave_up,
            started_s=self.started_s,
            waited_s=self.waited_s,
            echoed_token=self.echoed,
            beside=limit_side_channels((*self.came_with, *self.heard)),
            **facts,
        )
        # The frames come last: they leave out what the finished record has.
        if self.wire is None:
            return made
        request, response = (
            None if body is None else reduce_frame(body, made)
            for body in (self.exchange.request, self.exchange.response)
        )
        return replace(made, wire=replace(self.wire, request=request, response=response))


def build_blocked_call(request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
    """Return the record of a call that is not sent because its tool is blocked."""
    draft = CallDraft(request, reply, anyio.current_time() - epoch)
    return draft.build_record("blocked", explain_block(request.tool))


def explain_block(tool: str) -> str:
    """Return which guard rail keeps the call from the server."""
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"
