"""Calls without a plain answer: the record of one that was not sent, and texts for others."""

from __future__ import annotations

import json
from typing import Any

import anyio

from harness.base import find_shortcoming, load_json
from harness.types import JsonObject, Outcome, ToolCall, ToolRequest


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


def explain_block(tool: str) -> str:
    """Return which guard rail keeps the call from the server."""
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"


def explain_malformed(raw: str) -> str:
    """Return why arguments are malformed and so are not sent."""
    try:
        # JSON that is merely too deep or has a number too long is told apart from no JSON.
        why = find_shortcoming(load_json(raw, strict=True))
    except ValueError:
        why = None
    if why is None:
        return "the arguments are not a JSON object"
    return f"harness did not send the arguments: {why}"


def describe_required_input(result: JsonObject, *, may_answer: bool) -> str:
    """Return which input the server requests; a client behind the session may provide it."""
    requests = result.get("inputRequests")
    wanted = ", ".join(sorted(requests)) if isinstance(requests, dict) else ""
    what = f"the server asks for more input{f' ({wanted})' if wanted else ''}"
    return f"{what}, which {'the client did not give' if may_answer else 'harness cannot give'}"


def format_error_data(data: Any) -> str:
    """Return the data of an error as text."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
