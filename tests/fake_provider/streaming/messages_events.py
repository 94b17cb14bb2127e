"""How Anthropic's Messages API streams a message."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.fake_provider.incoming import Json
from tests.fake_provider.streaming.events import EventStream, named_events, pieces

TOLD_AT_THE_END = ("output_tokens", "output_tokens_details")
"""Usage that is only known when the message is complete."""


def stream(message: Json, body: Json) -> EventStream:
    """Return the events in which ``message``, the answer to ``body``, is streamed."""
    return named_events(_events(message))


def _events(message: Json) -> Iterator[Json]:
    usage = message["usage"]
    so_far = {name: count for name, count in usage.items() if name not in TOLD_AT_THE_END}
    yield {
        "type": "message_start",
        "message": {
            **message,
            "content": [],
            "stop_reason": None,
            "stop_details": None,
            "usage": {**so_far, "output_tokens": min(1, usage["output_tokens"])},
        },
    }
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _opened(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {
            "stop_reason": message["stop_reason"],
            "stop_sequence": message["stop_sequence"],
            "stop_details": message["stop_details"],
        },
        "usage": {
            name: usage[name]
            for name in (
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                *TOLD_AT_THE_END,
            )
        },
    }
    yield {"type": "message_stop"}


def _opened(block: Json) -> Json:
    """Return the block as it begins: all of it but what its deltas bring."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {**block, "input": {}}


def _deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "text":
            for piece in pieces(block["text"]):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in pieces(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            given = block["input"]
            arguments = given if isinstance(given, str) else json.dumps(given)
            for piece in ("", *pieces(arguments)):
                yield {"type": "input_json_delta", "partial_json": piece}
