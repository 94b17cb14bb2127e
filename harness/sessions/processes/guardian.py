"""Controls the guardian, a process that ends the servers if harness itself is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

import anyio
from anyio.abc import Process

END_S = 2.0
"""Seconds for the guardian to notice that its pipe closed; it needs milliseconds."""

_NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that Python may need to start. The rest of the environment may contain secrets."""
_SCRIPT = Path(__file__).with_name("guardian_script.py")


class Guardian:
    """One helper process for all servers of a pool, started with the first of them.

    Use it as an async context manager: it ends on leaving.
    """

    def __init__(self) -> None:
        """Prepare; no process is started yet."""
        self._lock = anyio.Lock()
        self._process: Process | None = None
        self._pipe: int | None = None

    async def __aenter__(self) -> Self:
        """Return itself; the process waits for `start`."""
        return self

    async def start(self) -> None:
        """Start the helper, once; in a session of its own, so that no terminal signal reaches it.

        Raises:
            OSError: no further process can be started.
        """
        # Servers start at the same time, and only the first of them starts the guardian.
        async with self._lock:
            if self._process is not None:
                return
            read_end, write_end = os.pipe()
            try:
                # A cancellation between the fork and its return would leave an untracked process.
                with anyio.CancelScope(shield=True):
                    self._process = await anyio.open_process(
                        [sys.executable, "-I", "-S", str(_SCRIPT)],
                        stdin=read_end,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        cwd="/",
                        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
                        start_new_session=True,
                    )
            except OSError:
                os.close(write_end)
                raise
            finally:
                os.close(read_end)
            self._pipe = write_end

    def watch_group(self, group: int) -> None:
        """Register a process group; it is killed if harness ends before `release_group`."""
        self._write_line(f"+{group}\n")

    def release_group(self, group: int) -> None:
        """Unregister the process group, because it has ended."""
        self._write_line(f"-{group}\n")

    async def __aexit__(self, *_: object) -> None:
        """Close the pipe and wait for the helper's end.

        Never raises, never waits longer than `END_S`.
        """
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if self._process is None:
            return
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(END_S):
                await self._process.wait()
            if self._process.returncode is None:
                with suppress(ProcessLookupError):
                    self._process.kill()
            with anyio.move_on_after(END_S):
                await self._process.aclose()

    def _write_line(self, line: str) -> None:
        # The guardian may have been killed: the run is then less protected, but not broken.
        if self._pipe is not None:
            with suppress(BrokenPipeError):
                os.write(self._pipe, line.encode())
