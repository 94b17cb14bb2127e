"""Reads files of conversations that another program recorded, in JSON Lines.

A line is one conversation, in the form of OpenAI's chat completions (``tool_calls``, and messages
of the role ``tool``) or of Anthropic's messages (``tool_use`` and ``tool_result``); or it has spans
of OTLP, of which each trace is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, format_count, read_json_lines
from harness.runner.recordings.call_spans import SpanTrace, read_traces
from harness.runner.recordings.message_forms import build_transcript, parse_json
from harness.suites import AXES
from harness.types import JsonObject, Transcript, UserMessage, dataclass

MOST_BYTES = 20_000_000
"""Bytes of a file of conversations."""
_CASE_KEYS = ("case", "case_id", "test", "test_id")
_NO_MESSAGES = "it has no list of messages"
_OTHERS = "without {} of another conversation in its trace"
_NO_WORDS = "its spans have {}, and not what was said"


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledConversation:
    """One conversation of a file, with what it says of itself."""

    place: str
    """Where it stands: ``line 3``, or ``trace 4bf9``."""
    transcript: Transcript | None
    """What was said and called; ``None`` if that is not known."""
    problem: str = ""
    """Why it is not known, or what was left out."""
    model: str = ""
    """The model that answered, if it is named."""
    case: str = ""
    """The case that it names; empty if it names none."""
    possible_case: str = ""
    """An id that may be that of a case, or one of the program's own."""
    suite: str = ""
    """The suite that it names."""
    user_context: JsonObject | None = None
    """The user's attributes, if they are recorded."""
    axes: tuple[str, ...] = ()
    """What harness itself ran it under, beside the case: ``variant 'terse'``."""


def is_message_file(path: Path) -> bool:
    """Whether the file's first line is a conversation; false if it is a run's log, or no file."""
    try:
        with path.open("rb") as file:
            first = parse_json(file.readline(MOST_BYTES))
    except OSError:
        return False
    keys = ("messages", "resourceSpans")
    return isinstance(first, dict) and any(isinstance(first.get(key), list) for key in keys)


def read_conversations(path: Path) -> list[FiledConversation]:
    """Return the conversations in the file at ``path``: those of lines, then those of traces.

    Raises:
        InvalidInput: the file cannot be read, or a line is no JSON.
    """
    lines = read_json_lines(path, max_bytes=MOST_BYTES)
    if lines.problems:
        raise InvalidInput(lines.problems)
    spans = [row.value for row in lines.rows if "resourceSpans" in row.value]
    return [
        *(
            _read_line(f"line {row.line}", row.value)
            for row in lines.rows
            if "resourceSpans" not in row.value
        ),
        *map(_describe_trace, read_traces(spans)),
    ]


def _read_line(place: str, line: Mapping[str, Any]) -> FiledConversation:
    metadata = line.get("metadata")
    facts = {**metadata, **line} if isinstance(metadata, dict) else dict(line)
    messages = line.get("messages")
    is_known = isinstance(messages, list)
    reason = line.get("finish_reason", line.get("stop_reason"))
    user = facts.get("user_context")
    return FiledConversation(
        place=place,
        transcript=build_transcript(messages, reason) if isinstance(messages, list) else None,
        problem="" if is_known else _NO_MESSAGES,
        model=_read_name(facts.get("model")),
        case=next(filter(None, (_read_name(facts.get(key)) for key in _CASE_KEYS)), ""),
        possible_case=_read_name(facts.get("id")) or _read_name(facts.get("name")),
        suite=_read_name(facts.get("suite")),
        user_context=user if isinstance(user, dict) else None,
    )


def _describe_trace(trace: SpanTrace) -> FiledConversation:
    problem = ""
    if trace.transcript is None and trace.calls:
        problem = _NO_WORDS.format(format_count(trace.calls, "call"))
    elif trace.transcript is None:
        problem = _NO_MESSAGES
    elif trace.others:
        problem = _OTHERS.format(format_count(trace.others, "request"))
    facts = trace.facts
    user = parse_json(facts.get("harness.user_context"))
    values = {axis.name: facts.get(f"harness.{axis.name}") for axis in AXES}
    return FiledConversation(
        place=f"trace {trace.trace_id}",
        transcript=trace.transcript,
        problem=problem,
        model=_read_name(facts.get("gen_ai.request.model")),
        case=_read_name(facts.get("test.case.name")),
        suite=_read_name(facts.get("test.suite.name")),
        user_context=user if isinstance(user, dict) else None,
        axes=tuple(f"{axis} {value!r}" for axis, value in values.items() if value is not None),
    )


def _read_name(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def list_prompts(transcript: Transcript) -> tuple[str, ...]:
    """Return what the user said, message by message."""
    return tuple(one.text for one in transcript.messages if isinstance(one, UserMessage))
