"""The explanation and hint under a failed `must_call`: why an expected call was not made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from harness.base import did_you_mean
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.no_calls import (
    explain_no_calls,
    find_stated_limit,
    hint_without_calls,
)
from harness.judging.checks.explaining.presented_tools import (
    find_hiding_variant,
    find_seen_tool,
    find_shown_name,
    format_tool_name,
    seen_properties,
    server_properties,
    spoken_parameter,
)
from harness.judging.checks.explaining.transcript_lines import (
    describe_outcome,
    explain_not_offered,
    find_similar_tool,
    format_call,
    format_expected_call,
    list_calls,
    shared_words,
)
from harness.judging.checks.kind import Explanation
from harness.judging.matching.differences import (
    ArgumentDifference,
    find_differences,
    format_differences,
    measure_distance,
)
from harness.judging.matching.json_values import ABSENT, format_value, is_number, type_name
from harness.judging.matching.matchers import is_matcher
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, ToolCall


def explain_missing_call(call: JsonObject, evidence: Evidence) -> Explanation:
    """Return why no call matched ``call`` (``{tool, args}``)."""
    made = [other for other in evidence.transcript.tool_calls if other.tool == call["tool"]]
    return _other_arguments(call, made, evidence) if made else _not_called(call, evidence)


def explain_no_result(params: JsonObject, evidence: Evidence) -> Explanation:
    """Return why there is no result of the tool that ``params`` name, or of any."""
    if "tool" in params:
        return explain_missing_call({"args": {}, **params}, evidence)
    hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
    return [explain_no_calls(evidence.transcript)], hint


# ── The tool was not called ──────────────────────────────────────────────────────────────────


def _not_called(call: JsonObject, evidence: Evidence) -> Explanation:
    transcript, name = evidence.transcript, call["tool"]
    calls = transcript.tool_calls
    lines = [f"Expected call not found: {format_expected_call(call)}"]
    absent = explain_not_offered(name, evidence)
    if absent is not None:
        lines.append(absent)
    if not calls:
        lines.append(explain_no_calls(transcript))
        if transcript.answer.strip():
            lines.append(f"Its answer begins: “{format_line(transcript.answer, 140)}”")
    lines += list_calls(calls, "Called instead, in order:")
    if absent is not None:
        return lines, _hint_not_offered(name, evidence)
    # Such a model made no choice, so it took no other tool for this one.
    if find_stated_limit(transcript) is not None or (
        not calls and transcript.written_call is not None
    ):
        return lines, _hint_not_called(name, evidence)
    other = find_similar_tool(name, evidence)
    if other is not None:
        lines += _two_tools(name, other.name, evidence)
        return lines, (
            f"Say in the descriptions of {format_tool_name(name, evidence)} and "
            f"{format_tool_name(other.name, evidence)} when to use which; if either is right "
            "here, accept both with must_call_any."
        )
    return lines, _hint_not_called(name, evidence)


def _two_tools(expected: str, other: str, evidence: Evidence) -> list[str]:
    """Return both tools as the model saw them."""
    both = [(name, find_seen_tool(name, evidence)) for name in (expected, other)]
    told = [(name, tool) for name, tool in both if tool is not None]
    shared = shared_words(*(tool for _, tool in told))
    alike = f" (both speak of {', '.join(shared)})" if shared else ""
    return [
        f"The model may have confused it with {find_shown_name(other, evidence)}{alike}:",
        *(
            f"  {format_tool_name(name, evidence)}: "
            f"{format_line(tool.description, 120) or '(no description)'}"
            for name, tool in told
        ),
    ]


def _hint_not_offered(name: str, evidence: Evidence) -> str:
    if find_hiding_variant(name, evidence) is not None:
        return "Let the variant show the tool, or leave this case out under the variant."
    # With a near name it is a typo; without one, a policy may hide the tool from this user.
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
    if transcript.stop in ("malformed_call", "context_limit"):
        return "The check on how the conversation ended says what helps."
    if transcript.stop != "answer":
        return (
            "The conversation was cut off: raise that limit, or see in the calls what the model "
            "spent it on."
        )
    if not transcript.tool_calls or find_stated_limit(transcript) is not None:
        return hint_without_calls(
            transcript,
            f"Ask for data that only {format_tool_name(name, evidence)} can know, or say in "
            f"its description "
            "when it is to be used; a model that believes it knows the answer calls nothing.",
        )
    failed = next((made for made in transcript.tool_calls if made.is_error), None)
    if failed is not None:
        return (
            f"The call to {failed.tool} failed before ({failed.outcome}), and the model may have "
            "stopped there: let its error say what to do next."
        )
    return (
        f"Say more clearly in the description of {format_tool_name(name, evidence)} what it is "
        "for and when it is to be used."
    )


# ── The tool was called with other arguments ─────────────────────────────────────────────────


def _other_arguments(call: JsonObject, made: list[ToolCall], evidence: Evidence) -> Explanation:
    # The one that differs least was probably meant to be this call.
    closest = min(made, key=lambda other: measure_distance(call["args"], other.arguments))
    found = find_differences(call["args"], closest.arguments)
    lines = [
        f"Tool called with unexpected arguments: {format_call(closest)}",
        *format_differences(found),
    ]
    if closest.is_error:
        lines.append(f"The call ended so: {describe_outcome(closest)}")
    if len(made) > 1:
        lines += list_calls(made, f"That is the closest of {len(made)} calls to it:")
    return lines, _hint_arguments(call["tool"], found, evidence)


def _hint_arguments(name: str, found: tuple[ArgumentDifference, ...], evidence: Evidence) -> str:
    properties = server_properties(name, evidence)
    unknown = [
        part.argument
        for part in found
        if part.argument and properties and part.argument not in properties
    ]
    # First, since no description helps where the tool has no such parameter.
    if unknown:
        has = format_line(", ".join(properties), 160)
        return (
            f"{name} has no parameter {unknown[0]!r} (it has {has}): correct the assertion, or the "
            "tool's schema."
        )
    first = found[0]
    if first.argument in properties.keys() - seen_properties(name, evidence).keys():
        return (
            f"The variant does not show the parameter {first.argument} to the model: let it show "
            "the parameter, or leave this case out under the variant."
        )
    return _hint_value(name, first, evidence)


def _hint_value(name: str, first: ArgumentDifference, evidence: Evidence) -> str:
    parameter = spoken_parameter(first.argument, name, evidence)
    argument = parameter or "the arguments"
    # A check may describe the arguments as a whole: then no parameter can be named.
    described = f"the parameter {parameter}" if parameter else format_tool_name(name, evidence)
    # The note names the argument that was given the value instead.
    if first.actual is ABSENT and first.note:
        return (
            "Say in the descriptions of the parameters which one takes this value, and mark "
            f"{argument} as required if every call needs it."
        )
    if first.actual is ABSENT:
        return (
            f"Say in the description of {described} when it is to be filled, name its "
            "value in the prompt, or relax the assertion by leaving it out."
        )
    if first.note == "differs only in case":
        return (
            f"List the accepted spellings of {argument} as an enum in the tool's schema, "
            f"or relax the assertion: {{$iequals: {format_value(first.expected)}}}."
        )
    if first.expected is ABSENT:
        return (
            f"Say in the description of {described} what belongs into it, or relax "
            f"the assertion with a matcher such as {{$contains: …}}, which allows {first.path}."
        )
    if not is_matcher(first.expected) and type_name(first.expected) != type_name(first.actual):
        return _hint_type(name, first, evidence)
    return (
        f"Say in the description of {described} what it means and how its values are "
        "written, or relax the assertion with a matcher such as {$one_of: […]} or {$contains: …}."
    )


def _hint_type(name: str, difference: ArgumentDifference, evidence: Evidence) -> str:
    schema = seen_properties(name, evidence).get(difference.argument)
    path = spoken_parameter(difference.path, name, evidence) or "the arguments"
    types = _find_types(_find_subschema(schema, difference.path))
    if not types:
        return (
            f"Declare the type of {path} in the tool's input schema, and give an example in its "
            "description."
        )
    declares = f"{format_tool_name(name, evidence)} declares {path} as {' or '.join(types)}"
    if _has_type(difference.expected, types) and _has_type(difference.actual, types):
        both = f"{format_value(difference.expected, 30)}, {format_value(difference.actual, 30)}"
        return (
            f"{declares}, so the model may send either: say in the description when to send "
            f"which, or accept both in the assertion: {{$one_of: [{both}]}}."
        )
    if _has_type(difference.actual, types):
        return f"{declares}, which is what the model sent: correct the type in the assertion."
    if _has_type(difference.expected, types):
        return (
            f"{declares} and the model sent another type: give an example in the parameter's "
            "description."
        )
    return (
        f"{declares} and the model sent another type, but the assertion expects yet another: "
        "correct the assertion, and give an example in the parameter's description."
    )


def _find_subschema(schema: Any, path: str) -> Any:
    """Return the schema of a part of an argument: of ``filter.tags[0]`` in that of ``filter``."""
    for step in re.findall(r"\.[^.\[]+|\[", path):
        if not isinstance(schema, Mapping):
            return None
        properties = schema.get("properties")
        named = properties.get(step[1:]) if isinstance(properties, Mapping) else None
        schema = schema.get("items") if step == "[" else named
    return schema


def _find_types(schema: Any) -> list[str]:
    """Return the names of the types that a schema allows, also as alternatives; empty for any."""
    if not isinstance(schema, Mapping):
        return []
    alternatives = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(alternatives, list):
        each = [_find_types(alternative) for alternative in alternatives]
        # An alternative without a type allows any.
        return list(dict.fromkeys(chain(*each))) if all(each) else []
    named = schema.get("type")
    names = named if isinstance(named, list) else [named]
    return [name for name in names if isinstance(name, str)]


def _has_type(value: Any, types: list[str]) -> bool:
    # Before Python 3.12, only floats have `is_integer`.
    whole = is_number(value) and value == value // 1
    return type_name(value) in types or (whole and "integer" in types)
