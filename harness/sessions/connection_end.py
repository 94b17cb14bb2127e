"""The end of a connection in words: the server's last output, and the errors within a group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.base import NotAdmitted, ServerError, TooBusy
from harness.sessions.processes.http_servers import Host
from harness.sessions.processes.process import ServerProcess

if TYPE_CHECKING:
    from harness.sessions.client import Link

WORDS_CHARS = 300
"""Most characters of one line that a server wrote, in a message."""


def quote_labelled(label: str, text: str) -> str:
    """Return ``; label: text``; empty without a text."""
    text = text.strip()
    return f"; {label}: {text[:WORDS_CHARS]}" if text else ""


def iterate_leaf_errors(error: BaseException) -> Iterator[str]:
    """Yield the errors within exception groups."""
    # Whatever escapes the SDK's client arrives in a group, even a single error.
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from iterate_leaf_errors(inner)
    else:
        yield f"{type(error).__name__}: {error}"


async def describe_end(link: Link, place: ServerProcess | Host) -> str:
    """Return how it ended; the process's exit first, since HTTP only shows a refused connection."""
    if isinstance(place, ServerProcess):
        return link.source.complaint or await place.describe_exit()
    return await place.describe_exit() or link.source.complaint or "no longer answers"


def build_failure(
    text: str, tail: str, *, refused: int | None, gone: bool, busy: bool
) -> ServerError:
    """Return the error of a connection that did not open, ``refused`` with an HTTP status or not.

    ``tail`` is the end of the server's stderr.
    """
    if busy:
        return TooBusy(text, stderr_tail=tail)
    if refused is None:
        return ServerError(text, stderr_tail=tail, gone=gone)
    return NotAdmitted(text, status=refused, stderr_tail=tail)
