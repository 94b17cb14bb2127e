"""Replies of a hostile or broken provider.

Valid ones, damaged in their values, their text and on the wire.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.models.support import Api

HOSTILE: dict[str, str] = {
    "deep": "[" * 500 + "]" * 500,
    "deeper": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "huge integer": "1" + "0" * 400,
    "huge float": "1e999",
    "more digits than Python reads": "9" * 5_000,
    "not a number": "NaN",
    "infinity": "-Infinity",
    "half a surrogate pair": r'"\ud800"',
    "null character": r'"\u0000"',
    "steering": r'"\u001b]0;x\u0007\u202e"',
    "long text": '"' + "word " * 20_000 + '"',
    "many values": "[" + "0," * 20_000 + "0]",
    "equal keys": '{"type":"text","type":7}',
}
"""What no JSON library writes: put where a mark stands."""

VALUES: list[Any] = [
    None, True, False, 0, -1, 42, 0.5, "", " ", "text", [], {}, [None], [[]], {"type": "text"},
     ["text"], "error",
     "failed", "queued", "tool_use", "user", "message", {"message": []},
     *(f"@@{name}@@" for name in HOSTILE)]  # fmt: skip
FIELDS = [
    "error", "type", "role", "content", "text", "refusal", "tool_calls", "function_call", "usage",
     "model", "status",
     "stop_reason", "finish_reason", "output", "choices", "input", "arguments", "name", "id", "x",
     ""]  # fmt: skip


def valid(api: Api) -> list[dict[str, Any]]:
    """Return replies that are good.

    An answer, calls, reasoning, a refusal, a cut one and an empty one.
    """
    arguments = {"id": 7, "deep": {"list": [1, {"a": None}]}}
    if api == "messages":
        call = {"type": "tool_use", "id": "a", "name": "look", "input": arguments}
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
        text = {"type": "text", "text": "Fine.", "citations": None}
        stops = [([text], "end_turn"), ([text, call], "tool_use"),
                 ([thought, call, {**call, "id": "b"}], "tool_use"),
                 ([], "refusal"), ([text], "max_tokens"), ([], "end_turn"),
                 ([text], "pause_turn")]  # fmt: skip
        usage: dict[str, Any] = {
            "input_tokens": 9,
            "output_tokens": 5,
            "cache_read_input_tokens": 3,
        }
        return [
            {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
             "stop_reason": stop,
             "stop_details": None, "usage": usage} for content, stop in stops
        ]  # fmt: skip
    if api == "chat":
        function = {"name": "look", "arguments": json.dumps(arguments)}
        calls = [{"id": id_, "type": "function", "function": function} for id_ in ("a", "b")]
        said: list[tuple[dict[str, Any], str]] = [
            ({"content": "Fine."}, "stop"), ({"content": None, "tool_calls": calls}, "tool_calls"),
            ({"content": None, "refusal": "No."}, "stop"), ({"content": "Fi"}, "length"),
            ({"content": ""}, "stop"), ({"content": [{"type": "text", "text": "Fine."}]}, "stop"),
            ({"content": ""}, "content_filter"),
        ]  # fmt: skip
        usage = {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 3},
        }
        return [
            {"id": "c", "object": "chat.completion", "model": "m", "usage": usage,
             "choices": [{"index": 0, "message": {"role": "assistant", **message},
                          "finish_reason": stop}]}
            for message, stop in said
        ]  # fmt: skip
    item = {
        "type": "function_call",
        "call_id": "a",
        "name": "look",
        "arguments": json.dumps(arguments),
    }
    part = {"type": "output_text", "text": "Fine.", "annotations": []}
    message: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    reasoning: dict[str, Any] = {
        "type": "reasoning",
        "id": "r",
        "summary": [],
        "encrypted_content": "x",
    }
    refused = {**message, "content": [{"type": "refusal", "refusal": "No."}]}
    outputs: list[tuple[list[dict[str, Any]], str, Any]] = [
        ([message], "completed", None),
        ([reasoning, item, {**item, "call_id": "b"}], "completed", None),
        ([refused], "completed", None), ([message], "incomplete", {"reason": "max_output_tokens"}),
        ([], "completed", None), ([reasoning], "completed", None),
        ([], "incomplete", {"reason": "content_filter"}),
    ]  # fmt: skip
    usage = {"input_tokens": 9, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3}}
    return [
        {"id": "r", "object": "response", "model": "m", "status": status, "incomplete_details": why,
         "error": None,
         "output": output, "usage": usage} for output, status, why in outputs
    ]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        yield (*path, key)
        yield from _places(item, (*path, key))


@dataclass(frozen=True, slots=True)
class Reply:
    """One response, as it goes over the wire."""

    pieces: tuple[bytes, ...]
    """Written one after the other; then the connection is closed."""


def damage_reply(rng: Random, api: Api) -> dict[str, Any]:
    """Return a good reply with up to four of its values changed, left out or doubled, or with
    fields put in.
    """
    reply: dict[str, Any] = json.loads(json.dumps(rng.choice(valid(api))))
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
        places = list(_places(reply))
        if not places:
            break
        *above, last = rng.choice(places)
        holder: Any = reply
        for step in above:
            holder = holder[step]
        match rng.choice(["change", "change", "change", "leave out", "double", "put in"]):
            case "change":
                holder[last] = deepcopy(rng.choice(VALUES))
            case "leave out":
                del holder[last]
            case "double" if isinstance(holder, list):
                holder.append(deepcopy(holder[last]))
            case _ if isinstance(holder, dict):
                holder[rng.choice(FIELDS)] = deepcopy(rng.choice(VALUES))
    return reply


def _as_text(reply: Any) -> str:
    text = json.dumps(reply)
    for name, raw in HOSTILE.items():
        text = text.replace(f'"@@{name}@@"', raw)
    return text


def make_body(rng: Random, api: Api) -> bytes:
    """Return the body of a response.

    Mostly a damaged reply, at times cut, spoiled or in another encoding.
    """
    kind = rng.choice(
        ["reply"] * 30 + ["cut", "spoiled", "utf-16", "bom", "latin", "bytes", "value", "two"]
    )
    if kind == "bytes":
        return rng.randbytes(rng.randint(0, 200))
    if kind == "value":
        return _as_text(rng.choice(VALUES)).encode()
    text = _as_text(damage_reply(rng, api))
    if kind == "utf-16":
        return text.encode("utf-16")
    body = text.encode()
    if kind == "cut":
        return body[: rng.randint(0, len(body))]
    if kind == "spoiled":
        at = rng.randint(0, len(body) - 1)
        return body[:at] + rng.randbytes(rng.randint(1, 4)) + body[at + 1 :]
    return {"bom": b"\xef\xbb\xbf" + body, "latin": body + b"\xe4", "two": body + body}.get(
        kind, body
    )


HEADERS = [
    "retry-after: 0", "retry-after: 1_0", "retry-after: -1", "retry-after: 1e400",
     "retry-after-ms: 0",
     (
         "retry-after: Thu, 99 Jan 9999 99:99:99 GMT"
     ), "date: 0", "x-should-retry: true", "content-type: text/html",
     (
         "content-type: application/json; charset=no-such"
     ), "content-type: text/event-stream", "location: /v1/round",
     (
         "location: http://127.0.0.1:1/"
     ), "location: //", "location: http://[", "set-cookie: a=b", "content-encoding: br",
     (
         "content-encoding: gzip, gzip, gzip, gzip, gzip, gzip"
     ), "content-encoding: gzip", "connection: keep-alive",
     "x-request-id: \xff", "transfer-encoding: gzip"]  # fmt: skip
STATUSES = [200] * 40 + [
    201, 204, 206, 299, 301, 302, 304, 307, 308, 400, 401, 404, 408, 413, 429, 500, 503, 529, 599,
    999,
]  # fmt: skip


def make_reply(rng: Random, api: Api) -> Reply:
    """Return a whole response with its faults on the wire.

    Lengths that lie, chunks, compression, an early end.
    """
    body, status = make_body(rng, api), rng.choice(STATUSES)
    lines = rng.choices(HEADERS, k=rng.randint(0, 2)) if rng.randint(0, 5) == 0 else []
    framing = rng.choice(
        ["length"] * 24 + ["close", "chunked", "gzip", "deflate", "short", "long", "twice"]
    )
    if framing in ("gzip", "deflate"):
        body = gzip.compress(body, 1) if framing == "gzip" else zlib.compress(body, 1)
        lines.append(f"content-encoding: {framing}")
    length = len(body) + {"short": 5, "long": -min(5, len(body))}.get(framing, 0)
    if framing == "chunked":
        lines.append("transfer-encoding: chunked")
        step = rng.randint(1, 50) * 100
        parts = [body[at : at + step] for at in range(0, len(body), step)]
        end = rng.choice([b"0\r\n\r\n", b"0\r\n\r\n", b"", b"zz\r\n"])
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end
    elif framing != "close":
        lines += [f"content-length: {length}"] * (2 if framing == "twice" else 1)
    head = "\r\n".join([f"HTTP/1.1 {status} X", "connection: close", *lines, "", ""]).encode(
        "latin-1"
    )
    whole = head + body
    if rng.randint(0, 40) == 0:  # not even HTTP, or not all of it
        whole = whole[rng.randint(0, 20) : rng.randint(20, len(whole))]
    at = rng.randint(0, len(whole))
    return Reply(pieces=(whole[:at], whole[at:]))
