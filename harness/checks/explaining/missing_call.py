"""The explanation and hint under a failed `must_call`: why an expected call was not made."""

from __future__ import annotations

from typing import Any

from harness.checks import Evidence
from harness.checks.explaining.no_calls import hint_without_calls, limit, without_calls
from harness.checks.explaining.transcript_lines import (
    as_made,
    confused_with,
    declared,
    list_calls,
    offer,
    outcome,
    shared_words,
    wanted,
)
from harness.errors import did_you_mean
from harness.matching.differences import ArgumentDifference, differences, distance, side_by_side
from harness.matching.json_values import ABSENT, is_number, show, type_name
from harness.matching.matchers import is_matcher
from harness.matching.texts import line
from harness.types import JsonObject, Tool, ToolCall

Told = tuple[list[str], str]
"""The lines of an explanation, and the hint."""


def explain(call: JsonObject, evidence: Evidence) -> Told:
    """Return why no call matched ``call`` (``{tool, args}``)."""
    made = [other for other in evidence.transcript.tool_calls if other.tool == call["tool"]]
    return _other_arguments(call, made, evidence) if made else _not_called(call, evidence)


# ── The tool was not called ──────────────────────────────────────────────────────────────────


def _not_called(call: JsonObject, evidence: Evidence) -> Told:
    transcript, name = evidence.transcript, call["tool"]
    calls = transcript.tool_calls
    lines = [f"Expected call not found: {wanted(call)}"]
    absent = offer(name, evidence)
    if absent is not None:
        lines.append(absent)
    if not calls:
        lines.append(without_calls(transcript))
        if transcript.answer.strip():
            lines.append(f"Its answer begins: “{line(transcript.answer, 140)}”")
    lines += list_calls(calls, "Called instead, in order:")
    if absent is not None:
        return lines, _hint_not_offered(name, evidence)
    if limit(transcript) is not None:
        return lines, _hint_not_called(name, evidence)
    other = confused_with(name, evidence)
    expected = evidence.tools.get(name)
    if other is not None and expected is not None:
        lines += _two_tools(expected, other)
        return lines, (
            f"Say in the descriptions of {name} and {other.name} when to use which; if either is "
            "right here, accept both with must_call_any."
        )
    return lines, _hint_not_called(name, evidence)


def _two_tools(expected: Tool, other: Tool) -> list[str]:
    shared = shared_words(expected, other)
    alike = f" (both speak of {', '.join(shared)})" if shared else ""
    return [
        f"The model may have confused it with {other.name}{alike}:",
        *(
            f"  {tool.name}: {line(tool.description, 120) or '(no description)'}"
            for tool in (expected, other)
        ),
    ]


def _hint_not_offered(name: str, evidence: Evidence) -> str:
    if evidence.case.caller.user_context and not did_you_mean(
        name, (tool.name for tool in evidence.tools.tools)
    ):
        return (
            "If this user should have the tool, look at the server's policy and at how the "
            "user_context reaches it; if not, correct the assertion. `harness tools` lists what a "
            "server offers."
        )
    return "Correct the tool's name in the assertion. `harness tools` lists what a server offers."


def _hint_not_called(name: str, evidence: Evidence) -> str:
    transcript = evidence.transcript
    if transcript.stop == "refusal":
        return (
            "The model declined to go on: reword the prompt, or say in the description what the "
            "tool is allowed to do."
        )
    if transcript.stop != "answer":
        return (
            "The conversation was cut off: raise that limit, or see in the calls what the model "
            "spent it on."
        )
    if not transcript.tool_calls or limit(transcript) is not None:
        return hint_without_calls(
            transcript,
            f"Ask for data that only {name} can know, or say in its description when it is to be "
            "used; a model that believes it knows the answer calls nothing.",
        )
    failed = next((made for made in transcript.tool_calls if made.is_error), None)
    if failed is not None:
        return (
            f"The call to {failed.tool} failed before ({failed.outcome}), and the model may have "
            "stopped there: let its error say what to do next."
        )
    return (
        f"Say more clearly in the description of {name} what it is for and when it is to be used."
    )


# ── The tool was called with other arguments ─────────────────────────────────────────────────


def _other_arguments(call: JsonObject, made: list[ToolCall], evidence: Evidence) -> Told:
    closest = min(made, key=lambda other: distance(call["args"], other.arguments))
    found = differences(call["args"], closest.arguments)
    lines = [f"Tool called with unexpected arguments: {as_made(closest)}", *side_by_side(found)]
    if closest.is_error:
        lines.append(f"The call ended so: {outcome(closest)}")
    if len(made) > 1:
        lines += list_calls(made, f"That is the closest of {len(made)} calls to it:")
    return lines, _hint_arguments(call["tool"], found, evidence)


def _hint_arguments(name: str, found: tuple[ArgumentDifference, ...], evidence: Evidence) -> str:
    properties = declared(name, evidence)
    unknown = [
        part.argument
        for part in found
        if part.argument and properties and part.argument not in properties
    ]
    if unknown:
        has = line(", ".join(properties), 160)
        return (
            f"{name} has no parameter {unknown[0]!r} (it has {has}): correct the assertion, or the "
            "tool's schema."
        )
    first = found[0]
    argument = first.argument or "the arguments"
    if first.actual is ABSENT and first.note:
        return (
            "Say in the descriptions of the parameters which one takes this value, and mark "
            f"{argument} as required if every call needs it."
        )
    if first.actual is ABSENT:
        return (
            f"Say in the description of the parameter {argument} when it is to be filled, name its "
            "value in the prompt, or relax the assertion by leaving it out."
        )
    if first.note == "differs only in case":
        return (
            f"List the accepted spellings of {argument} as an enum in the tool's schema, "
            f"or relax the assertion: {{$iequals: {show(first.expected)}}}."
        )
    if not is_matcher(first.expected) and type_name(first.expected) != type_name(first.actual):
        return _hint_type(name, first, properties.get(argument))
    return (
        f"Say in the description of the parameter {argument} what it means and how its values are "
        "written, or relax the assertion with a matcher such as {$one_of: […]} or {$contains: …}."
    )


def _hint_type(name: str, difference: ArgumentDifference, schema: Any) -> str:
    types = schema.get("type") if isinstance(schema, dict) else None
    names = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    if difference.path == difference.argument and names:
        if _is_one_of(difference.actual, names) and not _is_one_of(difference.expected, names):
            return (
                f"{name} declares {difference.argument} as {' or '.join(map(str, names))}, which "
                "is what the model sent: correct the type in the assertion."
            )
        return (
            f"{name} declares {difference.argument} as {' or '.join(map(str, names))} and the "
            "model sent another type: give an example in the parameter's description."
        )
    return (
        f"Declare the type of {difference.argument} in the tool's input schema, and give an "
        "example in its description."
    )


def _is_one_of(value: Any, names: list[Any]) -> bool:
    return type_name(value) in names or (is_number(value) and "integer" in names)
