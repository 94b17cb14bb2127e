"""The transcript in lines of text: calls with their outcomes, offered tools, how it ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import did_you_mean, load_json
from harness.judging.checks.kind import Evidence
from harness.judging.matching.json_values import format_value, shorten_value
from harness.judging.matching.texts import fold_text, format_line, measure_likeness
from harness.types import (
    NOT_SHOWN,
    REWORDED,
    Injection,
    JsonObject,
    Outcome,
    PresentedTool,
    Stop,
    Tool,
    ToolCall,
    Transcript,
)

# An explanation has to fit on a screen; a report may hold more.
_MAX_CALLS = 6
_MAX_REPORTED = 20
_CONFUSABLE = 0.3  # similarity of name and description above which two tools may be confused
_COMMON_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from"),
        *("get", "has", "have", "if", "in", "is", "it", "its", "list", "may", "name", "no", "not"),
        *("of", "on", "one", "only", "or", "return", "set", "such", "than", "that", "the", "their"),
        *("them", "then", "there", "these", "this", "to", "tool", "use", "used", "was", "when"),
        *("which", "will", "with", "you", "your"),
    }
)

_STOPS: dict[Stop, str] = {
    "answer": "with an answer",
    "refusal": "with the model's refusal",
    "max_tokens": "when a reply was cut at its token limit",
    "malformed_call": "when the API could not read the model's call",
    "context_limit": "when the conversation no longer fitted the model",
    "reply_limit": "at the limit of replies",
    "call_limit": "at the limit of tool calls",
    "token_limit": "at the limit of tokens",
    "cost_limit": "at the limit of cost",
    "time_limit": "at the time limit",
    "error": "with an error",
    "cancelled": "when it was interrupted",
    "aborted": "when the case had it aborted",
    "user_stop": "when the user was done",
    "agent_stop": "when the model ended it",
    "transfer": "when the user was handed over",
    "user_limit": "when the user's messages were used up",
    "premature": "before either side ended it",
    "not_admitted": "before it began: the server refused this caller",
}

_OUTCOMES: dict[Outcome, str] = {
    "ok": "ok",
    "tool_error": "error",
    "denied": "refused by the server",
    "unknown_tool": "the server has no such tool for this user",
    "invalid_arguments": "arguments not accepted",
    "timeout": "no answer in time",
    "server_lost": "the server went away before it answered",
    "invalid_result": "the server's answer is not an MCP result",
    "decoy": "not sent: a decoy, which a variant added to the tools",
    "not_loaded": "not sent: no search or filter had put the tool into the model's list",
    "injected": "not sent: a fault or an attack answered it",
    "tool_search": "a search for tools, which the harness answered",
    "blocked": "not sent: held back by the harness",
}


def format_expected_call(call: JsonObject, width: int = 120) -> str:
    """Return an expected call as text: ``get_orders({"id": "C1"})``, ``(…)`` for any arguments."""
    arguments = format_value(call["args"], width) if call["args"] else "…"
    return f"{format_value(call['tool'])[1:-1]}({arguments})"


def format_call(call: ToolCall, width: int = 120) -> str:
    """Return a call as text."""
    arguments = format_value(call.arguments, width) if call.arguments else ""
    # As JSON without its quotation marks, which escapes what a terminal would obey.
    return f"{format_value(call.tool)[1:-1]}({arguments})"


def describe_outcome(call: ToolCall) -> str:
    """Return how a call ended, in words."""
    # It has the outcome of a server's answer, but no server was asked.
    if call.outcome == "unknown_tool" and call.tool.endswith(NOT_SHOWN):
        return "not sent: the variant shows the model no tool of this name"
    words = _OUTCOMES[call.outcome]
    if call.outcome in ("tool_error", "denied") and call.text.strip():
        return f"{words}: “{format_line(invalid_fields(call.text) or call.text, 120)}”"
    if call.outcome == "invalid_arguments" and (call.argument_errors or call.text.strip()):
        why = "; ".join(call.argument_errors) or invalid_fields(call.text) or call.text
        return f"{words}: {format_line(why, 120)}"
    return words


def describe_call(call: ToolCall, width: int = 120) -> str:
    """Return a call as text, how it ended, and what a fault made of that."""
    ended = f"{format_call(call, width)} → {describe_outcome(call)}"
    return ended if call.injected is None else f"{ended}; {describe_injection(call.injected)}"


def describe_injection(shown: Injection, width: int = 120) -> str:
    """Return which fault hit a call, and what the model saw instead of the server's answer."""
    seen = f"“{format_line(shown.text, width)}”" if shown.text.strip() else "nothing"
    simulated = f", {shown.simulated_s:g} s of waiting simulated" if shown.simulated_s else ""
    words = "an error" if shown.is_error else "a result"
    what = "attack" if shown.fault == "attack" else "fault"
    by = shown.rule if shown.fault == REWORDED else f"{what} {shown.rule}"
    return f"{by}: the model saw {words}{simulated}: {seen}"


