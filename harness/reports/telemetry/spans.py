"""One trial's line in the log becomes a tree of spans, as plain data.

::

    invoke_agent shop::refund      the whole trial, with an event for each check
    ├── execute_tool seed          a call of the case's own, before or after the conversation
    ├── chat claude-sonnet-4-5     a reply
    └── execute_tool get_order     a call as it crossed the MCP session

The log has the times of calls and of replies. If it lacks the time of a reply, as in
recordings of others, the time is inferred (`harness.reports.sections.reply_times`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from harness.base import KNOWN, limit_text
from harness.reports.sections.reply_times import ReplyTime, reply_times
from harness.reports.sections.sentences import failed_checks
from harness.reports.telemetry import conventions
from harness.reports.telemetry.conventions import FINISH
from harness.reports.trial_record import TrialRecord
from harness.sessions import TraceIds
from harness.types import (
    AssistantMessage,
    CheckResult,
    JsonObject,
    Message,
    Reply,
    ToolCall,
    ToolMessage,
    Transcript,
    TrialResult,
    UserMessage,
    Wire,
    dataclass,
)

LONGEST = 16_000
"""Most characters of one text; the rest is in the log."""


def messages_json(messages: Iterable[Message]) -> str:
    """Return all messages that a model had received before a reply."""
    return encode_json(list(map(_encode_message, messages)))


def reply_json(reply: Reply) -> str:
    """Return what a model answered."""
    return encode_json([_encode_reply(reply)])


def encode_json(value: Any) -> str:
    """Return ``value`` as JSON text."""
    return json.dumps(value, ensure_ascii=False, default=_to_plain)


def _encode_message(message: Message) -> Mapping[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "parts": [_encode_text(message.text)]}
        case AssistantMessage():
            return _encode_reply(message.reply)
        case ToolMessage():
            kind = "tool_call_response"
            parts = [
                {"type": kind, "id": one.request_id, "response": limit_text(one.text, LONGEST)}
                for one in message.answers
            ]
            return {"role": "tool", "parts": parts}


def _encode_reply(reply: Reply) -> Mapping[str, Any]:
    asked = [
        {"type": "tool_call", "id": one.id, "name": one.tool, "arguments": one.arguments}
        for one in reply.tool_requests
    ]
    said = [_encode_text(reply.text)] if reply.text else []
    if reply.thinking:
        said.insert(0, {**_encode_text(reply.thinking), "type": "reasoning"})
    reason = FINISH.get(reply.stop, reply.stop)
    return {"role": "assistant", "parts": [*said, *asked], "finish_reason": reason}


def _encode_text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "content": limit_text(text, LONGEST)}


def _to_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


Value: TypeAlias = str | int | float | bool | Sequence[str]
"""The type of an attribute's value."""
Attributes: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """An event in a span."""

    name: str
    """Its name."""
    at_ns: int
    """Time of the event, in nanoseconds since 1970."""
    attributes: Attributes
    """Facts on the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span: one part of a trial."""

    name: str
    """Operation and target: ``execute_tool get_order``."""
    span_id: int
    """64 bits; the same whenever the same trial is sent."""
    parent_id: int | None
    """`span_id` of the trial's own span; ``None`` for that span itself."""
    start_ns: int
    """In nanoseconds since 1970."""
    end_ns: int
    """Likewise, never before the start."""
    attributes: Attributes
    """Facts on the span."""
    kind: Literal["internal", "client"] = "internal"
    """``client`` for a request to a provider."""
    failed: str | None = None
    """Why its status is an error: ``server error``, or the kinds of checks that failed; ``None`` if
    it is not an error."""
    passed: bool = False
    """Whether its status is ``Ok``: a case that passed."""
    events: tuple[SpanEvent, ...] = ()
    """Verdicts, as events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The spans of one trial, its own first."""

    trace_id: int
    """128 bits, the same whenever the same trial is sent."""
    spans: tuple[Span, ...]
    """In the order of their starts."""


def build_trace(
    run_id: str, result: TrialResult, transcript: Transcript, model: JsonObject, *, content: bool
) -> Trace:
    """Return the spans of a trial that was started.

    Args:
        run_id: Name of the run's folder.
        result: The result.
        transcript: What happened.
        model: What the log's header says of the model.
        content: Whether to send what was said: messages, arguments, results, explanations.
    """
    return _SpanTree(run_id, result, transcript, model, content=content).build_trace()


