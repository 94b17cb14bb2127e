"""Files without a name: they end with the process, whatever ends it."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from harness.base import HarnessError

_CACHE_KB = 4_000
"""What a database holds in memory."""


def nameless_file(folder: Path) -> IO[bytes]:
    """Return an open file in ``folder``, or where temporary files go if nothing can be added there.

    Raises:
        HarnessError: there is no room for it.
    """
    with explain_full_disk(folder):
        try:
            return tempfile.TemporaryFile(dir=folder)
        except OSError:  # a folder of others, or a disk that is read-only
            return tempfile.TemporaryFile()


def nameless_database(folder: Path, table: str) -> sqlite3.Connection:
    """Return a database with ``table`` whose file is in ``folder``, if it can be, and has no name.

    Any thread may use it. What is written to it need not survive the process.

    Raises:
        HarnessError: there is no room for it.
    """
    # SQLite needs a name to open a file here; it is unlinked at once, and lives on without one.
    draft = folder / f".results.{os.getpid()}.{secrets.token_hex(4)}.sqlite"
    try:
        db = _open_database(str(draft), table)
    except sqlite3.Error:
        with explain_full_disk(folder):
            return _open_database("", table)  # SQLite's own name for a passing file
    finally:
        with suppress(OSError):
            draft.unlink()
    return db


def _open_database(place: str, table: str) -> sqlite3.Connection:
    # Without transactions of its own: a single one is begun below, and never ends.
    db = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    try:
        for name, value in (
            # Nothing is ever rolled back, and nothing need survive the process.
            ("journal_mode", "OFF"),
            ("synchronous", "OFF"),
            ("locking_mode", "EXCLUSIVE"),
            ("cache_size", -_CACHE_KB),
        ):
            with closing(db.execute(f"PRAGMA {name} = {value}")):
                pass
        db.execute(table)
        db.execute("BEGIN")  # never committed: nobody else reads it
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def explain_full_disk(folder: Path) -> Iterator[None]:
    """Turn the error of a full disk into one in words.

    Raises:
        HarnessError: a file could not be written.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise HarnessError(
            f"there is no room for the results of this run, neither in {folder} nor in the folder "
            f"for temporary files: {error}\n  Make room on one of the two disks, or set TMPDIR."
        ) from error
