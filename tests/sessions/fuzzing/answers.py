"""Answers to a call, right ones and spoiled ones, and an opinion of its own on which of them are
results.

``@ID@`` stands for the id of the request. Every answer that could leave a call waiting is followed
by the `END`, an error of JSON-RPC: so no clock decides whether a call hangs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from harness.base.json_text import WIRE_DEPTH, is_deep

Wire = Literal["stdio", "http", "sse"]

END = "end of the script"
_END_FRAME = b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32099,"message":"%s"}}' % END.encode()

SPOILT_TEXT = st.text(max_size=8) | st.sampled_from(
    [
        "\x00",
        "\u202e",
        "\u200b",
        "\ud800",
        "\udfff\ud800",
        "\ufeff",
        "\U0001f600",
        "e\u0301" * 3,
        "\x1b[2J",
        "NaN",
        "-0",
    ]
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from(
        [-1, 10**9, 2**63, -(10**30), 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf")]
    )
    | SPOILT_TEXT
)
_VALUES = st.recursive(
    _SCALARS,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(SPOILT_TEXT, some, max_size=3),
    max_leaves=5,
)
_IDS = st.sampled_from(
    [
        "@SID@",
        None,
        True,
        -7,
        10**12,
        1.5,
        "x",
        [],
        {},
        "@ID@@ID@",
        "",
        10**40,
        {"id": "@ID@"},
        ["@ID@"],
    ]
)
_BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "fine"},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}},
]
_RESULTS = st.fixed_dictionaries(
    {"content": st.lists(st.sampled_from(_BLOCKS), max_size=3)},
    optional={
        "structuredContent": _VALUES,
        "isError": st.booleans(),
        "_meta": st.just({"a": 1}),
        "more": _VALUES,
    },
)
_NOISE = st.sampled_from(
    [
        b"",
        b"Listening on port 3000",
        b"[]",
        b"42",
        b"null",
        b"{",
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@ID@}}',
        b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
        b'{"jsonrpc":"2.0","id":"s1","method":"ping"}',
        b'{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{"messages":5}}',
        b'{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":null}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
        b'{"jsonrpc":"2.0","id":999999999999,"result":{"content":[]}}',
        b'{"jsonrpc":"2.0","id":999999999999,"result":null}',
        b"\xff\xfe\x00",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a server does in answer to one call."""

    body: bytes
    """What it writes."""
    must_be_ok: bool
    """Whether a result is all that is in it."""
    status: int = 200
    """Over HTTP."""
    kind: str = "application/json"
    """Content type over HTTP."""
    cut: bool = False
    """Whether the body breaks off."""

    def says_a_result(self, wire: Wire) -> bool:
        """Whether a client may take something in it for a good result of the call."""
        if self.status not in range(200, 300):
            return False
        return self.must_be_ok or any(_is_answer(text, wire) for text in self._messages(wire))

    def _messages(self, wire: Wire) -> Iterator[str]:
        text = self.body.replace(b"@ID@", b"0").decode("utf-8", "replace")
        if wire == "stdio":
            yield from text.split("\n")
        elif wire == "http" and self.kind.startswith("application/json"):
            yield text
        else:
            for event in re.split(r"(?:\r\n|\r|\n){2,}", text.removeprefix("\ufeff")):
                lines = re.split(r"\r\n|\r|\n", event)
                yield "\n".join(
                    line[5:].removeprefix(" ") for line in lines if line.startswith("data:")
                )


def _is_answer(text: str, wire: Wire) -> bool:
    """Whether one of the documents of ``text``, up to the first that is no JSON, is a result."""
    decoder = json.JSONDecoder(parse_int=lambda digits: int(digits[:20]))
    text = text.removeprefix("\ufeff").strip()
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except RecursionError:
            return True  # it may be one: this judge cannot read so deep
        except ValueError:
            return is_deep(text, WIRE_DEPTH)  # what lies below is replaced, and so never read
        frames = value if isinstance(value, list) else [value]
        if any(_is_result(frame, wire) for frame in frames):
            return True
        text = text[end:].lstrip()
    return False


