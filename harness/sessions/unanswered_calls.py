"""The record of a call without an answer: it was not sent, or its caller stopped waiting."""

from __future__ import annotations

import anyio

from harness.sessions.call_draft import CallDraft
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


def build_blocked_call(request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
    """Return the record of a call that is not sent because its tool is blocked."""
    draft = CallDraft(request, reply, anyio.current_time() - epoch)
    return draft.build_record("blocked", explain_block(request.tool))


def explain_block(tool: str) -> str:
    """Return which guard rail keeps the call from the server."""
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"
