"""Spans of OTLP become conversations: each trace is one.

Messages are those of OpenTelemetry's conventions for generative AI. Calls are those of the
messages, of ``execute_tool`` spans, and of MCP's ``tools/call`` spans; a call may be known from any
of them. Spans of one call that lie in each other, such as those of client and server, are one call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from harness.runner.recordings.message_forms import (
    NO_RESULT,
    answer_call,
    build_transcript,
    join_texts,
    name_tool,
    parse_json,
)
from harness.types import (
    JsonObject,
    Outcome,
    Stop,
    ToolCall,
    Transcript,
    TrialError,
    Usage,
    UserMessage,
    dataclass,
)

_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_ARGUMENTS, _RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
_CHATS = ("chat", "generate_content", "text_completion")
_MOST_DIGITS = 20
_MOST_DEPTH = 64
"""Depth of an attribute's value."""
_NO_CONTENT = "the trace does not have the arguments of {}: record them, too"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """One span, with its attributes and those of its events as plain values."""

    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    failed: bool
    facts: Mapping[str, Any]

    @property
    def tool(self) -> str | None:
        """The tool that it calls, by the server's name; ``None`` if it is no call."""
        if self.facts.get("mcp.method.name") == "tools/call":
            return name_tool(
                self.facts.get("gen_ai.tool.name") or self.name.removeprefix("tools/call ")
            )
        if self.facts.get("gen_ai.operation.name") == "execute_tool":
            return name_tool(
                self.facts.get("gen_ai.tool.name") or self.name.removeprefix("execute_tool ")
            )
        return None

    @property
    def messages(self) -> list[Any]:
        """The messages that it sent and received."""
        said = [self.facts.get(key) for key in (_INPUT, _OUTPUT)]
        values = [parse_json(one) if isinstance(one, str) else one for one in said]
        return [message for one in values if isinstance(one, list) for message in one]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTrace:
    """What the spans of one trace say."""

    trace_id: str
    """Its id."""
    transcript: Transcript | None
    """The conversation; ``None`` if no span has messages."""
    calls: int
    """Spans of calls."""
    others: int
    """Requests to a model that belong to another conversation, such as that of a helper."""
    facts: Mapping[str, Any]
    """All attributes; of one that several spans have, the first value."""


def read_traces(documents: Iterable[Mapping[str, Any]]) -> Iterator[SpanTrace]:
    """Yield the traces in documents of OTLP as JSON, in the order of their first spans."""
    traces: dict[str, list[_Span]] = {}
    for document in documents:
        for span in _iterate_spans(document.get("resourceSpans")):
            traces.setdefault(str(span.get("traceId")), []).append(_read_span(span))
    for trace_id, spans in traces.items():
        yield _read_trace(trace_id, sorted(spans, key=lambda span: span.start_ns))


def _read_trace(trace_id: str, spans: Sequence[_Span]) -> SpanTrace:
    facts: dict[str, Any] = {}
    for span in spans:
        for key, value in span.facts.items():
            facts.setdefault(key, value)
    # The last request of a conversation has all of it.
    whole = max((span.messages for span in spans), key=len, default=[])
    others = sum(1 for span in spans if (said := span.messages) and said[0] != whole[0])
    calls = [one for one in map(_build_call, _merge_spans(spans)) if one is not None]
    transcript = None
    if whole:
        transcript = build_transcript(whole)
        chats = [span for span in spans if span.tool is None and _is_chat(span)]
        transcript = _add_calls(transcript, calls, chats)
        transcript = replace(_set_end(transcript, facts), **_sum_up(spans, chats))
    return SpanTrace(
        trace_id=trace_id, transcript=transcript, calls=len(calls), others=others, facts=facts
    )


# ── Calls ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpanCall:
    """A call as its spans have it."""

    call: ToolCall
    phase: str
    start_ns: int
    has_arguments: bool
    has_text: bool


def _merge_spans(spans: Sequence[_Span]) -> Iterator[_Span]:
    """Yield a span for each call: the outermost, with what the spans of the call inside it add."""
    known = {span.span_id: span for span in spans if span.span_id}
    inner: dict[int, list[_Span]] = {}
    outermost: list[_Span] = []
    for span in spans:
        if span.tool is None:
            continue
        top, above, seen = span, known.get(span.parent_id), {span.span_id}
        while above is not None and above.span_id not in seen:
            seen.add(above.span_id)
            if above.tool == span.tool and _has_same_arguments(above, span):
                top = above
            above = known.get(above.parent_id)
        if top is span:
            outermost.append(span)
        else:
            inner.setdefault(id(top), []).append(span)
    for span in outermost:
        facts = dict(span.facts)
        failed = span.failed
        for one in inner.get(id(span), ()):
            facts = {**one.facts, **facts}
            failed = failed or one.failed
        yield replace(span, facts=facts, failed=failed)


