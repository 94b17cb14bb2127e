"""The record of a call as it grows, the JSON-RPC frames in it, and calls without an answer.

A log already has a result twice: as the server sent it, and as the model got it. So a frame leaves
out long arguments, texts and structured content, and names the field of the record that has them.
The rest is kept within limits, with a notice where it was cut. In ``_meta``, a value under the name
of a secret is redacted, whatever its form.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio

from harness.base import MARK, Validation, find_shortcoming, load_json, may_name_secret
from harness.sessions.result_content import TEXT_CHARS
from harness.sessions.side_channels import limit_side_channels
from harness.types import JsonObject, Outcome, SideContent, ToolCall, ToolRequest, Wire, WireMessage

MOST_CHARS = 20_000
"""Most characters of a frame that are kept beside the parts in the record."""
LONGEST = 2_000
"""Most characters of one of its texts."""

_SHORT = 48  # a shorter text costs less than a reference to the record
_MOST_BLOCKS = 100  # blocks of content whose texts are searched for in the record
_DEEPEST = 60
# Stands for the length of a number, `true` or `null`, which is not worth measuring.
_SCALAR = 8
_PROGRESS = "progressToken"  # the name of a request, which is not a credential
_LINES = re.compile(r"text (\d+)-(\d+) of (\d+)")
_PRIVATE = ("_meta", "inputResponses")
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Exchange:
    """A request and its answer, as sent and received."""

    request: JsonObject | None = None
    """``None`` until it is sent."""
    response: JsonObject | None = None
    """``None`` until it is answered by a JSON-RPC message."""


def reduce_frame(body: JsonObject, call: ToolCall) -> WireMessage:
    """Return the frame ``body`` without the parts that ``call``, its record, has."""
    left_out = dict(_find_known_values(body, call)) | dict(_find_known_texts(body, call.text))
    return WireMessage(body=_FrameLimiter(left_out).copy_object(body), left_out=left_out)


def restore_frame(frame: WireMessage, call: ToolCall) -> JsonObject:
    """Return ``frame`` with its left-out parts restored from ``call``, its record."""
    # A copy, because the frame itself has to stay as the log has it.
    body = copy.deepcopy(dict(frame.body))
    for pointer, source in frame.left_out.items():
        *way, last = pointer.split("/")[1:]
        place: Any = body
        with suppress(KeyError, IndexError, TypeError, ValueError):  # somebody edited the log
            for key in way:
                place = place[int(key) if isinstance(place, list) else key]
            place[last] = _restore_part(source, call)
    return body


def _find_known_values(body: JsonObject, call: ToolCall) -> Iterator[tuple[str, str]]:
    for outer, inner, field, known in (
        ("params", "arguments", "arguments", call.arguments),
        ("result", "structuredContent", "structured", call.structured),
    ):
        within = body.get(outer)
        value = within.get(inner) if isinstance(within, Mapping) else None
        if value is not None and value == known and len(_COMPACT.encode(value)) > _SHORT:
            yield f"/{outer}/{inner}", field
    yield from _find_known_media(body, call)


def _find_known_media(body: JsonObject, call: ToolCall) -> Iterator[tuple[str, str]]:
    numbers = {one.data: number for number, one in enumerate(call.media) if one.data}
    result = body.get("result") if numbers else None
    blocks = result.get("content") if isinstance(result, Mapping) else None
    for place, block in enumerate(blocks[:_MOST_BLOCKS] if isinstance(blocks, list) else ()):
        if isinstance(block, Mapping):
            resource = block.get("resource")
            blob = resource.get("blob") if isinstance(resource, Mapping) else None
            for way, data in (("data", block.get("data")), ("resource/blob", blob)):
                if isinstance(data, str) and data in numbers:
                    yield f"/result/content/{place}/{way}", f"media {numbers[data]}"


def _find_known_texts(body: JsonObject, known: str) -> Iterator[tuple[str, str]]:
    """Yield the places in ``body`` of lines of the text ``known``: consecutive blocks of a result.

    Lines are counted, not characters, because later redaction may change the length.
    """
    lines = known.count("\n") + 1
    at, line = 0, 1
    for pointer, text in _iterate_texts(body):
        if len(text) <= _SHORT:
            continue
        # The record has a text beyond the limit only up to there, with a notice behind it.
        if text == known or (len(text) > TEXT_CHARS and known.startswith(text[:TEXT_CHARS])):
            yield pointer, "text"
            continue
        # Blocks stand in the record in their order, so each is searched behind the one before.
        begin = known.find(text, at)
        end = begin + len(text)
        around = known[begin - 1 : begin] + known[end : end + 1]
        # A match in the middle of a line could not be found again by counting lines.
        if begin < 0 or around.strip("\n"):
            continue
        first = line + known.count("\n", at, begin)
        at, line = end, first + text.count("\n")
        yield pointer, f"text {first}-{line} of {lines}"


def _iterate_texts(body: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the texts of a frame that its record may have, with their places."""
    error, result = body.get("error"), body.get("result")
    if isinstance(error, Mapping) and isinstance(said := error.get("message"), str):
        yield "/error/message", said
    blocks = result.get("content") if isinstance(result, Mapping) else None
    for number, block in enumerate(blocks[:_MOST_BLOCKS] if isinstance(blocks, list) else ()):
        if isinstance(block, Mapping):
            resource = block.get("resource")
            inner = resource.get("text") if isinstance(resource, Mapping) else None
            for way, text in (("text", block.get("text")), ("resource/text", inner)):
                if isinstance(text, str):
                    yield f"/result/content/{number}/{way}", text


