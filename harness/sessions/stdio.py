"""MCP over the stdin and stdout of a process: one JSON-RPC message a line.

The two streams have no task of their own: a message is written and parsed in the task that sends
or waits for it. Reading is linear in what arrives, and lenient where that costs nothing: one bad
byte, one lone surrogate or one batch must not leave a call without its answer.

| the server prints                          | what becomes of it                                    |
|--------------------------------------------|-------------------------------------------------------|
| a line that is not JSON-RPC                | skipped; the first one is kept for error messages     |
| more than `MAX_LINE_BYTES` without newline | the connection is lost                                |
| bytes that are not UTF-8, lone surrogates  | replaced by U+FFFD                                    |
| NaN, Infinity                              | replaced by their names as text: JSON has no such     |
| a batch                                    | taken apart                                           |
| an answer that is none (``result: null``)  | a JSON-RPC error of code `MALFORMED`                  |
| a notification                             | dropped: nobody listens, and each would cost a task   |
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, ByteSendStream, ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCNotification, jsonrpc_message_adapter

from harness.sessions.client import McpClient, open_client
from harness.sessions.process import ServerProcess

MAX_LINE_BYTES = 64_000_000
"""Longest message that is read: several hundred times what fits into any model's context."""

MALFORMED = INVALID_REQUEST
"""Error code of an answer that is not a JSON-RPC answer."""

NOTIFY_S = 0.1
"""How long a notification may wait for a server that does not read; it is only a courtesy."""

_READ_BYTES = 65_536
_EXCERPT_CHARS = 200
_DECODER = json.JSONDecoder(parse_constant=str)


@dataclass(frozen=True, slots=True)
class StdioLink:
    """A client that talks to a process, and what is known of the talk."""

    client: McpClient
    """Sends requests."""
    _reader: StdioReader

    @property
    def complaint(self) -> str | None:
        """What the server did wrong, where the connection had to end because of it."""
        return self._reader.complaint

    @property
    def noise(self) -> str | None:
        """The beginning of the first line on stdout that is not MCP."""
        return self._reader.noise


@asynccontextmanager
async def connect(
    process: ServerProcess, meta: Mapping[str, Any], on_closed: Callable[[], None]
) -> AsyncGenerator[StdioLink]:
    """Talk MCP to ``process``; ``on_closed`` is called once it no longer listens or answers."""
    reader = StdioReader(process.stdout, on_closed)
    async with open_client(reader, StdioWriter(process.stdin, on_closed), meta) as client:
        yield StdioLink(client, reader)


class StdioReader(ObjectReceiveStream[SessionMessage | Exception]):
    """What the server says, message by message, until it is gone."""

    def __init__(self, stdout: ByteReceiveStream, on_closed: Callable[[], None]) -> None:
        """Read from ``stdout``; ``on_closed`` is called once nothing more will come."""
        self.complaint: str | None = None
        self.noise: str | None = None
        self._stdout = stdout
        self._on_closed = on_closed
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._lines: deque[bytes] = deque()
        self._messages: deque[SessionMessage] = deque()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Raises:
            EndOfStream: the server is gone.
        """
        while not self._messages:
            while not self._lines:
                await self._read()
            self._messages.extend(self._parse(self._lines.popleft()))
        return self._messages.popleft()

    async def aclose(self) -> None:
        """Do nothing: the pipe belongs to the process."""

    async def _read(self) -> None:
        try:
            chunk = await self._stdout.receive(_READ_BYTES)
        except (anyio.EndOfStream, anyio.ClosedResourceError, OSError):
            self._close()
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._lines.extend(lines)
            self._rest, self._rest_bytes = [], 0
        self._rest.append(rest)
        self._rest_bytes += len(rest)
        if self._rest_bytes > MAX_LINE_BYTES:
            self.complaint = f"wrote more than {MAX_LINE_BYTES // 1_000_000} MB to stdout without a line end"
            self._close()
        if len(chunk) == _READ_BYTES:
            await anyio.lowlevel.checkpoint()  # a flood is always there to be read: let others live

    def _close(self) -> NoReturn:
        self._rest.clear()
        self._on_closed()
        raise anyio.EndOfStream

    def _parse(self, line: bytes) -> list[SessionMessage]:
        if not line.strip():
            return []
        text = line.decode("utf-8", "replace")
        try:
            value = _DECODER.decode(text)
            if "\\ud" in text or "\\uD" in text:
                value = _without_surrogates(value)
        except (ValueError, RecursionError):
            value = None
        frames = value if isinstance(value, list) else [value]
        messages = []
        for frame in frames:
            try:
                message = jsonrpc_message_adapter.validate_python(frame, by_name=False)
            except ValueError:
                answer = _malformed(frame)
                if answer is None:
                    self.noise = self.noise or text[:_EXCERPT_CHARS]
                    continue
                message = answer
            if not isinstance(message, JSONRPCNotification):
                messages.append(SessionMessage(message))
        return messages


class StdioWriter(ObjectSendStream[SessionMessage]):
    """What is said to the server; waits while the server does not read."""

    def __init__(self, stdin: ByteSendStream, on_closed: Callable[[], None]) -> None:
        """Write to ``stdin``; ``on_closed`` is called when the server no longer takes anything."""
        self._stdin = stdin
        self._on_closed = on_closed

    async def send(self, item: SessionMessage) -> None:
        """Write one message.

        Raises:
            BrokenResourceError: the server is gone, or closed its stdin.
        """
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            if isinstance(item.message, JSONRPCNotification):
                with anyio.move_on_after(NOTIFY_S):
                    await self._stdin.send(line)
            else:
                await self._stdin.send(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, RuntimeError) as error:
            self._on_closed()
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Do nothing: the pipe belongs to the process."""


def _malformed(frame: Any) -> JSONRPCError | None:
    """Return the error that answers a request whose answer is no answer, if it names the request."""
    match frame:
        case {"id": bool()} | {"method": _}:
            return None
        case {"id": int() | str() as request_id}:
            excerpt = json.dumps({key: value for key, value in frame.items() if key != "id"}, ensure_ascii=False)
            message = f"the server's answer is not a JSON-RPC 2.0 answer: {excerpt[:_EXCERPT_CHARS]}"
            return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=MALFORMED, message=message))
        case _:
            return None


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value