def _has_same_arguments(one: _Span, other: _Span) -> bool:
    here, there = (_read_object(span.facts.get(_ARGUMENTS)) for span in (one, other))
    return here is None or there is None or here == there


def _build_call(span: _Span) -> _SpanCall | None:
    facts = span.facts
    arguments = _read_object(facts.get(_ARGUMENTS))
    text, structured, is_error = _read_result(facts.get(_RESULT))
    error = facts.get("error.type")
    is_error = is_error or span.failed or error is not None
    call = ToolCall(
        tool=str(span.tool),
        arguments=arguments or {},
        outcome="timeout",
        reply=1,
        request_id=str(facts.get("gen_ai.tool.call.id") or span.span_id),
        text=NO_RESULT,
        structured=structured,
        error_code=_read_int(facts.get("rpc.response.status_code")),
    )
    if text is not None or is_error:
        call = answer_call(call, text if text is not None else str(error or ""), is_error=is_error)
    for outcome in get_args(Outcome):
        if outcome == facts.get("harness.tool.outcome"):
            call = replace(call, outcome=outcome)
    return _SpanCall(
        call=call,
        phase=str(facts.get("harness.phase") or ""),
        start_ns=span.start_ns,
        has_arguments=arguments is not None,
        has_text=text is not None,
    )


def _add_calls(
    transcript: Transcript, found: Sequence[_SpanCall], chats: Sequence[_Span]
) -> Transcript:
    """Return ``transcript`` with what the spans say of its calls, and with the calls beyond them.

    One whose arguments are not known leaves nothing to judge.
    """
    calls = list(transcript.tool_calls)
    free = list(range(len(calls)))
    case_calls: dict[str, list[ToolCall]] = {"setup": [], "teardown": [], "user": []}
    for one in found:
        if one.phase in case_calls:
            case_calls[one.phase].append(replace(one.call, reply=0))
            continue
        place = _find_place(one, calls, free)
        if place is not None:
            free.remove(place)
            calls[place] = _complete_call(calls[place], one)
            continue
        # The replies that had come before it.
        before = sum(chat.end_ns <= one.start_ns for chat in chats)
        reply = max(1, min(before, transcript.replies))
        calls.append(replace(one.call, reply=reply))
        if not one.has_arguments:
            words = _NO_CONTENT.format(one.call.tool)
            error = TrialError(kind="agent", message=words)
            transcript = replace(transcript, stop="error", error=error)
    messages = transcript.messages
    if case_calls["user"] and messages and isinstance(first := messages[0], UserMessage):
        messages = (replace(first, calls=tuple(case_calls["user"])), *messages[1:])
    return replace(
        transcript,
        messages=messages,
        tool_calls=tuple(sorted(calls, key=lambda call: call.reply)),
        setup_calls=tuple(case_calls["setup"]),
        teardown_calls=tuple(case_calls["teardown"]),
    )


def _find_place(one: _SpanCall, calls: Sequence[ToolCall], free: Sequence[int]) -> int | None:
    """Return the place in ``calls`` of the call that the spans show: by its id, or what it is."""
    by_id = [at for at in free if calls[at].request_id == one.call.request_id]
    alike = [
        at
        for at in free
        if calls[at].tool == one.call.tool
        and (not one.has_arguments or calls[at].arguments == one.call.arguments)
    ]
    return next(iter([at for at in by_id if at in alike] or alike or by_id), None)


def _complete_call(call: ToolCall, one: _SpanCall) -> ToolCall:
    """Return ``call`` with the result in its spans, which say whether it failed."""
    seen = one.call
    if seen.text == NO_RESULT:
        return call
    text = seen.text if one.has_text or call.text == NO_RESULT else call.text
    outcome = seen.outcome
    if outcome == "tool_error":  # the words that tell why may be in the messages alone
        outcome = answer_call(replace(call, outcome="ok"), text, is_error=True).outcome
    return replace(
        call, text=text, structured=seen.structured, outcome=outcome, error_code=seen.error_code
    )


# ── The rest of a trace ──────────────────────────────────────────────────────────────────────────


def _is_chat(span: _Span) -> bool:
    operation = span.facts.get("gen_ai.operation.name")
    return operation in _CHATS or (operation is None and bool(span.messages))


