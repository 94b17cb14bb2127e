"""Writes a run log, line by line."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from harness.base import HarnessError
from harness.runlog.lines import Line, dump_line


class LogWriter:
    """Appends lines; each is in the hands of the operating system before `append` returns.

    That makes it survive ``kill -9`` of this process. `close` also syncs the file to the disk.
    """

    def __init__(
        self,
        path: Path,
        scrub: Callable[[str], str] = str,
        learn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Open ``path`` for appending, cutting off a torn last line; ``scrub`` removes secrets.

        ``learn`` is told of secrets that come up later, so that ``scrub`` removes them, too.
        """
        self.path = path
        self.learn = learn
        self._scrub = scrub
        self._fd = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            # The lock before the cut: what looks torn may be a line that another process writes.
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._cut_torn_line()
        except OSError as error:
            if self._fd >= 0:
                os.close(self._fd)
            why = f"cannot be opened: {error.strerror}"
            if isinstance(error, BlockingIOError):
                why = "is being written by another process"
            raise HarnessError(f"the run log {path} {why}") from error

    def append(self, line: Line) -> None:
        """Write one line, whole.

        Raises:
            HarnessError: the disk is full or the file has become unwritable.
        """
        self.write(self.prepare_line(line))

    def prepare_line(self, line: Line) -> bytes:
        """Return ``line`` as `write` takes it; slow for a large one, so fit for a thread."""
        return (self._scrub(dump_line(line)) + "\n").encode()

    def write(self, data: bytes) -> None:
        """Write what `prepare_line` returned; errors are those of `append`."""
        # A write may take only a part; if it then fails, the log ends where it did before.
        before = os.fstat(self._fd).st_size
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, before)  # half a line would be taken for a damaged one
            raise HarnessError(
                f"the run log {self.path} cannot be written: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Sync to the disk and close, and discard an empty log; harmless if closed already."""
        if self._fd >= 0:
            try:
                os.fsync(self._fd)
                # Before the lock is given up, so that nobody else has begun to write to it.
                if os.fstat(self._fd).st_size == 0:
                    discard_log(self.path)
            finally:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _cut_torn_line(self) -> None:
        end = size = os.fstat(self._fd).st_size
        found = -1
        # The descriptor of the log can only write.
        with self.path.open("rb") as file:
            while end > 0 and found < 0:  # backwards in blocks, to the last newline
                start = max(0, end - 65536)
                found = os.pread(file.fileno(), end - start, start).rfind(b"\n")
                end = start + found + 1 if found >= 0 else start
        if end < size:
            os.ftruncate(self._fd, end)


def discard_log(path: Path) -> None:
    """Remove the log at ``path``, and its folder if nothing else is in it."""
    with suppress(OSError):
        path.unlink()
        # It fails, as it should, if anything else is in the folder.
        path.parent.rmdir()
