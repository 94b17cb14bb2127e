"""The transcript in lines of text: calls with their outcomes, offered tools, how it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from harness.base import did_you_mean, load_json
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.presented_tools import find_hiding_variant, find_seen_tool
from harness.judging.checks.explaining.validation_text import invalid_fields
from harness.judging.matching.json_values import format_value, shorten_value
from harness.judging.matching.texts import fold_text, format_line, measure_likeness
from harness.types import NOT_SHOWN, JsonObject, Outcome, Stop, Tool, ToolCall, Transcript

# An explanation has to fit on a screen; a report may hold more.
_MAX_CALLS = 6
_MAX_REPORTED = 20
_CONFUSABLE = 0.3  # similarity of name and description above which two tools may be confused
# fmt: off
_COMMON_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "get",
    "has", "have", "if",
    "in", "is", "it", "its", "list", "may", "name", "no", "not", "of", "on", "one", "only", "or",
    "return", "set",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "this", "to", "tool",
    "use", "used",
    "was", "when", "which", "will", "with", "you", "your",
})
# fmt: on

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
    "not_loaded": "not sent: the model had not found the tool by a search yet",
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


def list_calls(calls: Sequence[ToolCall], heading: str) -> list[str]:
    """Return the first calls as numbered lines under a heading."""
    if not calls:
        return []
    lines = [
        f"  {place}. {format_call(call, 80)} → {describe_outcome(call)}"
        for place, call in enumerate(calls[:_MAX_CALLS], 1)
    ]
    more = len(calls) - _MAX_CALLS
    return [heading, *lines, *([f"  … and {more} more"] if more > 0 else [])]


def report_calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Return the calls as JSON for reports, limited in number and size."""
    return [
        {"tool": call.tool, "arguments": shorten_value(call.arguments), "outcome": call.outcome}
        for call in calls[:_MAX_REPORTED]
    ]


def describe_ending(transcript: Transcript) -> str:
    """Return how the conversation ended: ``at the limit of replies``."""
    return _STOPS[transcript.stop]


def no_answer(transcript: Transcript, ended: str = "") -> str:
    """Return the sentence for a conversation without an answer; see `describe_ending`."""
    if transcript.only_thinking:
        return "There is no answer: the reply holds only thinking."
    return (
        f"There is no answer: the conversation ended {ended}." if ended else "There is no answer."
    )


# ── The tools on offer ───────────────────────────────────────────────────────────────────────


def explain_not_offered(name: str, evidence: Evidence) -> str | None:
    """Return why this user could not call a tool, or ``None`` if it was offered."""
    if evidence.tools.get(name) is not None:
        return None
    variant = find_hiding_variant(name, evidence)
    if variant is not None:
        return f"The variant {variant} does not show {name} to the model."
    return _not_listed(name, evidence)


def _not_listed(name: str, evidence: Evidence) -> str:
    tools = evidence.tools
    problem = next(
        (problem for problem in tools.problems if problem.tool == name and not problem.usable), None
    )
    if problem is not None:
        return (
            f"The server lists {name}, but it cannot be offered to a model: "
            f"{format_line(problem.problem)}"
        )
    if not tools.tools:
        return "The server offers this user no tool at all."
    near = did_you_mean(name, (tool.name for tool in tools.tools))
    names = format_line(", ".join(tool.name for tool in tools.tools), 200)
    if near:
        return f"There is no tool {name} among those that this user is offered. {near}"
    if evidence.case.caller.user_context:
        return f"The server does not offer {name} to this user, who is offered: {names}."
    return f"There is no tool {name} on this server. It offers: {names}."


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
    return (
        # By the shorter text, so that a long description does not hide a likeness.
        max(names, len(ours & theirs) / min(len(ours), len(theirs))) if ours and theirs else names
    )


def shared_words(left: Tool, right: Tool) -> list[str]:
    """Return the distinctive words in the texts of both tools, as ``left`` has them.

    Singular and plural of a word are the same word.
    """
    ours, theirs = _distinctive_words(left), _distinctive_words(right)
    return sorted(word for singular, word in ours.items() if singular in theirs)[:6]


def _distinctive_words(tool: Tool) -> dict[str, str]:
    """Return the distinctive words of ``tool``: each in the singular → as it is written."""
    found = re.findall(
        r"[^\W\d_]{2,}", fold_text(f"{tool.name} {tool.title or ''} {tool.description}")
    )
    words: dict[str, str] = {}
    for word in found:
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
