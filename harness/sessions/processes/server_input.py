"""The stdin of a server process: whether the process read any of it, and how it closes."""

from __future__ import annotations

import array
import asyncio
import fcntl
import os
import termios
from contextlib import suppress

import anyio
from anyio.abc import ByteSendStream

CLOSE_S = 0.1
"""Seconds to wait; a pipe closes with its process, unless another process holds its other end."""


async def wait_closed(stdin: ByteSendStream) -> None:
    """Wait for ``stdin`` to close after its process has ended.

    A process that ends without reading breaks the pipe. Early releases of Python 3.11 print a
    traceback for a broken pipe that is never waited for; anyio has no function for that wait.
    """
    stream = getattr(stdin, "_stream", None)
    if isinstance(stream, asyncio.StreamWriter):
        with anyio.move_on_after(CLOSE_S), suppress(OSError):
            await stream.wait_closed()


class ServerInput(ByteSendStream):
    """Writes to the stdin of a server."""

    def __init__(self, stdin: ByteSendStream) -> None:
        """Write to ``stdin``."""
        self._stdin = stdin
        self._written = 0
        # anyio has no public way to the pipe itself.
        self._transport = getattr(getattr(stdin, "_stream", None), "transport", None)
        pipe = None if self._transport is None else self._transport.get_extra_info("pipe")
        # The event loop closes its own end as soon as the other one is closed.
        self._kept: int | None = None
        with suppress(ValueError, OSError):  # a server that ended at once: its pipe is closed
            self._kept = None if pipe is None else os.dup(pipe.fileno())

    @property
    def was_ignored(self) -> bool:
        """Whether the server took nothing of what was written, as far as the system tells."""
        return self._count_unread() >= self._written

    async def send(self, item: bytes) -> None:
        """Write ``item``."""
        await self._stdin.send(item)
        # Where the process has ended meanwhile, the event loop drops it, and says so only later.
        if self._transport is None or not self._transport.is_closing():
            self._written += len(item)

    async def aclose(self) -> None:
        """Close it; the server sees the end."""
        # The server sees the end only when both copies are closed.
        if self._kept is not None:
            os.close(self._kept)
            self._kept = None
        await self._stdin.aclose()

    async def wait_closed(self) -> None:
        """Wait for it to close after the process has ended."""
        await wait_closed(self._stdin)

    def _count_unread(self) -> int:
        """Return the number of bytes that wait in the pipe; 0 on systems that do not tell."""
        waiting = array.array("i", [0])
        if self._kept is not None:
            with suppress(OSError):
                fcntl.ioctl(self._kept, termios.FIONREAD, waiting)
        return waiting[0]
