"""SQLite connections that end with the object that holds them."""

from __future__ import annotations

import sqlite3
import weakref
from contextlib import suppress


def close_with(owner: object, connection: sqlite3.Connection) -> None:
    """Close ``connection`` when ``owner`` is gone.

    The garbage collector may find that out in any thread, and SQLite lets only the connection's own
    close it: then it is closed as it is itself collected.
    """
    weakref.finalize(owner, _close, connection)


def _close(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):
        connection.close()