def _is_result(frame: Any, wire: Wire) -> bool:
    """Whether ``frame`` answers request 0 with a result.

    The body of an HTTP reply needs no id to be its answer.
    """
    if (
        not isinstance(frame, dict)
        or frame.get("jsonrpc") != "2.0"
        or not isinstance(frame.get("result"), dict)
    ):
        return False
    if wire != "http" and (frame.get("id") not in (0, "0") or isinstance(frame.get("id"), bool)):
        return False
    result = frame["result"]
    if result.get("isError") is not None and result["isError"] is not False:
        return False
    blocks = result.get("content", [] if result.get("structuredContent") is not None else None)
    return isinstance(blocks, list) and all(_is_block(block) for block in blocks)


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    needed = {"text": ("text",), "image": ("data",), "audio": ("data",), "resource_link": ("uri",)}
    kind = block.get("type")
    if kind == "resource":
        resource = block.get("resource")
        return isinstance(resource, dict) and isinstance(resource.get("uri"), str)
    return (
        isinstance(kind, str)
        and kind in needed
        and all(isinstance(block.get(key), str) for key in needed[kind])
    )


# ── Spoiling ─────────────────────────────────────────────────────────────────────────────────


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        yield from _places(item, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], change: Any) -> Any:
    """Return a copy of ``value`` with what ``change`` makes of its part at ``path``."""
    if not path:
        return change(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _changed(copy[path[0]], path[1:], change)
    return copy


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    def drop(parent: Any) -> Any:
        copy = dict(parent) if isinstance(parent, dict) else list(parent)
        del copy[path[-1]]
        return copy

    return _changed(value, path[:-1], drop) if path else {}


@st.composite
def _spoiled(draw: st.DrawFn, frame: Any) -> Any:
    """Change one part of a frame."""
    path = draw(st.sampled_from(list(_places(frame))))
    if path == ("id",):
        wrong = draw(_IDS)
        return _changed(frame, path, lambda _: wrong)
    match draw(st.sampled_from(["replace", "delete", "wrap", "add", "as text"])):
        case "replace":
            value = draw(_VALUES)
            return _changed(frame, path, lambda _: value)
        case "delete":
            return _without(frame, path)
        case "wrap":
            return _changed(frame, path, lambda old: [old, old])
        case "add":
            key, value = (
                draw(SPOILT_TEXT | st.sampled_from(["error", "method", "params", "id "])),
                draw(_VALUES),
            )
            return _changed(
                frame, path, lambda old: {**old, key: value} if isinstance(old, dict) else [value]
            )
        case _:
            return _changed(frame, path, json.dumps)


def _written(frame: Any) -> bytes:
    text = (
        json.dumps(frame)
        .replace('"@SID@"', '"@ID@"#')
        .replace('"@ID@"', "@ID@")
        .replace("@ID@#", '"@ID@"')
    )
    return text.encode()


def _deep(levels: int) -> bytes:
    return b'{"content":[],"structuredContent":{"d":' + b"[" * levels + b"]" * levels + b"}}"


_EXTREME = st.sampled_from(
    [
        *(_deep(levels) for levels in (50, 90, 101, 300, 1000, 20_000)),
        *(
            b'{"content":[],"structuredContent":{"n":%s}}' % (b"7" * digits)
            for digits in (401, 4300, 4301, 50_000)
        ),
        b'{"content":[],"structuredContent":{"n":1e400,"m":-Infinity,"k":NaN}}',
        b'{"content":[{"type":"text","text":"%s"}]}' % (b"x" * 200_000),
        b'{"content":[{"type":"text","text":"\\ud800\\udc00\\udc00"}]}',
        b'{"content":[],"structuredContent":{%s}}'
        % b",".join(b'"k%d":%d' % (n, n) for n in range(5000)),
    ]
)


@st.composite
def _frames(draw: st.DrawFn) -> tuple[bytes, bool]:
    """Draw one frame, and whether it is a good result."""
    if draw(st.integers(0, 19)) == 0:
        return b'{"jsonrpc":"2.0","id":@ID@,"result":' + draw(_EXTREME) + b"}", True
    frame: Any = {"jsonrpc": "2.0", "id": "@ID@", "result": draw(_RESULTS)}
    changes = draw(st.sampled_from([0, 1, 1, 1, 2, 3]))
    for _ in range(changes):
        frame = draw(_spoiled(frame))
    good = changes == 0 and frame["result"].get("isError") is not True
    return _written(frame), good


@st.composite
def _text_spoiled(draw: st.DrawFn, text: bytes) -> bytes:
    """Change the bytes of a frame."""
    place = draw(st.integers(0, len(text)))
    before, after = text[:place], text[place:]
    ways = [
        before,
        before + draw(st.binary(min_size=1, max_size=3)) + after,
        before + b"\xff" + after[1:],
        before + after[1:],
        text + text,
        b"[" + text + b"," + draw(_NOISE) + b"]",
        b"\xef\xbb\xbf" + text,
    ]
    return draw(st.sampled_from(ways))


@st.composite
def scripts(draw: st.DrawFn, wire: Wire) -> Script:
    """Draw what a server does in answer to one call."""
    frame, good = draw(_frames())
    if draw(st.integers(0, 3)) == 0:
        frame, good = draw(_text_spoiled(frame)), False
    if wire == "stdio":
        return Script(body=_lines(draw, frame), must_be_ok=good)
    if wire == "sse":
        status = draw(st.sampled_from([202, 202, 202, 200, 204, 400, 500]))
        body, whole = _events(draw, frame)
        return Script(
            body=body, must_be_ok=good and whole and status in range(200, 300), status=status
        )
    status = draw(st.sampled_from([200] * 12 + [201, 202, 204, 400, 401, 404, 422, 429, 500, 503]))
    cut = draw(st.integers(0, 15)) == 0
    sound = status in (200, 201) and not cut
    if draw(st.booleans()):
        body, whole = _events(draw, frame)
        return Script(
            body=body,
            must_be_ok=good and whole and sound,
            status=status,
            kind="text/event-stream",
            cut=cut,
        )
    kind = draw(
        st.sampled_from(
            ["application/json"] * 4 + ["text/html", "", "application/json; charset=latin-1", "x"]
        )
    )
    good = good and sound and kind.startswith("application/json")
    return Script(body=frame, must_be_ok=good, status=status, kind=kind, cut=cut)


def _lines(draw: st.DrawFn, frame: bytes) -> bytes:
    before = draw(st.lists(_NOISE, max_size=2))
    twice = [frame] if draw(st.integers(0, 7)) == 0 else []
    return b"\n".join([*before, frame, *twice, _END_FRAME])


def _events(draw: st.DrawFn, frame: bytes) -> tuple[bytes, bool]:
    """Return ``frame`` in an event stream, and whether a client can read it there."""
    end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    before = b"".join(b"data: " + noise + end * 2 for noise in draw(st.lists(_NOISE, max_size=2)))
    spoiled = draw(
        st.sampled_from(
            [b""] * 6 + [b"retry: 1e9", b"id: \x00", b": hello", b"\xff\xfe: x", b"event: massage"]
        )
    )
    head = spoiled + end if spoiled else draw(st.sampled_from([b"", b"event: message" + end]))
    broken = b"\n" in frame or b"\r" in frame
    whole = not before and spoiled in (b"", b": hello") and not broken
    # The comment at the end lets a client know that no line feed belongs to the carriage return
    # before it.
    return (
        before + head + b"data: " + frame + end * 2 + b"data: " + _END_FRAME + end * 2 + b":\n\n",
        whole,
    )
