"""Data beside the text and structured content of results, in which leaks are searched.

For a result these are its ``_meta``, the fields of content blocks beside their text, and the
notifications during the call. For a session they are the data that
`harness.sessions.side_channel_reader` reads. They are recorded only for watched sessions
(`harness.sessions.Session.watch`), up to `MOST_CHARS`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from harness.base import find_shortcoming
from harness.sessions.session import Session
from harness.types import STDERR, JsonObject, SideContent

MOST_CHARS = 20_000
"""Most characters that are kept of the data beside one result, and of one session's
surroundings."""
_STDERR_CHARS = 8_000
_OF_A_RESULT = frozenset({"content", "structuredContent", "isError", "resultType"})
_RENDERED = frozenset({"type", "text", "mimeType"})
"""Keys of a block whose values are in `harness.types.ToolCall.text`."""
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def limit_side_channels(asides: Iterable[SideContent]) -> tuple[SideContent, ...]:
    """Return ``asides`` up to `MOST_CHARS`; those that were cut say so, once for each place."""
    kept: list[SideContent] = []
    left = MOST_CHARS
    cut: set[str] = set()
    for aside in asides:
        whole = len(aside.text)
        if whole <= left:
            kept.append(aside)
        elif aside.place not in cut:
            cut.add(aside.place)
            why = aside.unread or f"only its first {left:,} of {whole:,} characters were kept"
            kept.append(replace(aside, text=aside.text[:left], unread=why))
        left = max(0, left - whole)
    return tuple(kept)


def iterate_side_channels(result: JsonObject) -> Iterator[SideContent]:
    """Yield the data of a ``tools/call`` result that its record lacks.

    Values that nest too deeply are left out, as everywhere in a record.
    """
    for key, value in result.items():
        if key not in _OF_A_RESULT:
            yield from wrap_side_channel(f"{key} of the result", value)
    blocks = result.get("content")
    for number, block in enumerate(blocks if isinstance(blocks, list) else (), start=1):
        if isinstance(block, Mapping):
            for key, value in block.items():
                if key == "resource" and isinstance(value, Mapping):
                    inner = {name: part for name, part in value.items() if name not in _RENDERED}
                    yield from wrap_side_channel(f"the resource in block {number}", inner)
                elif key not in _RENDERED:
                    yield from wrap_side_channel(f"{key} of block {number}", value)


def wrap_side_channel(place: str, value: Any) -> Iterator[SideContent]:
    """Yield ``value`` as an aside, unless it is empty; one that nests too deeply is not read."""
    if value in (None, "", [], {}):
        return
    if find_shortcoming(value) is not None:
        yield SideContent(place=place, unread="it nests too deeply, or has too long a number")
    else:
        yield SideContent(
            place=place, text=value if isinstance(value, str) else _COMPACT.encode(value)
        )


class UnsolicitedMessages:
    """Collects unsolicited messages of a server for the user whose request is running.

    A message does not name its user: while requests of several users are running, it is dropped.
    """

    def __init__(self) -> None:
        """Begin without any listener."""
        self._listeners: list[tuple[object, list[SideContent]]] = []

    def record_message(self, method: str, params: JsonObject | None) -> None:
        """Record one message of the server."""
        if not self._listeners or len({id(user) for user, _ in self._listeners}) > 1:
            return
        kind = method.removeprefix("notifications/")
        for aside in wrap_side_channel(f"a message of the server ({kind})", dict(params or {})):
            for _, heard in self._listeners:
                # Limited here already: a server may send messages for as long as a call takes.
                if sum(len(one.text) for one in heard) < MOST_CHARS:
                    heard.append(aside)

    @contextmanager
    def collect_messages(self, user: object) -> Iterator[list[SideContent]]:
        """Yield the list of messages that arrive while a request of ``user`` is running."""
        own: tuple[object, list[SideContent]] = (user, [])
        self._listeners.append(own)
        try:
            yield own[1]
        finally:
            # By identity: two calls of one user have equal entries as long as nothing was heard.
            self._listeners[:] = [listener for listener in self._listeners if listener is not own]


def read_operator_log(session: Session) -> tuple[SideContent, ...]:
    """Return the last lines of the server's stderr, which its users do not read."""
    tail = session.stderr_tail()
    return (SideContent(place=STDERR, text=tail[-_STDERR_CHARS:]),) if tail else ()