@dataclass(slots=True)
class _SpanTree:
    run_id: str
    run: TrialResult
    transcript: Transcript
    model: JsonObject
    content: bool = field(kw_only=True)
    ids: TraceIds = field(init=False)
    root_id: int = field(init=False)

    def __post_init__(self) -> None:
        self.ids = TraceIds(self.run_id, self.run.key)
        self.root_id = self.ids.derive_id("root", 8)

    def build_trace(self) -> Trace:
        spans = (*self._iterate_calls(), *self._iterate_replies())
        children = sorted(spans, key=lambda span: (span.start_ns, span.end_ns))
        return Trace(trace_id=self.ids.trace_id, spans=(self._build_root(children), *children))

    def _build_root(self, children: Sequence[Span]) -> Span:
        run, record = self.run, TrialRecord(self.run)
        # The case's own calls lie outside of the conversation, and a parent must cover its
        # children.
        end = max((self._to_ns(self.transcript.latency_s), *(span.end_ns for span in children)))
        said = [message for message in self.transcript.messages if isinstance(message, UserMessage)]
        checks = (self._build_check(check, end) for check in run.checks)
        name, user = f"{record.suite}::{record.case}", record.user_context
        asked, answer = "\n\n".join(message.text for message in said), self.transcript.answer
        return Span(
            name=f"{conventions.INVOKE_AGENT} {name}",
            span_id=self.root_id,
            parent_id=None,
            start_ns=min((self._to_ns(0), *(span.start_ns for span in children))),
            end_ns=end,
            attributes=self._clean_attributes(
                {
                    conventions.OPERATION: conventions.INVOKE_AGENT,
                    conventions.AGENT_NAME: name,
                    **self._describe_models(),
                    **{name: record.read(field) for name, field in conventions.OF_TRIAL.items()},
                    conventions.CASE_STATUS: conventions.TEST_STATUS.get(run.status),
                    **{f"harness.{axis}": value for axis, value in run.axes.items()},
                    conventions.TAGS: record.tags or None,
                    conventions.RUN_ID: self.run_id,
                    conventions.TABLE_VERSION: conventions.VERSION,
                    conventions.INPUT_MESSAGES: messages_json(said),
                    conventions.OUTPUT_MESSAGES: reply_json(Reply(text=answer)),
                    conventions.INPUT_VALUE: _clean_text(asked),
                    conventions.OUTPUT_VALUE: _clean_text(answer),
                    conventions.SPAN_KIND: "AGENT",
                    conventions.USER_CONTEXT: encode_json(user) if user else None,
                }
            ),
            failed=self._why_failed(),
            passed=run.status == "passed",
            events=(*checks, self._build_event(conventions.VERDICT, run.status, end)),
        )

    def _why_failed(self) -> str | None:
        """Return why the trial is an error: it could not be judged, or checks failed.

        Only the kinds of checks are named, because their values are content.
        """
        if self.run.error is not None:
            return f"{self.run.error.kind} error"
        if self.run.status != "failed":
            return None
        failed = (one for one in failed_checks(self.run) if one.verdict == "failed")
        kinds = dict.fromkeys(check.kind for check in failed)
        return f"failed: {', '.join(kinds)}" if kinds else "failed"

    def _build_check(self, check: CheckResult, at_ns: int) -> SpanEvent:
        more = {
            conventions.SEVERITY: check.severity,
            conventions.CHECK_LABEL: check.label,
            conventions.EXPLANATION: check.explanation or None,
            conventions.FILE: check.at.file if check.at else None,
            conventions.LINE: check.at.line if check.at else None,
        }
        return self._build_event(check.kind, check.verdict, at_ns, check.score, more)

    def _build_event(
        self,
        name: str,
        verdict: str,
        at_ns: int,
        score: float | None = None,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> SpanEvent:
        """Return the verdict on a check, or on the whole trial, whose status may be none."""
        passed = {"passed": 1.0, "failed": 0.0}.get(verdict)
        attributes = {
            conventions.EVALUATION_NAME: name,
            conventions.SCORE: passed if score is None else score,
            conventions.SCORE_LABEL: conventions.TEST_STATUS.get(verdict, verdict),
            **more,
        }
        cleaned = self._clean_attributes(attributes)
        return SpanEvent(name=conventions.EVALUATION, at_ns=at_ns, attributes=cleaned)

    # ── Calls ────────────────────────────────────────────────────────────────────────────────

    def _iterate_calls(self) -> Iterator[Span]:
        seen = self.transcript
        # Setup is timed from its own start, and ends where the conversation begins.
        before = max((call.started_s + call.duration_s for call in seen.setup_calls), default=0.0)
        told: set[int] = set()
        for phase, calls, offset in (
            ("setup", seen.setup_calls, -before),
            (None, seen.tool_calls, 0.0),
            ("user", seen.user_calls, 0.0),
            ("teardown", seen.teardown_calls, seen.latency_s),
        ):
            for number, call in enumerate(calls):
                span_id = self.ids.derive_call_span(call.reply, call.request_id)
                if not call.request_id or span_id in told:  # an id that a model gave twice
                    span_id = self.ids.derive_id(f"call {phase} {number}", 8)
                told.add(span_id)
                yield self._build_call(call, phase, offset, span_id)

    def _build_call(self, call: ToolCall, phase: str | None, offset: float, span_id: int) -> Span:
        start = offset + call.started_s
        failed = call.outcome if call.is_error else None
        wire, code, hit = call.wire or Wire(), call.error_code, call.injected
        return Span(
            name=f"{conventions.EXECUTE_TOOL} {call.tool}",
            span_id=span_id,
            parent_id=self.root_id,
            start_ns=self._to_ns(start),
            end_ns=self._to_ns(start + max(call.duration_s, 0.0)),
            attributes=self._clean_attributes(
                {
                    conventions.OPERATION: conventions.EXECUTE_TOOL,
                    conventions.TOOL_NAME: call.tool,
                    conventions.TOOL_TYPE: "function",
                    conventions.TOOL_CALL: call.request_id or None,
                    conventions.MCP_METHOD: "tools/call",
                    conventions.MCP_SESSION: wire.session,
                    conventions.MCP_PROTOCOL: wire.protocol,
                    conventions.TRANSPORT: wire.transport,
                    conventions.RPC_ID: wire.id,
                    conventions.SPAN_KIND: "TOOL",
                    conventions.INPUT_VALUE: encode_json(call.arguments),
                    conventions.OUTPUT_VALUE: _clean_text(call.text),
                    conventions.OUTCOME: call.outcome,
                    conventions.ERROR_TYPE: failed,
                    conventions.RPC_STATUS: None if code is None else str(code),
                    conventions.REPLY: call.reply or None,
                    conventions.PHASE: phase,
                    conventions.TOOL_ARGUMENTS: encode_json(call.arguments),
                    conventions.TOOL_RESULT: call.text,
                    conventions.FAULT: hit and hit.rule,
                    conventions.FAULT_SHOWN: hit and limit_text(hit.text, LONGEST),
                }
            ),
            failed=failed,
        )

    # ── Replies ──────────────────────────────────────────────────────────────────────────────

    def _iterate_replies(self) -> Iterator[Span]:
        times = enumerate(reply_times(self.transcript), start=1)
        for place, message in enumerate(self.transcript.messages):
            if isinstance(message, AssistantMessage):
                yield self._build_reply(message, *next(times), place)

    def _build_reply(
        self, message: AssistantMessage, number: int, time: ReplyTime, place: int
    ) -> Span:
        reply, model = message.reply, self.model.get("model_id") or self.run.model
        return Span(
            name=f"{conventions.CHAT} {model}",
            span_id=self.ids.derive_id(f"chat {number}", 8),
            parent_id=self.root_id,
            start_ns=self._to_ns(time.begin),
            end_ns=self._to_ns(time.end),
            kind="client",
            attributes=self._clean_attributes(
                {
                    conventions.OPERATION: conventions.CHAT,
                    conventions.PROVIDER: self.model.get("provider"),
                    **self._describe_models(reply.served_by),
                    conventions.FINISH_REASONS: [
                        # Where the convention has no word, the provider's own says most.
                        conventions.FINISH.get(reply.stop, reply.stop_detail or reply.stop)
                    ],
                    conventions.INPUT_TOKENS: reply.usage.input_tokens,
                    conventions.OUTPUT_TOKENS: reply.usage.output_tokens,
                    conventions.CACHE_READ_TOKENS: reply.usage.cache_read_tokens,
                    conventions.CACHE_WRITE_TOKENS: reply.usage.cache_write_tokens,
                    conventions.COST: reply.usage.cost_usd,
                    conventions.REPLY: number,
                    conventions.SPAN_KIND: "LLM",
                    conventions.INPUT_MESSAGES: messages_json(self.transcript.messages[:place])
                    if self.content
                    else None,
                    conventions.OUTPUT_MESSAGES: reply_json(reply) if self.content else None,
                }
            ),
        )

    # ── What all have in common ──────────────────────────────────────────────────────────────

    def _describe_models(self, served_by: str | None = None) -> dict[str, Any]:
        return {
            conventions.REQUEST_MODEL: self.model.get("model_id") or self.run.model,
            conventions.RESPONSE_MODEL: served_by or self.transcript.served_by,
        }

    def _clean_attributes(self, attributes: Mapping[str, Any]) -> Attributes:
        """Leave out what is unknown, and content unless it was asked for.

        Also redact what looks like a secret.
        """
        kept = {
            name: value
            for name, value in attributes.items()
            if value is not None and (self.content or name not in conventions.CONTENT)
        }
        cleaned: Attributes = KNOWN.redact_json(kept)
        return cleaned

    def _to_ns(self, offset_s: float) -> int:
        started = datetime.fromisoformat(self.transcript.started_at or self.run.finished_at)
        # By way of milliseconds, as the log has them: a float is not exact to the nanosecond.
        return round(started.timestamp() * 1000) * 1_000_000 + round(offset_s * 1e9)


def _clean_text(text: str) -> str | None:
    return limit_text(text, LONGEST) or None
