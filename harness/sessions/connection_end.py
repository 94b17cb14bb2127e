"""The end of a connection in words: the server's last output, and the errors within a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from harness.base import NotAdmitted, ServerError, TooBusy
from harness.sessions.processes.http_servers import Host
from harness.sessions.processes.launchers import describe_download
from harness.sessions.processes.process import ServerProcess
from harness.sessions.transports.handshake import find_hint
from harness.types import ServerSpec

if TYPE_CHECKING:
    from harness.sessions.client import Link

Place: TypeAlias = ServerProcess | Host
"""Where a server runs: a process with pipes, or a URL."""

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


async def describe_end(link: Link, place: Place) -> str:
    """Return how it ended; the process's exit first, since HTTP only shows a refused connection."""
    if isinstance(place, ServerProcess):
        return link.source.complaint or await place.describe_exit()
    return await place.describe_exit() or link.source.complaint or "no longer answers"


def describe_lateness(step: str, spec: ServerSpec, link: Link | None) -> str:
    """Return that the server did not do ``step`` in time, and what may be why."""
    why = f"did not {step} within {spec.start_timeout_s:g} s of its start"
    if link is not None:
        why += link.client.hindrance + find_hint(step, spec, link.client)
    return why + describe_download(spec)


def build_failure(
    why: str,
    tail: str,
    others: Sequence[str] = (),
    *,
    refused: int | None,
    gone: bool,
    busy: bool,
) -> ServerError:
    """Return the error of a connection that did not open, ``refused`` with an HTTP status or not.

    ``tail`` is the end of the server's stderr, ``others`` what it says beside its last words.
    """
    text = "\n    ".join((why, *(line[:WORDS_CHARS] for line in others)))
    if busy:
        return TooBusy(text, stderr_tail=tail)
    if refused is None:
        return ServerError(text, stderr_tail=tail, gone=gone)
    return NotAdmitted(text, status=refused, stderr_tail=tail)
