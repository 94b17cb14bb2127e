"""Reads a server's stderr continuously, so that the server never blocks, and keeps the end."""

from __future__ import annotations

import os

import anyio

from harness.base import KNOWN

KEPT_BYTES = 16_384
"""Bytes kept from the end: enough for a traceback, small enough for a log line."""

REST_S = 0.1
"""Longest pause in seconds between two reads: many servers write a line for each call, and waking
up for each would be costly. The pause doubles up to this value while little is written."""

_FIRST_REST_S = 0.001
_READ_BYTES = 65_536
_MUCH_BYTES = 16_384


class StderrTail:
    """Reads the pipe of a server's stderr and keeps its end."""

    def __init__(self, fd: int) -> None:
        """Take over the reading end ``fd``."""
        os.set_blocking(fd, False)
        self._fd: int | None = fd
        self._kept = b""

    async def read_continuously(self) -> None:
        """Read continuously until the other end closes the pipe."""
        rest_s = _FIRST_REST_S
        while self._fd is not None:
            await anyio.wait_readable(self._fd)
            count = self._drain()
            if count is None:
                return
            # The pipe of a server that writes much must not fill up, or the server would be slowed
            # down.
            rest_s = _FIRST_REST_S if count >= _MUCH_BYTES else min(2 * rest_s, REST_S)
            await anyio.sleep(rest_s)

    def get_text(self) -> str:
        """Return the last lines written so far, at most `KEPT_BYTES`, without known secrets."""
        # What came since the last pause may be the reason why this is asked.
        self._drain()
        kept = self._kept
        # The limit has cut the first line, and half a secret in it would not be redacted.
        if len(kept) == KEPT_BYTES:
            kept = kept[kept.find(b"\n") + 1 :]
        return KNOWN.redact_text(kept.decode("utf-8", "replace").strip("\n"))

    def close(self) -> None:
        """Read the rest of the pipe and close it."""
        self._drain()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _drain(self) -> int | None:
        """Read once without waiting; return the number of bytes, ``None`` at the end."""
        if self._fd is None:
            return None
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return 0
        self._kept = (self._kept + data)[-KEPT_BYTES:]
        return len(data) or None