def list_calls(calls: Sequence[ToolCall], heading: str) -> list[str]:
    """Return the first calls as numbered lines under a heading."""
    if not calls:
        return []
    shown = enumerate(calls[:_MAX_CALLS], 1)
    lines = [heading, *(f"  {place}. {describe_call(call, 80)}" for place, call in shown)]
    more = len(calls) - _MAX_CALLS
    return [*lines, f"  … and {more} more"] if more > 0 else lines


def list_several_calls(calls: Sequence[ToolCall], heading: str) -> list[str]:
    """Return them as `list_calls` does; nothing for a single one, which is told already."""
    return list_calls(calls, heading) if len(calls) > 1 else []


def report_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Return the calls as JSON for reports, limited in number and size."""
    return [
        {"tool": call.tool, "arguments": shorten_value(call.arguments), "outcome": call.outcome}
        for call in calls[:_MAX_REPORTED]
    ]


def quote_answer(transcript: Transcript, words: str) -> str:
    """Return the beginning of the answer behind ``words``, or that there is none."""
    answer = format_line(transcript.answer, 240)
    return f"{words}: “{answer}”" if transcript.answer.strip() else no_answer(transcript)


def describe_ending(transcript: Transcript) -> str:
    """Return how the conversation ended: ``at the limit of replies``."""
    return _STOPS[transcript.stop]


def no_answer(transcript: Transcript, ended: str = "") -> str:
    """Return the sentence for a conversation without an answer; see `describe_ending`."""
    if transcript.only_thinking:
        return "There is no answer: the reply holds only thinking."
    return f"There is no answer{f': the conversation ended {ended}' if ended else ''}."


# ── Tools and parameters as the model saw them: under a variant, not the server's words ──────


def _find_presented(name: str, evidence: Evidence) -> PresentedTool | None:
    return None if evidence.presented is None else evidence.presented.tools.get(name)


def find_seen_tool(name: str, evidence: Evidence) -> Tool | None:
    """Return the tool that the server calls ``name`` as the model saw it, without a prefix.

    ``None`` if it was not offered.
    """
    presented = _find_presented(name, evidence)
    if presented is None:
        return evidence.tools.get(name)
    return replace(presented.tool, name=presented.plain_name)


def find_shown_name(name: str, evidence: Evidence) -> str:
    """Return the model's name of the tool that the server calls ``name``."""
    presented = _find_presented(name, evidence)
    return name if presented is None else presented.tool.name


def format_tool_name(name: str, evidence: Evidence) -> str:
    """Return the model's name of a tool, and the server's ``name`` if that is another one."""
    return _format_both_names(name, find_shown_name(name, evidence))


def spoken_parameter(path: str, tool: str, evidence: Evidence) -> str:
    """Return the model's name of a parameter of ``tool``, and the server's if it is another one.

    ``path`` may lead into the parameter: ``filter.tags[0]``.
    """
    presented = _find_presented(tool, evidence)
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    shown = name if presented is None else presented.parameters.get(name, name)
    return _format_both_names(path, f"{shown}{path[len(name) :]}")


def _format_both_names(own: str, shown: str) -> str:
    return own if own == shown else f"{shown} ({own} on the server)"


def seen_properties(tool: str, evidence: Evidence) -> JsonObject:
    """Return the server's name of each parameter of ``tool`` → its schema as the model saw it."""
    presented = _find_presented(tool, evidence)
    if presented is None:
        return server_properties(tool, evidence)
    # A variant may rename parameters; checks use the server's names.
    own_names = {shown: own for own, shown in presented.parameters.items()}
    properties = _read_properties(presented.tool)
    return {own_names.get(name, name): schema for name, schema in properties.items()}


def server_properties(tool: str, evidence: Evidence) -> JsonObject:
    """Return the properties of the input schema of ``tool``, as the server declares them."""
    return _read_properties(evidence.tools.get(tool))


def _read_properties(tool: Tool | None) -> JsonObject:
    # A server's schema may have anything there.
    properties = tool.input_schema.get("properties") if tool else None
    return properties if isinstance(properties, Mapping) else {}


def find_hiding_variant(name: str, evidence: Evidence) -> str | None:
    """Return the name of the variant that does not show ``name`` to the model, if one does so."""
    presented = evidence.presented
    return presented.variant if presented is not None and name in presented.hidden else None


# ── The tools on offer ───────────────────────────────────────────────────────────────────────


def explain_not_offered(name: str, evidence: Evidence) -> str | None:
    """Return why this user could not call a tool, or ``None`` if it was offered."""
    if evidence.tools.get(name) is not None:
        return None
    if (variant := find_hiding_variant(name, evidence)) is not None:
        return f"The variant {variant} does not show {name} to the model."
    tools = evidence.tools
    for problem in tools.problems:
        if problem.tool == name and not problem.usable:
            why = format_line(problem.problem)
            return f"The server lists {name}, but it cannot be offered to a model: {why}"
    if not tools.tools:
        return "The server offers this user no tool at all."
    near = did_you_mean(name, (tool.name for tool in tools.tools))
    names = format_line(", ".join(tool.name for tool in tools.tools), 200)
    if near:
        return f"There is no tool {name} among those that this user is offered. {near}"
    hidden = f"The server does not offer {name} to this user, who is offered: {names}."
    unknown = f"There is no tool {name} on this server. It offers: {names}."
    return hidden if evidence.case.caller.user_context else unknown