def _restore_part(source: str, call: ToolCall) -> Any:
    if source.startswith("media "):
        return call.media[int(source.removeprefix("media "))].data
    if (found := _LINES.fullmatch(source)) is None:
        record = {"arguments": call.arguments, "structured": call.structured, "text": call.text}
        return record[source]
    first, last, amount = map(int, found.groups())
    lines = call.text.split("\n")
    if len(lines) != amount:
        return "[lost: a secret of several lines was taken out of the record]"
    return "\n".join(lines[first - 1 : last])


class _FrameLimiter:
    """Copies a frame within the limits; the parts in ``left_out`` become ``None``."""

    def __init__(self, left_out: Mapping[str, str]) -> None:
        self._left_out = left_out
        self._left = MOST_CHARS

    def copy_object(self, value: JsonObject, pointer: str = "", depth: int = 0) -> JsonObject:
        kept: dict[str, Any] = {}
        for key, part in value.items():
            if self._left <= 0:
                kept["…"] = _format_cut_notice(len(kept), len(value))
                break
            # JSON Pointer wants this order: otherwise the `~` of a new `~1` would be escaped again.
            at = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            # Keys are limited as well: a server may send some as long as any text.
            name, shown = self._copy_text(key), _redact_meta(part) if key in _PRIVATE else part
            kept[name] = self._copy_value(shown, at, depth + 1)
        return kept

    def _copy_value(self, value: Any, pointer: str, depth: int) -> Any:
        if pointer in self._left_out:
            return None
        if isinstance(value, Mapping | list) and depth == _DEEPEST:
            return f"[… cut by harness: it nests deeper than {_DEEPEST} levels]"
        if isinstance(value, Mapping):
            return self.copy_object(value, pointer, depth)
        if isinstance(value, list):
            return self._copy_list(value, pointer, depth)
        if isinstance(value, str):
            return self._copy_text(value)
        self._left -= _SCALAR
        return value

    def _copy_list(self, value: list[Any], pointer: str, depth: int) -> list[Any]:
        kept: list[Any] = []
        for number, part in enumerate(value):
            if self._left <= 0:
                return [*kept, _format_cut_notice(number, len(value))]
            kept.append(self._copy_value(part, f"{pointer}/{number}", depth + 1))
        return kept

    def _copy_text(self, text: str) -> str:
        room = max(0, min(LONGEST, self._left))
        self._left -= min(len(text), room)
        if len(text) <= room:
            return text
        return f"{text[:room]}[… cut by harness: {len(text):,} characters in all]"


