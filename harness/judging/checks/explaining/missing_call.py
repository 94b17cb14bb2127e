"""Why an expected call was not made, or none at all, and what helps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from harness.base import did_you_mean
from harness.judging.checks.explaining.transcript_lines import (
    describe_ending,
    describe_outcome,
    explain_not_offered,
    find_hiding_variant,
    find_seen_tool,
    find_shown_name,
    find_similar_tool,
    format_call,
    format_expected_call,
    format_tool_name,
    list_calls,
    list_several_calls,
    seen_properties,
    server_properties,
    shared_words,
    spoken_parameter,
)
from harness.judging.checks.kind import Evidence, Explanation
from harness.judging.matching.differences import (
    ArgumentDifference,
    find_differences,
    format_differences,
    measure_distance,
)
from harness.judging.matching.json_values import ABSENT, format_value, is_number, type_name
from harness.judging.matching.matchers import is_matcher
from harness.judging.matching.texts import FoldedText, fold_as_read, format_line
from harness.types import AssistantMessage, JsonObject, ToolCall, Transcript


def explain_missing_call(call: JsonObject, evidence: Evidence) -> Explanation:
    """Return why no call matched ``call`` (``{tool, args}``)."""
    made = [other for other in evidence.transcript.tool_calls if other.tool == call["tool"]]
    if made:
        return _explain_other_arguments(call, made, evidence)
    return _explain_uncalled_tool(call, evidence)


def explain_no_result(params: JsonObject, evidence: Evidence) -> Explanation:
    """Return why there is no result of the tool that ``params`` name, or of any."""
    if "tool" in params:
        return explain_missing_call({"args": {}, **params}, evidence)
    hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
    return [explain_no_calls(evidence.transcript)], hint


# ── The tool was not called ──────────────────────────────────────────────────────────────────


def _explain_uncalled_tool(call: JsonObject, evidence: Evidence) -> Explanation:
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
    chose = find_stated_limit(transcript) is None and (calls or transcript.written_call is None)
    other = find_similar_tool(name, evidence) if chose else None
    if other is None:
        return lines, _hint_not_called(name, evidence)
    both = f"{format_tool_name(name, evidence)} and {format_tool_name(other.name, evidence)}"
    return lines + _describe_both_tools(name, other.name, evidence), (
        f"Say in the descriptions of {both} when to use which; if either is right here, accept "
        "both with must_call_any."
    )


def _describe_both_tools(expected: str, other: str, evidence: Evidence) -> list[str]:
    """Return both tools as the model saw them."""
    both = {name: find_seen_tool(name, evidence) for name in (expected, other)}
    seen = {name: tool for name, tool in both.items() if tool is not None}
    shared = shared_words(*seen.values())
    alike = f" (both speak of {', '.join(shared)})" if shared else ""
    return [
        f"The model may have confused it with {find_shown_name(other, evidence)}{alike}:",
        *(
            f"  {format_tool_name(name, evidence)}: "
            f"{format_line(tool.description, 120) or '(no description)'}"
            for name, tool in seen.items()
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
    shown = format_tool_name(name, evidence)
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
        otherwise = (
            f"Ask for data that only {shown} can know, or say in its description when it is to be "
            "used; a model that believes it knows the answer calls nothing."
        )
        return hint_without_calls(transcript, otherwise)
    failed = next((made for made in transcript.tool_calls if made.is_error), None)
    if failed is not None:
        return (
            f"The call to {failed.tool} failed before ({failed.outcome}), and the model may have "
            "stopped there: let its error say what to do next."
        )
    return (
        f"Say more clearly in the description of {shown} what it is for and when it is to be used."
    )


# ── The tool was called with other arguments ─────────────────────────────────────────────────


def _explain_other_arguments(
    call: JsonObject, made: list[ToolCall], evidence: Evidence
) -> Explanation:
    # The one that differs least was probably meant to be this call.
    closest = min(made, key=lambda other: measure_distance(call["args"], other.arguments))
    found = find_differences(call["args"], closest.arguments)
    lines = [
        f"Tool called with unexpected arguments: {format_call(closest)}",
        *format_differences(found),
    ]
    if closest.is_error:
        lines.append(f"The call ended so: {describe_outcome(closest)}")
    lines += list_several_calls(made, f"That is the closest of {len(made)} calls to it:")
    return lines, _hint_arguments(call["tool"], found, evidence)


def _hint_arguments(name: str, found: Sequence[ArgumentDifference], evidence: Evidence) -> str:
    properties = server_properties(name, evidence)
    # First, since no description helps where the tool has no such parameter.
    for part in found:
        if part.argument and properties and part.argument not in properties:
            has = format_line(", ".join(properties), 160)
            return (
                f"{name} has no parameter {part.argument!r} (it has {has}): correct the assertion, "
                "or the tool's schema."
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
    example = "give an example in the parameter's description."
    match _has_type(difference.expected, types), _has_type(difference.actual, types):
        case True, True:
            both = f"{format_value(difference.expected, 30)}, {format_value(difference.actual, 30)}"
            return (
                f"{declares}, so the model may send either: say in the description when to send "
                f"which, or accept both in the assertion: {{$one_of: [{both}]}}."
            )
        case False, True:
            return f"{declares}, which is what the model sent: correct the type in the assertion."
        case True, False:
            return f"{declares} and the model sent another type: {example}"
    return (
        f"{declares} and the model sent another type, but the assertion expects yet another: "
        f"correct the assertion, and {example}"
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


# ── No tool was called: a question back, no suitable tool, a limit, or memory ────────────────

# All but the limit is recognised by its English wording.
_ASKS = re.compile(
    r"\b(?:(?:could|can|would|will) you(?: please| kindly)?|please)"
    r" (?:tell|give|provide|share|specify|clarify|confirm|let me know)\b"
    r"|\b(?:i|we)(?:'ll| will| would|'d)? (?:still |also |first )?(?:need|require) "
    r"(?:to know|more|some|the following|your|you to|a few|the [\w -]{1,60} (?:to|before|in "
    r"order))\b"
    r"|\blet me know (?:which|what|where|when|who|the|your)\b"
    r"|\b(?:do|did) you mean\b"
    # A question at the very end counts, unless it only offers help.
    r"|\b(?:which|what|whose|where|when|who|how (?:many|much|long|often))\b"
    r"(?![^.?!]{0,160}\b(?:else|help|assist)\b)[^.?!]{1,160}\?\W*\Z"
)
_READ = 2_000  # characters of the answer, from its end
_NO_TOOL = re.compile(
    r"\b(?:could not|couldn't|cannot|can't|unable to|(?:do|did) not have|don't have|have no|there "
    r"(?:is|are) no)\b[^.?!]{0,60}\b(?:tools?|functions?)\b"
)

PARSER_IS_OFF = (
    "The endpoint's parser of tool calls seems to be off: for vLLM, start it with "
    "--enable-auto-tool-choice and the --tool-call-parser of the model; for llama.cpp, with "
    "--jinja; elsewhere, with the model's own template for tools."
)
"""What to do where calls arrive as text: said once for a run."""


def find_stated_limit(transcript: Transcript) -> str | None:
    """Return what the model says it cannot do at all, in its last reply (`Reply.beyond`)."""
    for message in reversed(transcript.messages):
        if isinstance(message, AssistantMessage):
            return message.reply.beyond
    return None


def explain_no_calls(transcript: Transcript) -> str:
    """Return the sentence for a conversation in which no tool was called."""
    if transcript.stop != "answer":
        return f"No tool was called; the conversation ended {describe_ending(transcript)}."
    # What is known comes before what the wording suggests.
    if (why := _known_reason(transcript)) is not None:
        return f"No tool was called: {why}."
    answer = _fold_answer(transcript)
    if _NO_TOOL.search(answer.folded):
        return "No tool was called: the model says that it has none for this."
    if asked := _ASKS.search(answer.folded):
        question = answer.get_passage(*asked.span()).context
        return f"No tool was called: the model asked back: “{question}”"
    return "No tool was called: the model answered from memory."


def _known_reason(transcript: Transcript) -> str | None:
    """Return the reason that harness knows, other than by the wording of the answer."""
    if held := transcript.held_back_tools:
        tools = " and ".join(held)
        return f"{tools} may change something, and this case neither expects nor orders that"
    if (tool := transcript.written_call) is not None:
        wrote = f"the model wrote a call of {tool} as text"
        return f"{wrote}, which the endpoint did not turn into a call"
    beyond = find_stated_limit(transcript)
    return None if beyond is None else f"it is beyond this model, which cannot {beyond}"


def hint_without_calls(transcript: Transcript, otherwise: str) -> str:
    """Return the hint if no tool was called; ``otherwise`` is for an answer from memory."""
    if transcript.written_call is not None:
        return "The endpoint's parser of tool calls seems to be off: the summary says what to do."
    answer = _fold_answer(transcript)
    if transcript.held_back_tools:
        return (
            "If the case is about this change, order it in the prompt or expect the call in a "
            "check. If harness may make it anywhere in the suite, name the tool under "
            "'allow_writes:'."
        )
    beyond = find_stated_limit(transcript)
    if beyond is not None:
        return (
            f"The model cannot {beyond}: this is its own limit, which no description changes. Use "
            "another model, with --model."
        )
    if transcript.stop == "answer" and _NO_TOOL.search(answer.folded):
        return "Say in the description of the tool what it is for, in the words that people use."
    if transcript.stop == "answer" and _ASKS.search(answer.folded):
        return (
            "Say in the prompt what the model asks for. If it is there, or another tool knows it, "
            "say in the description of that parameter what it takes and where its value comes from."
        )
    return otherwise


def _fold_answer(transcript: Transcript) -> FoldedText:
    # From the end, where a question stands.
    return fold_as_read(transcript.answer[-_READ:])
