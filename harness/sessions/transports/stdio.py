"""MCP over the stdin and stdout of a process: one JSON-RPC message per line.

The two streams have no task of their own: a message is written and parsed in the task that sends
or waits for it. Reading is linear in what arrives, and lenient where that costs nothing (see
`harness.sessions.transports.frames`): one bad byte must not leave a call without its answer.

| the server prints                             | what becomes of it     |
|-----------------------------------------------|------------------------|
| more than `MAX_MESSAGE_BYTES` without newline | the connection is lost |
| bytes that are not UTF-8                      | replaced by U+FFFD     |
| more than `MAX_UNSOLICITED` things, and no answer | the connection is lost |
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NoReturn

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, ByteSendStream, ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

from harness.sessions.client import Link, open_client
from harness.sessions.processes.process import ServerProcess
from harness.sessions.server_messages import FLOOD, UnsolicitedCount
from harness.sessions.transports.frames import (
    MAX_MESSAGE_BYTES,
    UNSOLICITED,
    Noise,
    ReceivedMessage,
    is_optional,
    read_frames,
)
from harness.types import JsonObject

NOTIFY_S = 0.1
"""Seconds that an optional notification may wait for a server that does not read."""

_READ_BYTES = 65_536
# uvloop raises RuntimeError for a closed pipe.
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, RuntimeError)
_FIRST_PARTS, _EXCERPT_BYTES = 8, 200


@asynccontextmanager
async def connect(
    process: ServerProcess, meta: JsonObject, on_closed: Callable[[], None]
) -> AsyncGenerator[Link]:
    """Connect to ``process``; ``on_closed`` is called when it no longer reads or writes."""
    assert process.stdout is not None
    reader = StdioReader(process.stdout, on_closed)
    writer = StdioWriter(process.stdin, on_closed)
    async with open_client(reader, writer, meta, transport="pipe") as client:
        yield Link(client, reader)


class StdioReader(ObjectReceiveStream[SessionMessage | Exception]):
    """Reads the server's messages, until the server is gone."""

    def __init__(self, stdout: ByteReceiveStream, on_closed: Callable[[], None]) -> None:
        """Read from ``stdout``; ``on_closed`` is called at its end."""
        self.complaint: str | None = None
        self.noise = Noise("on stdout", self._get_unfinished)
        self._stdout = stdout
        self._on_closed = on_closed
        # Parts, joined at the end of the line: appending to bytes would be quadratic in its length.
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._lines: deque[bytes] = deque()
        self._messages: deque[ReceivedMessage] = deque()
        self._unasked = UnsolicitedCount()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Raises:
            EndOfStream: the server is gone.
        """
        while not self._messages:
            while not self._lines:
                await self._read_chunk()
            line = self._lines.popleft()
            text = line.decode("utf-8", "replace")
            messages, noise = read_frames(text) if line.strip() else ([], None)
            self.noise.add(noise)
            self._messages.extend(messages)
            # True of no messages, too: blank lines and noise count as well.
            if all(isinstance(each.message, UNSOLICITED) for each in messages):
                if await self._unasked.count_message():
                    self.complaint = FLOOD
                    self._close()
            else:
                self._unasked.reset()
        return self._messages.popleft()

    async def aclose(self) -> None:
        """Do nothing: the pipe belongs to the process."""

    async def _read_chunk(self) -> None:
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
        if self._rest_bytes > MAX_MESSAGE_BYTES:
            self.complaint = (
                f"wrote more than {MAX_MESSAGE_BYTES // 1_000_000} MB to stdout without a line end"
            )
            self._rest.clear()
            self._close()
        if len(chunk) == _READ_BYTES:
            await anyio.lowlevel.checkpoint()  # a flood leaves no pause: let other tasks run

    def _get_unfinished(self) -> str:
        return b"".join(self._rest[:_FIRST_PARTS])[:_EXCERPT_BYTES].decode("utf-8", "replace")

    def _close(self) -> NoReturn:
        # The beginning stays for the message that quotes an unfinished line.
        del self._rest[_FIRST_PARTS:]
        self._on_closed()
        raise anyio.EndOfStream


class StdioWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to the server; sending waits while the server does not read."""

    def __init__(self, stdin: ByteSendStream, on_closed: Callable[[], None]) -> None:
        """Write to ``stdin``; ``on_closed`` is called when the server no longer reads."""
        self._stdin = stdin
        self._on_closed = on_closed

    async def send(self, item: SessionMessage) -> None:
        """Write one message.

        Raises:
            BrokenResourceError: the server is gone, or closed its stdin.
        """
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            with anyio.move_on_after(NOTIFY_S if is_optional(item.message) else None):
                await self._stdin.send(line)
        except _CLOSED as error:
            self._on_closed()
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Do nothing: the pipe belongs to the process."""
