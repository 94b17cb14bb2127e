"""Cases from conversations that another program recorded, in JSON Lines.

A line is one conversation, in the form of OpenAI's chat completions (``tool_calls``, and messages
of the role ``tool``) or of Anthropic's messages (``tool_use`` and ``tool_result``); or it has spans
of OTLP, with messages after OpenTelemetry's conventions for generative AI. What a case checks is
proposed: calls that mattered, arguments that came from the prompt, and facts of the answer that
came from results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, JsonLines, UsageError, format_path, read_json_lines
from harness.descriptions.drafting.draft import DraftCase
from harness.descriptions.drafting.recorded_cases import RecordedCases, write_recorded_cases
from harness.types import JsonObject, dataclass

MOST_BYTES = 20_000_000
"""Bytes of a file of conversations."""
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_MOST_FACTS = 3
_MOST_VALUES = 1_000  # of a result; each is sought in the answer
_SHORTEST, _LONGEST = 3, 60  # characters of a fact
_FACT = re.compile(r"[A-Z][\w.-]*\d[\w.-]*|\d[\d.,:-]*\d")
_ADVICE = """\
# What to do next:
# 1. Read each test. What it checks is proposed, for the reasons under 'proposed' of its metadata.
# 2. Correct what is wrong, and take the name of a check out of 'proposed' once you accept it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TracedCall:
    """One call of a tool, with what came of it."""

    tool: str
    args: JsonObject
    result: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """What was said and called in one line of the file."""

    prompts: tuple[str, ...]
    calls: tuple[_TracedCall, ...]
    answer: str


def is_message_file(path: Path) -> bool:
    """Whether the file's first line is a conversation; false if it is a run's log, or no file."""
    try:
        with path.open("rb") as file:
            first = _parse_json(file.readline(MOST_BYTES))
    except OSError:
        return False
    keys = ("messages", "resourceSpans")
    return isinstance(first, dict) and any(isinstance(first.get(key), list) for key in keys)


def build_suite_from_messages(path: Path, name: str, server: JsonObject | str) -> RecordedCases:
    """Return the suite ``name`` with a case for each conversation in which something mattered.

    ``server`` is the suite's ``server:``.

    Raises:
        InvalidInput: the file cannot be read, or a line is no JSON.
        UsageError: nothing can be proposed for any conversation.
    """
    lines = read_json_lines(path, max_bytes=MOST_BYTES)
    if lines.problems:
        raise InvalidInput(lines.problems)
    cases: list[DraftCase] = []
    left_out: list[str] = []
    for where, messages in _iterate_messages(lines):
        conversation = _read_conversation(messages)
        name_of_case = re.sub(r"\W+", "_", where)
        case = None if conversation is None else _propose_case(conversation, name_of_case)
        if case is None:
            what = "it has no list of messages" if conversation is None else "no call mattered"
            left_out.append(f"{where}: {what}")
        else:
            cases.append(case)
    if not cases:
        message = f"no case can be made of {format_path(path)}: {'; '.join(left_out)}"
        raise UsageError(message, meant="A line has 'messages', in which a call succeeds.")
    facts = {"mxcp": 1, "suite": name, "server": server}
    return write_recorded_cases(
        f"Cases from the conversations in {path.name}.", _ADVICE, facts, cases, left_out
    )


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def _iterate_messages(lines: JsonLines) -> Iterator[tuple[str, Any]]:
    """Yield the place and the messages of each conversation: a line, or a trace of spans."""
    traces: dict[str, list[Any]] = {}
    for row in lines.rows:
        if "resourceSpans" not in row.value:
            yield f"line {row.line}", row.value.get("messages")
        for span in _iterate_spans(row.value.get("resourceSpans")):
            whole = traces.setdefault(f"trace {span.get('traceId')}", [])
            said = [
                message
                for key in (_INPUT, _OUTPUT)
                for message in _as_list(_parse_json(_find_attribute(span, key)))
            ]
            # The last request of a conversation has all of it.
            if len(said) > len(whole):
                whole[:] = said
    yield from ((place, whole or None) for place, whole in traces.items())


def _iterate_spans(resources: Any) -> Iterator[Mapping[str, Any]]:
    for resource in _as_list(resources):
        for scope in _as_list(resource.get("scopeSpans") if isinstance(resource, dict) else None):
            spans = _as_list(scope.get("spans") if isinstance(scope, dict) else None)
            yield from (span for span in spans if isinstance(span, dict))


