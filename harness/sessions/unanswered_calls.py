"""The record of a call without an answer: it was not sent, or its caller stopped waiting."""

from __future__ import annotations

import anyio

from harness.types import (
    Outcome,
    ToolCall,
    ToolRequest,
)


def build_unanswered_call(
    request: ToolRequest, outcome: Outcome, text: str, *, reply: int, epoch: float
) -> ToolCall:
    """Return the record of a call that begins now, and ends as ``outcome`` says, with ``text``."""
    return ToolCall(
        tool=request.tool,
        arguments=request.arguments,
        outcome=outcome,
        reply=reply,
        request_id=request.id,
        text=text,
        started_s=anyio.current_time() - epoch,
    )
