"""Which of the made calls a check is about: the matching rule of ``must_call`` and its kin."""

from __future__ import annotations

from collections.abc import Iterable

from harness.judging.matching.matchers import matches_partly
from harness.types import JsonObject, ToolCall, ToolList, Transcript


def matches_call(call: JsonObject, made: ToolCall) -> bool:
    """Whether ``made`` is a call that ``call`` (``{tool, args}``) describes."""
    return made.tool == call["tool"] and matches_partly(call["args"], made.arguments)


def find_matching_calls(call: JsonObject, transcript: Transcript) -> list[ToolCall]:
    """Return the calls that ``call`` describes, in order."""
    return [made for made in transcript.tool_calls if matches_call(call, made)]


def find_tool_calls(params: JsonObject, transcript: Transcript) -> list[ToolCall]:
    """Return the calls of the tool in ``params``, or all calls if it names none."""
    return [made for made in transcript.tool_calls if params.get("tool") in (None, made.tool)]


def find_forbidden_calls(
    params: JsonObject, calls: Iterable[ToolCall], tools: ToolList
) -> list[ToolCall]:
    """Return those of ``calls`` that a prohibition or limit of ``params`` covers.

    ``params`` may name a tool, also by the name that a joined server gives it, and ``args``.
    """
    tool, arguments = params.get("tool"), params.get("args", {})
    return [
        made
        for made in calls
        # A forbidden tool counts as tried also if the model had not loaded it.
        if (tool is None or tools.is_meant(tool, made.attempted_tool))
        and matches_partly(arguments, made.arguments)
    ]
