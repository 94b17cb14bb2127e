"""Server-sent events: how one is written, and into which pieces a text is cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.fake_provider.incoming import Json

MOST_PIECES = 12
"""Of one text, however long it is."""
SHORTEST_PIECE = 5
PADDED_TO = 16


class EventStream(NamedTuple):
    """The body of a streamed response."""

    parts: tuple[bytes, ...]
    """One a server-sent event; each is sent as a chunk of its own."""


def named_events(events: Iterable[Json]) -> EventStream:
    """Write events that each have the name of their ``type``."""
    return EventStream(
        tuple(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    )


def bare_events(events: Iterable[Json]) -> EventStream:
    """Write events without names, and the ``[DONE]`` that ends them."""
    written = (json.dumps(event) for event in events)
    return EventStream(tuple(f"data: {data}\n\n".encode() for data in (*written, "[DONE]")))


def padded(event: Json, delta: str, body: Json) -> Json:
    """Return an event of OpenAI's with the padding that hides how long its ``delta`` is.

    A request may ask for none.
    """
    if (body.get("stream_options") or {}).get("include_obfuscation") is False:
        return event
    return {**event, "obfuscation": "x" * (-len(delta) % PADDED_TO)}


def pieces(text: str) -> Iterator[str]:
    """Cut ``text`` as a stream does: anywhere, in the midst of words and of JSON."""
    length = max(SHORTEST_PIECE, -(-len(text) // MOST_PIECES))
    for start in range(0, len(text), length):
        yield text[start : start + length]
