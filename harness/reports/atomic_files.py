"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from harness.base import guard_stream


def write_atomically(path: Path, write: Callable[[TextIO], None]) -> None:
    """Have ``write`` fill a file beside ``path``, sync it, and put it in the place of ``path``.

    No secret that this process knows gets into it.

    A reader sees the old file or the new one, never a part; after a crash, too. A symbolic link
    keeps pointing where it points, and what is no regular file (``/dev/stdout``, a pipe) is written
    to directly.

    Raises:
        OSError: the folder cannot be written to, or the disk is full; ``path`` is as it was.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
            write(guard_stream(stream))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Cut, since a file system takes 255 bytes, and this name is longer than the one that was given.
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("x", encoding="utf-8", errors="replace", newline="") as stream:
            write(guard_stream(stream))
            stream.flush()
            os.fsync(stream.fileno())
        # After the sync: otherwise a crash could leave the new name with half of the content.
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    # Makes the new name outlive a power cut.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
