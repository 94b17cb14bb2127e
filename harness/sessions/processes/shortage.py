"""Shortages of harness itself (open files, processes, memory), which are not the server's fault."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from harness.base import OutOfResources

# EAGAIN is the answer of `fork` at the limit of processes.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN})
_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def find_shortage(error: BaseException, doing: str) -> OutOfResources | None:
    """Return the error to raise if ``error`` comes from such a shortage, else ``None``.

    ``doing`` says what harness was doing, for the message.
    """
    systems = (each.errno for each in _iterate_causes(error) if isinstance(each, OSError))
    number = next((each for each in systems if each in _SHORTAGES), None)
    if number is None:
        return None
    remedy = " or raise the limit of open files (ulimit -n)" if number in _FILES else ""
    return OutOfResources(
        f"harness ran out of resources while {doing}: {os.strerror(number)} "
        f"({errno.errorcode[number]}). The server is not at fault: lower --concurrency{remedy}"
    )


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and all errors that it wraps or that caused it, the innermost last."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        # `__cause__` and `__context__` are often the same error, and may lead back to one.
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        waiting += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
