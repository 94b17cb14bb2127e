"""JSON-RPC messages as servers write them, read leniently where that costs nothing.

| a server writes                           | what becomes of it                                       |
|-------------------------------------------|----------------------------------------------------------|
| what is not JSON-RPC                      | skipped; its beginning is kept for error messages        |
| half a surrogate pair                     | replaced by U+FFFD                                       |
| NaN, Infinity                             | replaced by their names as text: JSON has no such        |
| what nests too deeply, endless integers   | a text in their place (`harness.json_bounds`)                 |
| a batch                                   | taken apart                                              |
| an answer that is none (``result: null``) | a JSON-RPC error that `is_no_answer` tells from others   |
| a notification                            | dropped: nobody listens, and each would cost a task      |
"""

from __future__ import annotations

import json
from typing import Any

from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from harness.json_bounds import loads

MAX_MESSAGE_BYTES = 64_000_000
"""Longest message that is read: several hundred times what fits into any model's context."""

MALFORMED = INVALID_REQUEST
"""Error code of an answer that is not a JSON-RPC answer."""

_NO_ANSWER = object()
"""Data of the error that stands for such an answer: nothing that a server can write is the same."""

Message = JSONRPCRequest | JSONRPCResponse | JSONRPCError
"""A message that somebody waits for."""

_EXCERPT_CHARS = 200


def read_frames(text: str) -> tuple[list[Message], str | None]:
    """Return the messages in the JSON document ``text``, and its beginning if something in it is no message."""
    try:
        value = loads(text)
    except ValueError:
        value = None
    messages: list[Message] = []
    noise = None
    for frame in value if isinstance(value, list) else [value]:
        try:
            message = jsonrpc_message_adapter.validate_python(frame, by_name=False)
        except ValueError:
            answer = _malformed(frame)
            if answer is None:
                noise = noise or text[:_EXCERPT_CHARS]
                continue
            message = answer
        if not isinstance(message, JSONRPCNotification):
            messages.append(message)
    return messages, noise


def no_answer(request_id: RequestId, what: str) -> JSONRPCError:
    """Return the error that stands for an answer which is not MCP; ``what`` came instead."""
    message = f"the server's answer is not a JSON-RPC 2.0 answer: {what[:_EXCERPT_CHARS]}"
    error = ErrorData(code=MALFORMED, message=message, data=_NO_ANSWER)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def is_no_answer(data: Any) -> bool:
    """Whether an error with this ``data`` stands for an answer that is not MCP, and is none of the server's own."""
    return data is _NO_ANSWER


def _malformed(frame: Any) -> JSONRPCError | None:
    """Return the error that answers a request whose answer is no answer, if it names the request."""
    match frame:
        case {"id": bool()} | {"method": _}:
            return None
        case {"id": int() | str() as request_id}:
            rest = {key: value for key, value in frame.items() if key != "id"}
            return no_answer(request_id, json.dumps(rest, ensure_ascii=False))
        case _:
            return None
