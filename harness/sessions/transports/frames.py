"""Reads JSON-RPC messages of servers, leniently where that does no harm.

The server's output, and its handling:

- not JSON-RPC: skipped; its beginning is kept for error messages
- several JSON documents behind each other: read one by one, up to the first text that is no JSON
- an id with a decimal point (``2.0``): the whole number
- half a surrogate pair: replaced by U+FFFD
- NaN, Infinity: replaced by their names as text, since JSON has no such numbers
- too deep nesting, endless integers: replaced by a text (`harness.base.json_text`)
- a batch: split into its messages
- an invalid answer (``result: null``): replaced by a JSON-RPC error that `is_no_answer` recognises
- a notification: kept for `harness.sessions.side_channels.UnsolicitedMessages`
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from harness.base import joined_documents, load_json
from harness.types import JsonObject

MAX_MESSAGE_BYTES = 64_000_000
"""Largest message that is read: several hundred times a model's context."""

MALFORMED = INVALID_REQUEST
"""Error code of an answer that is not a JSON-RPC answer."""

_NO_ANSWER = object()
"""Data that marks the error for such an answer; no server can send an equal value."""

Message = JSONRPCRequest | JSONRPCResponse | JSONRPCError | JSONRPCNotification
"""A message of a server."""

UNSOLICITED = (JSONRPCRequest, JSONRPCNotification)
"""Messages that are not answers."""

_EXCERPT_CHARS = 200
_END_OF_HANDSHAKE = "notifications/initialized"


@dataclass
class ReceivedMessage(SessionMessage):
    """A message of a server."""

    frame: JsonObject | None = None
    """The frame as written; ``None`` if the message replaces one that is not JSON-RPC."""


def is_optional(message: JSONRPCMessage) -> bool:
    """Whether a server may miss ``message``; without the end of a handshake it answers nothing."""
    return isinstance(message, JSONRPCNotification) and message.method != _END_OF_HANDSHAKE


def read_frames(text: str) -> tuple[list[ReceivedMessage], str | None]:
    """Return the messages in the JSON ``text``, and its beginning if a part is not a message."""
    messages: list[ReceivedMessage] = []
    noise = None
    for value in _iterate_values(text):
        for frame in value if isinstance(value, list) else [value]:
            try:
                # By MCP's own names only: the SDK's models would take Python's as well.
                message: Message = jsonrpc_message_adapter.validate_python(
                    _normalize_id(frame), by_name=False
                )
            except ValueError:
                answer = _build_malformed_error(frame)
                if answer is None:
                    noise = noise or text[:_EXCERPT_CHARS]
                    continue
                message = answer
            messages.append(ReceivedMessage(message, frame=frame))
    return messages, noise


def _normalize_id(frame: Any) -> Any:
    """Return ``frame`` with an id such as 2.0 as 2, the same number in JSON."""
    request_id = frame.get("id") if isinstance(frame, dict) else None
    if isinstance(request_id, float) and request_id.is_integer():
        return {**frame, "id": int(request_id)}
    return frame


def _iterate_values(text: str) -> Iterator[Any]:
    """Yield the JSON values of ``text``, and ``None`` for the rest if it is no JSON.

    A message behind other text stays unread: a server that logs what it receives would seem to ask.
    """
    try:
        yield load_json(text)
    except ValueError:
        for document in joined_documents(text):
            try:
                yield load_json(document)
            except ValueError:
                yield None
                return


def build_no_answer(request_id: RequestId, what: str) -> JSONRPCError:
    """Return the error for an answer that is not MCP; ``what`` came instead."""
    message = f"the server's answer is not a JSON-RPC 2.0 answer: {what[:_EXCERPT_CHARS]}"
    error = ErrorData(code=MALFORMED, message=message, data=_NO_ANSWER)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def is_no_answer(data: Any) -> bool:
    """Whether an error with this ``data`` is harness's own marker for an answer that is not MCP."""
    return data is _NO_ANSWER


UNRECORDED = "harness/recording"
"""The key in the data of an error by which a server that is a recording says: it has no answer."""


def is_unrecorded(data: Any) -> bool:
    """Whether an error with this ``data`` says that a recording has no answer to the request."""
    return isinstance(data, Mapping) and UNRECORDED in data


def is_closed(error: MCPError) -> bool:
    """Whether an error is the SDK's own, for a closed connection, and not the server's."""
    return (
        # The code alone says too little: servers may use -32000 for errors of their own.
        error.code == CONNECTION_CLOSED
        and error.message == "Connection closed"
        and error.data is None
    )


def _build_malformed_error(frame: Any) -> JSONRPCError | None:
    """Return the error for an invalid answer, if the answer names its request."""
    match frame:
        # To Python `True` is a number, and a message with a method is no answer.
        case {"id": bool()} | {"method": _}:
            return None
        case {"id": int() | str() as request_id}:
            rest = {key: value for key, value in frame.items() if key != "id"}
            return build_no_answer(request_id, json.dumps(rest, ensure_ascii=False))
        case _:
            return None


_KEPT = 16


class Noise:
    """The texts of one connection that were no MCP, of which the last few are kept."""

    def __init__(self, where: str, unfinished: Callable[[], str] = str) -> None:
        """``where`` says in a message where they stood.

        ``unfinished`` returns the beginning of a line without an end, if there is one.
        """
        self.count = 0
        """Number of texts so far."""
        self._where = where
        self._unfinished = unfinished
        self._last: deque[str] = deque(maxlen=_KEPT)

    def add(self, text: str | None) -> None:
        """Keep ``text``, if there is one."""
        if text is not None:
            self.count += 1
            self._last.append(text)

    def get_first_since(self, count: int = 0) -> str | None:
        """Return the first text that is kept of those after the first ``count``."""
        new = min(self.count - count, len(self._last))
        return self._last[-new] if new else None

    def quote_since(self, count: int = 0) -> str:
        """Return the same, or else an unfinished line, for the end of a message; may be empty."""
        text, what = (self.get_first_since(count) or "").strip(), "text that is not MCP"
        if not text:
            text, what = self._unfinished().strip(), "a line without an end"
        return f"; {self._where} it wrote {what}: {text}" if text else ""
