"""Calls that a guard rail keeps from the server."""

from __future__ import annotations

import anyio

from harness.sessions.call_draft import CallDraft
from harness.types import (
    ToolCall,
    ToolRequest,
)


def build_blocked_call(request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
    """Return the record of a call that is not sent because its tool is blocked."""
    draft = CallDraft(request, reply, anyio.current_time() - epoch)
    return draft.build_record("blocked", explain_block(request.tool))


def explain_block(tool: str) -> str:
    """Return which guard rail keeps the call from the server."""
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"
