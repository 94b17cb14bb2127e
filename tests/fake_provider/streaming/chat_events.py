"""How OpenAI's Chat Completions API streams a completion."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.fake_provider.incoming import Json
from tests.fake_provider.streaming.events import EventStream, bare_events, padded, pieces


def stream(completion: Json, body: Json) -> EventStream:
    """Return the chunks in which ``completion``, the answer to ``body``, is streamed."""
    return bare_events(_chunks(completion, body))


def _chunks(completion: Json, body: Json) -> Iterator[Json]:
    chunk = {**completion, "object": "chat.completion.chunk"}
    usage = chunk.pop("usage")
    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    if with_usage:
        chunk["usage"] = None
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"]):
            yield padded({**chunk, "choices": [_choice(delta, None)]}, json.dumps(delta), body)
        yield {**chunk, "choices": [_choice({}, choice["finish_reason"])]}
    if with_usage:
        yield {**chunk, "choices": [], "usage": usage}


def _choice(delta: Json, finish_reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _deltas(message: Json) -> Iterator[Json]:
    empty = None if message["content"] is None else ""
    yield {"role": "assistant", "content": empty, "refusal": None}
    for name in ("reasoning_content", "content", "refusal"):
        for piece in pieces(message.get(name) or ""):
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        opened = {**call, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [{"index": index, **opened}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
