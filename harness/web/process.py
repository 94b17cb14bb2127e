"""The page's side of a run's process; `harness.web.worker` is the other side."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Self

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from harness.base import HarnessError
from harness.sessions import wait_closed

READY_S = 30.0
"""Seconds from an upload to its plan: a process starts, reads and plans."""
REAP_S = 3.0
"""Seconds from SIGKILL to giving up: only a process stuck in the kernel takes this long."""
# Bytes of one message; `worker` shortens what would be longer (`_MOST_SAID`).
_LINE = 4_000_000
_GONE = (
    anyio.IncompleteRead,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.DelimiterNotFound,  # its message has an unknown form
)


class UploadRefused(HarnessError):
    """The upload cannot be run."""

    def __init__(self, problems: list[dict[str, Any]]) -> None:
        """Each problem is ``{line, column, message, meant}``."""
        super().__init__("; ".join(str(problem["message"]) for problem in problems))
        self.problems = problems


class RunProcess:
    """The process of a run."""

    def __init__(self, process: anyio.abc.Process) -> None:
        """Manage ``process``."""
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._orders = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def start(cls, order: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Start a process and return it with its plan of the upload.

        Raises:
            Refused: the upload cannot be run; the process has ended.
        """
        process = await anyio.open_process(
            # -P: nothing is imported from the working directory
            [sys.executable, "-P", "-m", "harness.web.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Inherited: a traceback of the worker appears in the terminal of the server.
            stderr=None,
            start_new_session=True,  # the page handles Ctrl-C in the terminal and passes it on
        )
        worker = cls(process)
        message: dict[str, Any] | None = None
        try:
            # A process that ended before it read its order sends no message, which is told below.
            with anyio.move_on_after(READY_S), suppress(OSError, anyio.BrokenResourceError):
                await process.stdin.send(json.dumps(order).encode() + b"\n")  # type: ignore[union-attr]
                message = await worker.receive()
        finally:
            # Also if this request was cancelled meanwhile: only a process with a plan is handed on.
            if message is None or "ready" not in message:
                await worker.kill()
        if message is None:
            words = "the file could not be read in time, or its reader broke down."
            raise UploadRefused([{"line": None, "column": None, "message": words, "meant": None}])
        if "ready" not in message:
            raise UploadRefused(message["invalid"])
        return worker, message["ready"]

    async def begin(self) -> None:
        """Let it run."""
        await self._orders.send(b"go\n")

    async def receive(self) -> dict[str, Any] | None:
        """Return its next message; ``None`` when it has ended."""
        # A pipe may break in the midst of a line; whatever it was, nothing more will come.
        with suppress(*_GONE):
            message: dict[str, Any] = json.loads(await self._lines.receive_until(b"\n", _LINE))
            return message
        return None

    async def iterate_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield its messages until its end; each trial has a deadline of its own."""
        while (message := await self.receive()) is not None:
            yield message

    def interrupt(self, number: signal.Signals) -> None:
        """Interrupt it; the second time, it ends at once. ``number`` is recorded in its log."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def kill(self) -> None:
        """Kill it, and wait for its end."""
        # A request that is given up must not leave a process behind.
        with anyio.CancelScope(shield=True):
            # It may end between the question and the signal.
            with suppress(ProcessLookupError):
                if self._process.returncode is None:
                    self._process.kill()
            with anyio.move_on_after(REAP_S):
                await self._process.wait()
            await self._process.aclose()
            await wait_closed(self._orders)

    async def wait_for_end(self, within_s: float) -> bool:
        """Wait for its end."""
        with anyio.move_on_after(within_s):
            await self._process.wait()
        return self._process.returncode is not None
