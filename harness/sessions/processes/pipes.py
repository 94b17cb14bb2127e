"""The stdin pipe of a process that ended."""

from __future__ import annotations

import asyncio
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
