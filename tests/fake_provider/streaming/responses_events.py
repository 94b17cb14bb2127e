"""How OpenAI's Responses API streams a response."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.fake_provider.incoming import Json
from tests.fake_provider.streaming.events import EventStream, named_events, padded, pieces

AS_BEGUN: Json = {
    "status": "in_progress",
    "incomplete_details": None,
    "output": [],
    "usage": None,
}
"""What a response is before it has an output."""


def stream(response: Json, body: Json) -> EventStream:
    """Return the events in which ``response``, the answer to ``body``, is streamed."""
    return named_events(
        {
            **(padded(event, event["delta"], body) if "delta" in event else event),
            "sequence_number": number,
        }
        for number, event in enumerate(_events(response))
    )


def _events(response: Json) -> Iterator[Json]:
    begun = {**response, **AS_BEGUN}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        yield {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, **OPENED[item["type"]]},
        }
        place = {"item_id": item["id"], "output_index": index}
        for event in INNER[item["type"]](item):
            yield {**event, **place}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _of_reasoning(item: Json) -> Iterator[Json]:
    for index, part in enumerate(item["summary"]):
        kind, at = "response.reasoning_summary", {"summary_index": index}
        yield {"type": f"{kind}_part.added", **at, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield {"type": f"{kind}_text.delta", **at, "delta": piece}
        yield {"type": f"{kind}_text.done", **at, "text": part["text"]}
        yield {"type": f"{kind}_part.done", **at, "part": part}


def _of_message(item: Json) -> Iterator[Json]:
    for index, part in enumerate(item["content"]):
        at = {"content_index": index}
        name = "refusal" if part["type"] == "refusal" else "text"
        kind = f"response.{part['type']}"
        more: Json = {} if part["type"] == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **at, "part": {**part, name: ""}}
        for piece in pieces(part[name]):
            yield {"type": f"{kind}.delta", **at, "delta": piece, **more}
        yield {"type": f"{kind}.done", **at, name: part[name], **more}
        yield {"type": "response.content_part.done", **at, "part": part}


def _of_call(item: Json) -> Iterator[Json]:
    kind = "response.function_call_arguments"
    for piece in pieces(item["arguments"]):
        yield {"type": f"{kind}.delta", "delta": piece}
    yield {"type": f"{kind}.done", "name": item["name"], "arguments": item["arguments"]}


OPENED: Mapping[str, Json] = {
    "reasoning": {"summary": []},
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
}
"""Type of an item → what it is before its deltas."""
INNER: Mapping[str, Callable[[Json], Iterator[Json]]] = {
    "reasoning": _of_reasoning,
    "message": _of_message,
    "function_call": _of_call,
}
"""Type of an item → the events between those that add it and end it."""