def _redact_meta(meta: Any) -> Any:
    """Return a ``_meta`` without the values under names of secrets."""
    if isinstance(meta, Mapping):
        return {
            key: MARK if key != _PROGRESS and may_name_secret(key) else _redact_meta(part)
            for key, part in meta.items()
        }
    return [_redact_meta(part) for part in meta] if isinstance(meta, list) else meta


def _format_cut_notice(kept: int, amount: int) -> str:
    return f"[… cut by harness: {kept:,} of {amount:,} values are kept]"


class CallDraft:
    """The facts of a call before its answer."""

    def __init__(self, request: ToolRequest, reply: int, started_s: float) -> None:
        """Begin the record of ``request``, which came so long after the start of the trial."""
        self.request = request
        self.reply = reply
        self.started_s = started_s
        self.waited_s = 0.0
        self.sent_at: float | None = None
        self.rounds = 0
        """How often the server was given input that it had asked for."""
        self.arguments = Validation()
        self.came_with: tuple[SideContent, ...] = ()
        self.heard: list[SideContent] = []
        self.echoed = False
        self.exchange = Exchange()
        self.wire: Wire | None = None

    def record_wait(self, seconds: float) -> None:
        """Note that it has waited so long for its turn, in all."""
        self.waited_s = round(seconds, 6)

    def record_send(self, epoch: float) -> float:
        """Note that it is sent now, and return the time; the last attempt is what counts."""
        now = anyio.current_time()
        # With input that the server asked for, the same call goes on.
        if not self.rounds:
            self.sent_at, self.started_s = now, now - epoch
        return now

    def compute_duration(self) -> float:
        """Return the seconds since it was sent; 0 if it was not."""
        return 0.0 if self.sent_at is None else anyio.current_time() - self.sent_at

    def build_record(self, outcome: Outcome, text: str, **facts: Any) -> ToolCall:
        """Return the record of the call, which ended so."""
        made = ToolCall(
            tool=self.request.tool,
            arguments=self.request.arguments,
            outcome=outcome,
            reply=self.reply,
            request_id=self.request.id,
            text=text,
            argument_errors=self.arguments.errors,
            arguments_not_validated=self.arguments.gave_up,
            started_s=self.started_s,
            waited_s=self.waited_s,
            echoed_token=self.echoed,
            beside=limit_side_channels((*self.came_with, *self.heard)),
            **facts,
        )
        # The frames come last: they leave out what the finished record has.
        if self.wire is None:
            return made
        request, response = (
            None if body is None else reduce_frame(body, made)
            for body in (self.exchange.request, self.exchange.response)
        )
        return replace(made, wire=replace(self.wire, request=request, response=response))


def build_unanswered_call(
    request: ToolRequest, outcome: Outcome, text: str, *, reply: int, epoch: float
) -> ToolCall:
    """Return the record of a call that begins now, and ends as ``outcome`` says, with ``text``."""
    return ToolCall(
        tool=request.tool,
        arguments=request.arguments,
        outcome=outcome,
        reply=reply,
        request_id=request.id,
        text=text,
        started_s=anyio.current_time() - epoch,
    )


def explain_block(tool: str) -> str:
    """Return which guard rail keeps the call from the server."""
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"


def explain_malformed(raw: str) -> str:
    """Return why arguments are malformed and so are not sent."""
    try:
        # JSON that is merely too deep or has a number too long is told apart from no JSON.
        why = find_shortcoming(load_json(raw, strict=True))
    except ValueError:
        why = None
    if why is None:
        return "the arguments are not a JSON object"
    return f"harness did not send the arguments: {why}"


def describe_required_input(result: JsonObject, *, may_answer: bool, rounds: int = 0) -> str:
    """Return which input the server requests; a client behind the session may provide it.

    It was provided ``rounds`` times before.
    """
    requests = result.get("inputRequests")
    wanted = ", ".join(sorted(requests)) if isinstance(requests, dict) else ""
    what = f"the server asks for more input{f' ({wanted})' if wanted else ''}"
    if rounds:
        return f"{what}, although it was given {rounds} times what it asked for"
    return f"{what}, which {'the client did not give' if may_answer else 'harness cannot give'}"


def format_error_data(data: Any) -> str:
    """Return the data of an error as text."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
