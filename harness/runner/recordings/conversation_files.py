"""Reads files of conversations that another program recorded: JSON Lines, or one JSON document.

A line, the document, or an item of its list is one conversation, in the form of OpenAI's chat
completions (``tool_calls``, and messages of the role ``tool``) or of Anthropic's messages
(``tool_use`` and ``tool_result``); or it has spans of OTLP, of which each trace is one. A document
may also be the list of the messages itself.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.base import (
    InvalidInput,
    InvalidValue,
    format_count,
    format_path,
    make_problem,
    read_bytes,
    read_json_lines,
    strict_json,
)
from harness.runner.recordings.call_spans import SpanTrace, read_traces
from harness.runner.recordings.message_forms import (
    add_tools,
    build_transcript,
    parse_json,
    read_tools,
)
from harness.suites import AXES
from harness.types import JsonObject, ToolList, Transcript, UserMessage, dataclass

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
    """Where it stands: ``line 3``, ``item 3`` of a list, or ``trace 4bf9``."""
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
    tools: ToolList | None = None
    """The tools that it offered; ``None`` if it does not say."""
    axes: tuple[str, ...] = ()
    """What harness itself ran it under, beside the case: ``variant 'terse'``."""


def is_message_file(path: Path) -> bool:
    """Whether the file has conversations; false if it is a run's log, or no file."""
    try:
        with path.open("rb") as file:
            value = parse_json(first := file.readline(MOST_BYTES))
            if value is None:  # a document over several lines
                value = parse_json(first + file.read(MOST_BYTES))
    except OSError:
        return False
    return any(map(_is_conversation, _list_items(value)))


def _is_conversation(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), list) for key in ("messages", "resourceSpans")
    )


def _list_items(document: Any) -> list[Any]:
    """Return what may be conversations in a document; a list of messages is one."""
    if not isinstance(document, list):
        return [document]
    is_talk = bool(document) and all(isinstance(one, dict) and "role" in one for one in document)
    return [{"messages": document}] if is_talk else document


def read_conversations(path: Path) -> list[FiledConversation]:
    """Return the conversations in the file at ``path``: those of messages, then those of traces.

    Raises:
        InvalidInput: the file cannot be read, or is no JSON.
    """
    found = list(_iterate_objects(path))
    return [
        *(_read_line(place, value) for place, value in found if "resourceSpans" not in value),
        *map(_describe_trace, read_traces(one for _, one in found if "resourceSpans" in one)),
    ]


def _iterate_objects(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each object with its place: a line, or an item of the document that the file is."""
    raw = read_bytes(path, max_bytes=MOST_BYTES).removeprefix(codecs.BOM_UTF8).strip()
    first, _, rest = raw.partition(b"\n")
    goes_on = parse_json(first) is None and not rest.lstrip().startswith(b"{")
    if not raw.startswith(b"[") and not (raw.startswith(b"{") and goes_on):
        lines = read_json_lines(path, max_bytes=MOST_BYTES)
        if lines.problems:
            raise InvalidInput(lines.problems)
        yield from ((f"line {row.line}", row.value) for row in lines.rows)
        return
    meant: str | None
    try:
        items = _list_items(strict_json(raw.decode("utf-8")))
    except UnicodeDecodeError:
        words, meant = "the file is not UTF-8 text.", "Save it with the encoding UTF-8."
    except InvalidValue as error:
        words, meant = f"{error.message}.", error.meant
    else:
        yield from _number_items(items)
        return
    raise InvalidInput([make_problem(format_path(path), 1, words, meant)])


def _number_items(items: Sequence[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, item in enumerate(items, start=1):
        yield f"item {number}", item if isinstance(item, dict) else {}


def _read_line(place: str, line: Mapping[str, Any]) -> FiledConversation:
    metadata = line.get("metadata")
    facts = {**metadata, **line} if isinstance(metadata, dict) else dict(line)
    messages = line.get("messages")
    tools = read_tools(line.get("tools"))
    transcript = None
    if isinstance(messages, list):
        reason = line.get("finish_reason", line.get("stop_reason"))
        transcript = add_tools(build_transcript(messages, reason), tools)
    user = facts.get("user_context")
    return FiledConversation(
        place=place,
        transcript=transcript,
        problem=_NO_MESSAGES if transcript is None else "",
        tools=tools,
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
    tools = read_tools(facts.get("gen_ai.tool.definitions"))
    values = {axis.name: facts.get(f"harness.{axis.name}") for axis in AXES}
    return FiledConversation(
        place=f"trace {trace.trace_id}",
        transcript=None if trace.transcript is None else add_tools(trace.transcript, tools),
        tools=tools,
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