def _set_end(transcript: Transcript, facts: Mapping[str, Any]) -> Transcript:
    """Return ``transcript`` with the end that a trace of harness names."""
    named = facts.get("harness.stop")
    stop: Stop | None = next((one for one in get_args(Stop) if one == named), None)
    if stop is None or (transcript.error is not None and stop == "answer"):
        return transcript
    if stop in ("error", "cancelled"):
        words = facts.get("harness.error.message") or f"the recorded trial ended so: {stop}"
        return replace(transcript, stop="error", error=TrialError(kind="agent", message=str(words)))
    return replace(transcript, stop=stop, error=None)


def _sum_up(spans: Sequence[_Span], chats: Sequence[_Span]) -> dict[str, Any]:
    """Return the times and the usage of a trace."""

    def total(key: str) -> int | None:
        values = [span.facts.get(f"gen_ai.usage.{key}") for span in chats]
        counts = [value for value in values if isinstance(value, int)]
        return sum(counts) if counts and len(counts) == len(values) else None

    begun, ended = spans[0].start_ns, max(span.end_ns for span in spans)
    costs = [span.facts.get("harness.cost_usd") for span in chats]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    return {
        "usage": Usage(
            input_tokens=total("input_tokens"),
            output_tokens=total("output_tokens"),
            cache_read_tokens=total("cache_read.input_tokens"),
            cache_write_tokens=total("cache_write.input_tokens"),
            cost_usd=sum(known) if known and len(known) == len(costs) else None,
        ),
        "started_at": datetime.fromtimestamp(begun / 1e9, UTC).isoformat(timespec="milliseconds"),
        "latency_s": max(0.0, (ended - begun) / 1e9),
    }


def _read_object(value: Any) -> JsonObject | None:
    value = parse_json(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else None


def _read_result(value: Any) -> tuple[str | None, Any, bool]:
    """Return the text of a result, its structured part, and whether it says that it is an error.

    It is a text, any JSON, or a result of MCP with its ``content``. Without one, its text is
    ``None``.
    """
    if value is None:
        return None, None, False
    whole = _read_object(value)
    if whole is not None and isinstance(whole.get("content"), list):
        text, structured = join_texts(whole["content"]), whole.get("structuredContent")
        return text, structured, whole.get("isError") is True
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text, None, False


def _iterate_spans(resources: Any) -> Iterator[Mapping[str, Any]]:
    for resource in _list_objects(resources):
        for scope in _list_objects(resource.get("scopeSpans")):
            yield from _list_objects(scope.get("spans"))


def _list_objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _read_span(span: Mapping[str, Any]) -> _Span:
    facts: dict[str, Any] = {}
    for part in (span, *_list_objects(span.get("events"))):
        for one in _list_objects(part.get("attributes")):
            facts.setdefault(str(one.get("key")), _read_value(one.get("value")))
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    return _Span(
        span_id=str(span.get("spanId") or ""),
        parent_id=str(span.get("parentSpanId") or ""),
        name=str(span.get("name") or ""),
        start_ns=_read_ns(span.get("startTimeUnixNano")),
        end_ns=_read_ns(span.get("endTimeUnixNano")),
        failed=code in (2, "STATUS_CODE_ERROR"),
        facts=facts,
    )


def _read_ns(value: Any) -> int:
    # Beyond this no date can be written: year 9999.
    return min(max(0, _read_int(value) or 0), 253_402_300_799 * 10**9)


def _read_int(value: Any) -> int | None:
    """Return an integer, which OTLP writes as a text; ``None`` if it is none of 64 bits."""
    text = str(value)
    fits = text.removeprefix("-").isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if fits else None


def _read_value(value: Any, depth: int = 0) -> Any:
    """Return an ``AnyValue`` of OTLP as JSON; ``None`` if it is none, or nests too deeply."""
    if not isinstance(value, dict) or depth > _MOST_DEPTH:
        return None
    ((kind, given), *_) = value.items() or ((None, None),)
    match kind, given:
        case "stringValue" | "boolValue" | "doubleValue", str() | bool() | int() | float():
            return given
        case "intValue", int() | str():
            return _read_int(given)
        case "arrayValue", {"values": list(parts)}:
            return [_read_value(part, depth + 1) for part in parts]
        case "kvlistValue", {"values": list(parts)}:
            return {
                str(part.get("key")): _read_value(part.get("value"), depth + 1)
                for part in _list_objects(parts)
            }
    return None