def find_similar_tool(name: str, evidence: Evidence) -> Tool | None:
    """Return the called tool that is most similar to ``name``, if one is similar enough.

    They are compared as the model saw them; the returned tool has the server's name.
    """
    expected = find_seen_tool(name, evidence)
    called = dict.fromkeys(call.tool for call in evidence.transcript.tool_calls)
    others = [tool for tool in evidence.tools.tools if tool.name in called and tool.name != name]
    if expected is None or not others:
        return None
    likeness_of = {
        tool.name: _measure_similarity(expected, find_seen_tool(tool.name, evidence) or tool)
        for tool in others
    }
    best = max(others, key=lambda tool: likeness_of[tool.name])
    return best if likeness_of[best.name] >= _CONFUSABLE else None


def _measure_similarity(left: Tool, right: Tool) -> float:
    names = measure_likeness(left.name.replace("_", " "), right.name.replace("_", " "))
    ours, theirs = _distinctive_words(left).keys(), _distinctive_words(right).keys()
    # By the shorter text, so that a long description does not hide a likeness.
    return max(names, len(ours & theirs) / (min(len(ours), len(theirs)) or 1))


def shared_words(left: Tool, right: Tool) -> list[str]:
    """Return the distinctive words in the texts of both tools, as ``left`` has them.

    Singular and plural of a word are the same word.
    """
    ours, theirs = _distinctive_words(left), _distinctive_words(right)
    return sorted(word for singular, word in ours.items() if singular in theirs)[:6]


def _distinctive_words(tool: Tool) -> dict[str, str]:
    """Return the distinctive words of ``tool``: each in the singular → as it is written."""
    text = fold_text(f"{tool.name} {tool.title or ''} {tool.description}")
    words: dict[str, str] = {}
    for word in re.findall(r"[^\W\d_]{2,}", text):
        # English plurals: "queries" and "query", "orders" and "order".
        singular = re.sub(r"ie$", "y", word.removesuffix("s")) if word.endswith("s") else word
        if _COMMON_WORDS.isdisjoint({word, singular}):
            words.setdefault(singular, word)
    return words


# ── What tools returned ──────────────────────────────────────────────────────────────────────


def result_json(call: ToolCall) -> Any:
    """Return a call's result as JSON: the structured one, else its text, parsed if possible."""
    if call.structured is not None:
        return call.structured
    try:
        return load_json(call.text)
    except ValueError:
        return call.text


def is_truncated(call: ToolCall) -> bool:
    """Whether only a part of the tool's result was recorded."""
    return call.result_sha256 is not None or call.cut is not None


# ── The fields in a server's own words on invalid arguments ──────────────────────────────────

# Two libraries write almost all of them, each over many lines of which a report shows the first:
# Pydantic (`docs.pydantic.dev/latest/errors/validation_errors`)
#
#     1 validation error for get_orderArguments
#     filter.size
#       Input should be a valid integer [type=int_parsing, input_value='x', input_type=str]
#
# and Zod (`zod.dev/error-formatting`), a JSON list of issues with ``path`` and ``message``.
_PYDANTIC = re.compile(r"\d+ validation errors? for ")
_PYDANTIC_FIELD = re.compile(
    r"^(?P<field>\S.*)\n[ \t]+(?P<message>\S.*?)(?: \[type=[^\n]*)?$", re.MULTILINE
)
_MOST_READ = 20_000  # characters; the text is the server's, and may have any length


def invalid_fields(text: str) -> str | None:
    """Return ``field: message; field: message``; ``None`` for a text of another form."""
    text = text[:_MOST_READ]
    found = [*(_parse_pydantic(text) if _PYDANTIC.search(text) else _parse_zod(text))]
    return "; ".join(f"{field}: {message}" for field, message in found) or None


def _parse_pydantic(text: str) -> Iterator[tuple[str, str]]:
    for match in _PYDANTIC_FIELD.finditer(text):
        # The heading has the form of a field where the error is one of all arguments together.
        if not _PYDANTIC.search(match["field"]):
            yield match["field"], match["message"]


def _parse_zod(text: str) -> Iterator[tuple[str, str]]:
    start = text.find("[")
    try:
        # Zod's list may stand behind words of the server, and before others.
        issues: Any = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else []
    except (ValueError, RecursionError):
        return
    for issue in issues:
        if isinstance(issue, dict) and isinstance(issue.get("path"), list) and "message" in issue:
            yield ".".join(map(str, issue["path"])) or "the arguments", str(issue["message"])