def _find_attribute(span: Mapping[str, Any], key: str) -> Any:
    for one in _as_list(span.get("attributes")):
        if isinstance(one, dict) and one.get("key") == key and isinstance(one.get("value"), dict):
            return one["value"].get("stringValue")
    return None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _parse_json(text: Any) -> Any:
    """Return the value of JSON; ``None`` if it is none."""
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def _read_conversation(messages: Any) -> _Conversation | None:
    if not isinstance(messages, list):
        return None
    prompts: list[str] = []
    calls: dict[str, _TracedCall] = {}
    answer = ""
    for message in messages:
        if not isinstance(message, dict):
            continue
        calls.update(_iterate_calls(message))
        for key, result, is_error in _iterate_results(message):
            if (made := calls.get(key)) is not None:
                calls[key] = _TracedCall(
                    tool=made.tool, args=made.args, result=result, is_error=is_error
                )
        said = message.get("parts", message.get("content"))
        text = _join_texts(said) if message.get("role") != "tool" else ""
        if message.get("role") == "user" and text:
            prompts.append(text)
        elif message.get("role") == "assistant" and text:
            answer = text
    return _Conversation(prompts=tuple(prompts), calls=tuple(calls.values()), answer=answer)


def _iterate_blocks(content: Any, kind: str) -> Iterator[Mapping[str, Any]]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def _join_texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = _iterate_blocks(content, "text")
    return "\n".join(str(block.get("text", block.get("content", ""))) for block in blocks)


def _iterate_calls(message: Mapping[str, Any]) -> Iterator[tuple[str, _TracedCall]]:
    """Yield the id of each call with the call."""
    for block in _iterate_blocks(message.get("content"), "tool_use"):
        yield str(block.get("id")), _build_call(block.get("name"), block.get("input"))
    for call in message.get("tool_calls") or ():
        if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
            yield str(call.get("id")), _build_call(function.get("name"), function.get("arguments"))
    for part in _iterate_blocks(message.get("parts"), "tool_call"):
        yield str(part.get("id")), _build_call(part.get("name"), part.get("arguments"))


def _build_call(name: Any, args: Any) -> _TracedCall:
    # Hosts put the server's name before a tool's: mcp__shop__get_order.
    tool = re.sub(r"\Amcp__.+?__", "", str(name))
    args = _parse_json(args) if isinstance(args, str) else args
    return _TracedCall(tool=tool, args=args if isinstance(args, dict) else {})


def _iterate_results(message: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield the id of each call with the text of its result, and whether it is an error."""
    for part in _iterate_blocks(message.get("parts"), "tool_call_response"):
        result = part.get("response", part.get("result"))
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        yield str(part.get("id")), text, False
    if message.get("role") == "tool" and "parts" not in message:
        yield str(message.get("tool_call_id")), _join_texts(message.get("content")), False
    for block in _iterate_blocks(message.get("content"), "tool_result"):
        text = _join_texts(block.get("content"))
        yield str(block.get("tool_use_id")), text, block.get("is_error") is True


# ── Proposing ────────────────────────────────────────────────────────────────────────────────────


def _propose_case(conversation: _Conversation, name: str) -> DraftCase | None:
    """Return a case with what mattered; ``None`` if nothing did."""
    if not conversation.prompts:
        return None
    asked = "\n".join(conversation.prompts)
    calls: dict[str, tuple[str, JsonObject]] = {}
    facts: list[str] = []
    reasons: list[str] = []
    for place, call in enumerate(conversation.calls):
        if call.result is None or call.is_error:
            continue
        known = list(islice(_iterate_facts(call.result), _MOST_VALUES))
        given = {key: part for key, part in call.args.items() if _is_said(part, asked)}
        found = [
            fact
            for fact in known
            if _is_said(fact, conversation.answer) and not _is_said(fact, asked)
        ]
        later = [one.args for one in conversation.calls[place + 1 :]]
        used = any(
            _is_said(fact, json.dumps(args, ensure_ascii=False)) for args in later for fact in known
        )
        why = "the answer repeats its result" if found else "a later call uses its result"
        if not found and not used:
            continue
        calls.setdefault(json.dumps([call.tool, given]), (call.tool, given))
        facts += [fact for fact in found if fact not in facts]
        reasons.append(f"{call.tool}: {why}")
    if not calls:
        return None
    facts = sorted(facts, key=len, reverse=True)[:_MOST_FACTS]
    proposed = {"must_succeed": "; ".join(dict.fromkeys(reasons))}
    if facts:
        proposed["answer_contains"] = "facts of the answer that came from results"
    prompts = conversation.prompts
    return DraftCase(
        name=name,
        prompt=prompts[0],
        turns=tuple({"prompt": said} for said in prompts) if len(prompts) > 1 else (),
        must_succeed=tuple(calls.values()),
        answer_contains=tuple(facts),
        proposed=proposed,
    )


def _is_said(value: Any, text: str) -> bool:
    """Whether a text or number stands in ``text`` as a whole, in any case."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return False
    pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _iterate_facts(result: str) -> Iterator[str]:
    """Yield what in a result may be a fact: values of JSON; of words, numbers and identifiers."""
    value = _parse_json(result)
    if isinstance(value, dict | list):
        todo: list[Any] = [value]
        while todo:
            part = todo.pop()
            if isinstance(part, dict | list):
                todo += part.values() if isinstance(part, dict) else part
            elif not isinstance(part, bool) and _SHORTEST <= len(str(part)) <= _LONGEST:
                yield str(part)
    else:
        yield from (found for found in _FACT.findall(result) if len(found) >= _SHORTEST)
