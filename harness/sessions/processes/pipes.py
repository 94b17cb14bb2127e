"""The pipe into a process, seen off as it ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import anyio
from anyio.abc import ByteSendStream

CLOSE_S = 0.1
"""How long to ask; a pipe is closed as soon as its process is gone, unless a stranger holds its
other end."""


async def see_off(stdin: ByteSendStream) -> None:
    """Ask how ``stdin`` closed, after its process has ended.

    A process that leaves without reading breaks the pipe. Early releases of Python 3.11 print a
    traceback for a broken pipe that nobody asked about; anyio, which does not ask, has no name for
    the question either.
    """
    stream = getattr(stdin, "_stream", None)
    if isinstance(stream, asyncio.StreamWriter):
        with anyio.move_on_after(CLOSE_S), suppress(OSError):
            await stream.wait_closed()
