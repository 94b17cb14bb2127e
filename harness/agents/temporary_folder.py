"""Temporary folders of agents, and the removal of those that a killed harness left behind.

The process that makes a folder holds a lock on a file in it. The system frees the lock when that
process ends in any way, so a folder whose lock is free has no owner. A process id would not do: the
system gives it to another process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

_PREFIX = "harness-agent-"
_LOCK = ".owner.lock"
_NEW = ".owner.new"


class TemporaryFolder:
    """A new folder that is this process's own until `remove`."""

    def __init__(self) -> None:
        """Make the folder, and remove those of processes that have ended."""
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        new = self.path / _NEW
        self._lock = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        # Without locks, as on some network file systems, nobody can tell whose the folder is.
        with suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(self.path / _LOCK)  # only now: nobody finds it unlocked

    def remove(self) -> None:
        """Remove the folder with all its content."""
        try:
            _remove_folder(self.path)
        finally:
            os.close(self._lock)

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self.remove()


def remove_abandoned() -> None:
    """Remove the folders of this user's processes that have ended.

    Others may make any name in the folder for temporary files, so only a real folder counts that
    belongs to this user and has a lock which nobody holds.
    """
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # neither a link nor a pipe that waits
    lock = os.open(folder / _LOCK, flags)
    try:
        if stat.S_ISREG(os.fstat(lock).st_mode):
            # Raises `OSError` if the owner still holds it; the caller goes on with the next folder.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_folder(folder)
    finally:
        os.close(lock)


def _remove_folder(root: Path) -> None:
    """Remove ``root``, its lock last: what a second kill leaves is found again."""

    def retry_unlocked(again: Callable[[str], Any], path: str, _error: object) -> None:
        """Retry what failed: a folder may have been made unreadable or read-only."""
        with suppress(OSError):
            Path(path).parent.chmod(stat.S_IRWXU)
            if Path(path).is_dir() and not Path(path).is_symlink():
                Path(path).chmod(stat.S_IRWXU)
                shutil.rmtree(path, ignore_errors=True)
            else:  # its own mode does not matter, and that of what it links to is not ours
                again(path)

    with suppress(OSError):
        root.chmod(stat.S_IRWXU)
        for child in [*root.iterdir()]:
            if child.is_dir() and not child.is_symlink():
                # `onerror`, because Python 3.11 has no `onexc`.
                shutil.rmtree(child, onerror=retry_unlocked)
            elif child.name != _LOCK:
                child.unlink()
    shutil.rmtree(root, onerror=retry_unlocked)
