"""Checks on the text of the answer: what it contains, does not contain, equals or matches.

Texts are compared folded (see `harness.judging.matching.texts`), and searched as they are written
and as a reader sees them; so do regular expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.base import InvalidValue, search_pattern
from harness.judging.checks.claims import EitherClaim, TextClaim
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.missing_text import explain_missing
from harness.judging.checks.explaining.transcript_lines import format_call, no_answer
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    FunctionKind,
    make_list_reader,
    make_single_reader,
    passed_if,
    single_or_list_schema,
)
from harness.judging.checks.kinds.result_text import find_in_result
from harness.judging.checks.parsing import TEXT, long_form, read_mapping, read_text, read_texts
from harness.judging.matching.json_values import format_value
from harness.judging.matching.patterns import check_pattern, is_in_every_text
from harness.judging.matching.texts import (
    Passage,
    clip_text,
    contains_text,
    equals_text,
    find_passage,
    format_line,
    plain_readings,
)
from harness.types import JsonObject, JsonPath

_ANSWER_KEPT = 2_000


def clip_answer(evidence: Evidence) -> str:
    """Return the answer, cut to the limit of reports."""
    return clip_text(evidence.transcript.answer, _ANSWER_KEPT)


def _read_text(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"text": read_text(value, path)}
    found = read_mapping(value, path, required=("text",))
    read_text(found["text"], (*path, "text"))
    return found


_TEXT_ITEM: JsonObject = {"anyOf": [TEXT, long_form({"text": TEXT}, required=("text",))]}


# ── answer_contains ──────────────────────────────────────────────────────────────────────────


def _judge_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted = params["text"]
    # Not `find_passage`, which takes longer: where the text stands is not told.
    there = contains_text(wanted, evidence.transcript.answer)
    lines, hint = ([], None) if there else explain_missing(wanted, evidence)
    return CheckFinding(
        label=format_value(wanted, 60),
        verdict=passed_if(there),
        expected={"contains": wanted},
        actual=clip_answer(evidence),
        explanation=lines,
        hint=hint,
    )


ANSWER_CONTAINS = FunctionKind(
    name="answer_contains",
    schema=single_or_list_schema(_TEXT_ITEM),
    read=make_list_reader(_read_text),
    judge=_judge_contains,
    claims=lambda params: [TextClaim(has=params["text"], enough=True)],
    doc=CheckDoc(
        section="Answers",
        asks="the answer contains each of these texts",
        fails=("Answer does not contain expected text: …",),
        example='answer_contains: ["customer satisfaction", {text: "98%", severity: warn}]',
    ),
)


# ── answer_not_contains ──────────────────────────────────────────────────────────────────────


def _judge_not_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    forbidden = params["text"]
    found = find_passage(forbidden, evidence.transcript.answer)
    lines, hint = ([], None) if found is None else _explain_forbidden(forbidden, found, evidence)
    return CheckFinding(
        label=format_value(forbidden, 60),
        verdict=passed_if(found is None),
        expected={"not_contains": forbidden},
        actual=clip_answer(evidence),
        explanation=lines,
        hint=hint,
        facts={"line_crossed": found is not None},
    )


def _explain_forbidden(forbidden: str, found: Passage, evidence: Evidence) -> tuple[list[str], str]:
    lines = [
        f"Answer contains forbidden text: {format_value(forbidden)}",
        f"It stands here: “{found.context}”",
    ]
    # Whose line was crossed depends on where the text came from: server, prompt or model.
    sources = [
        (call, there)
        for call in evidence.transcript.tool_calls
        if (there := find_in_result(forbidden, call))
    ]
    lines += [
        f"It came from {format_call(call, 80)}, which returned: “{there.context}”"
        for call, there in sources[:2]
    ]
    if sources:
        lines.append("Lines crossed: what the server allowed, and what the user saw.")
        return lines, (
            "The server gave this text to the model. If this user must not see it, the server's "
            "policy has to mask or leave it out; if the answer merely should not mention it, say "
            "so in the prompt or the description."
        )
    lines.append("Line crossed: what the user saw; the server did not give it.")
    # Nobody gave it away: an answer may repeat the question.
    if contains_text(forbidden, evidence.case.prompt):
        lines.append(
            "No tool returned it; the prompt itself contains it, so the answer may merely repeat "
            "the question."
        )
        return lines, "Forbid a text that only a wrong answer holds, or reword the prompt."
    lines.append("No tool returned it: the model wrote it by itself.")
    return (
        lines,
        (
            "If the text is harmless in this sentence, forbid a longer one; if it is invented, ask "
            "for sourced data."
        ),
    )


ANSWER_NOT_CONTAINS = FunctionKind(
    name="answer_not_contains",
    schema=single_or_list_schema(_TEXT_ITEM),
    read=make_list_reader(_read_text),
    judge=_judge_not_contains,
    claims=lambda params: [TextClaim(lacks=params["text"], enough=True)],
    doc=CheckDoc(
        section="Answers",
        asks="the answer contains none of these texts",
        fails=("Answer contains forbidden text: …",),
        example='answer_not_contains: ["error"]',
    ),
)


# ── answer_contains_any ──────────────────────────────────────────────────────────────────────


def _read_any(value: Any) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"texts": read_texts(value, ())}
    found = read_mapping(value, (), required=("texts",))
    return found | {"texts": read_texts(found["texts"], ("texts",))}


def _judge_any(params: JsonObject, evidence: Evidence) -> CheckFinding:
    options = params["texts"]
    there = any(contains_text(wanted, evidence.transcript.answer) for wanted in options)
    lines: list[str] = []
    hint = None
    if not there:
        reasons, hint = explain_missing(options[0], evidence)
        told = clip_text(", ".join(format_value(option, 40) for option in options), 300)
        # Without the first line of the reasons, which names one of the texts alone.
        lines = [f"Answer does not contain expected text: any of {told}", *reasons[1:]]
    return CheckFinding(
        label=clip_text(", ".join(format_value(option, 20) for option in options), 80),
        verdict=passed_if(there),
        expected={"contains_any": options},
        actual=clip_answer(evidence),
        explanation=lines,
        hint=hint,
    )


_TEXTS: JsonObject = {"type": "array", "items": TEXT, "minItems": 1}

ANSWER_CONTAINS_ANY = FunctionKind(
    name="answer_contains_any",
    schema={"anyOf": [_TEXTS, long_form({"texts": _TEXTS}, required=("texts",))]},
    read=make_single_reader(_read_any),
    judge=_judge_any,
    claims=lambda params: [
        EitherClaim(options=[TextClaim(has=text, enough=True) for text in params["texts"]])
    ],
    doc=CheckDoc(
        section="Answers",
        asks="the answer contains at least one of these texts",
        fails=("Answer does not contain expected text: any of …",),
        example='answer_contains_any: ["not found", "no such customer"]  # long: {texts: […]}',
    ),
)


# ── answer_equals ────────────────────────────────────────────────────────────────────────────


def _judge_equals(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, answer = params["text"], evidence.transcript.answer
    same = equals_text(wanted, answer)
    lines: list[str] = []
    hint = None
    if not same:
        lines = [f"Answer is not the expected text: {format_value(wanted, 200)}"]
        if contains_text(wanted, answer):
            lines.append(
                f"The text stands in the answer, among other words: “{format_line(answer, 240)}”"
            )
            hint = "Ask in the prompt for nothing but the value, or use answer_contains."
        else:
            reasons, hint = explain_missing(wanted, evidence)
            lines += reasons[1:]
    return CheckFinding(
        label=format_value(wanted, 60),
        verdict=passed_if(same),
        expected={"equals": wanted},
        actual=clip_answer(evidence),
        explanation=lines,
        hint=hint,
    )


ANSWER_EQUALS = FunctionKind(
    name="answer_equals",
    schema=_TEXT_ITEM,
    read=make_single_reader(lambda value: _read_text(value, ())),
    judge=_judge_equals,
    # Not `enough`: an answer that is not this text may contain it all the same.
    claims=lambda params: [TextClaim(has=params["text"], whole=True)],
    doc=CheckDoc(
        section="Answers",
        asks="the answer is this text, without any other words",
        fails=("Answer is not the expected text: …",),
        example='answer_equals: "Paris"  # long: {text: Paris}',
    ),
)


# ── answer_matches ───────────────────────────────────────────────────────────────────────────


def _read_pattern(value: Any, path: JsonPath) -> JsonObject:
    inside = path
    if isinstance(value, Mapping):
        value, inside = read_mapping(value, path, required=("pattern",)), (*path, "pattern")
    found = value if isinstance(value, Mapping) else {"pattern": value}
    check_pattern(read_text(found["pattern"], inside, "regular expression"), inside)
    if is_in_every_text(found["pattern"]):
        raise InvalidValue("every answer matches this, so it cannot fail", path=inside)
    return dict(found)


def _judge_matches(params: JsonObject, evidence: Evidence) -> CheckFinding:
    pattern, answer = params["pattern"], evidence.transcript.answer
    there = any(search_pattern(pattern, reading) is not None for reading in plain_readings(answer))
    lines: list[str] = []
    hint = None
    if not there:
        told = (
            f"It begins: “{format_line(answer, 240)}”"
            if answer.strip()
            else no_answer(evidence.transcript)
        )
        lines, hint = (
            [f"Answer does not match expected pattern: {format_line(pattern)}", told],
            _hint_pattern(pattern, answer),
        )
    return CheckFinding(
        label=format_line(pattern, 60),
        verdict=passed_if(there),
        expected={"matches": pattern},
        actual=clip_answer(evidence),
        explanation=lines,
        hint=hint,
    )


def _hint_pattern(pattern: str, answer: str) -> str:
    try:
        loose = "(?is)" + pattern
        check_pattern(loose)
    except InvalidValue:
        return "Ask in the prompt for the form that the answer should have."
    if search_pattern(loose, answer) is not None:
        return (
            "It matches without regard to case and with `.` across lines: begin the pattern with "
            "(?is)."
        )
    return "Ask in the prompt for the form that the answer should have, or relax the pattern."


ANSWER_MATCHES = FunctionKind(
    name="answer_matches",
    schema=single_or_list_schema(
        {"anyOf": [TEXT, long_form({"pattern": TEXT}, required=("pattern",))]}
    ),
    read=make_list_reader(_read_pattern),
    judge=_judge_matches,
    doc=CheckDoc(
        section="Answers",
        asks="the regular expression is found in the answer, as it is written or as it is read",
        fails=("Answer does not match expected pattern: …",),
        example="answer_matches: ['(?i)total:\\s+\\$\\d+']  # long: {pattern: …}",
    ),
)
