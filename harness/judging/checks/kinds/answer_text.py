"""Checks on the text of the answer: what it contains, does not contain, equals or matches.

Texts are compared folded (see `harness.judging.matching.texts`), and searched as they are written
and as a reader sees them; so do regular expressions.
"""

from __future__ import annotations

from typing import Any

from harness.base import InvalidValue, search_pattern
from harness.judging.checks.claims import EitherClaim, TextClaim
from harness.judging.checks.explaining.missing_text import explain_missing
from harness.judging.checks.explaining.transcript_lines import format_call, quote_answer
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_list_reader,
    make_single_reader,
    single_or_list_schema,
)
from harness.judging.checks.kinds.result_text import find_in_result
from harness.judging.checks.parsing import (
    TEXT,
    either_form,
    read_either_form,
    read_text,
    read_texts,
)
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import (
    Passage,
    check_pattern,
    clip_text,
    contains_text,
    equals_text,
    find_passage,
    format_line,
    is_in_every_text,
    plain_readings,
)
from harness.types import JsonObject, JsonPath

_ANSWER_KEPT = 2_000


def clip_answer(evidence: Evidence) -> str:
    """Return the answer, cut to the limit of reports."""
    return clip_text(evidence.transcript.answer, _ANSWER_KEPT)


def _read_text(value: Any, path: JsonPath) -> JsonObject:
    return read_either_form(value, path, "text", read_text)


_TEXT_ITEM = either_form("text", TEXT)


# ── answer_contains ──────────────────────────────────────────────────────────────────────────


def _judge_contains(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted = params["text"]
    # Not `find_passage`, which takes longer: where the text stands is not told.
    there = contains_text(wanted, evidence.transcript.answer)
    return CheckFinding(
        label=format_value(wanted, 60),
        expected={"contains": wanted},
        actual=clip_answer(evidence),
        why=NOTHING_WRONG if there else explain_missing(wanted, evidence),
    )


ANSWER_CONTAINS = FunctionKind(
    name="answer_contains",
    needs_model=True,
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
    return CheckFinding(
        label=format_value(forbidden, 60),
        expected={"not_contains": forbidden},
        actual=clip_answer(evidence),
        why=NOTHING_WRONG if found is None else _explain_forbidden(forbidden, found, evidence),
        facts={"line_crossed": found is not None},
    )


def _explain_forbidden(forbidden: str, found: Passage, evidence: Evidence) -> Explanation:
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
    return [*lines, "No tool returned it: the model wrote it by itself."], (
        "If the text is harmless in this sentence, forbid a longer one; if it is invented, ask for "
        "sourced data."
    )


ANSWER_NOT_CONTAINS = FunctionKind(
    name="answer_not_contains",
    needs_model=True,
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


def _judge_any(params: JsonObject, evidence: Evidence) -> CheckFinding:
    options = params["texts"]
    why = NOTHING_WRONG
    if not any(contains_text(wanted, evidence.transcript.answer) for wanted in options):
        reasons, hint = explain_missing(options[0], evidence)
        told = clip_text(", ".join(format_value(option, 40) for option in options), 300)
        # Without the first line of the reasons, which names one of the texts alone.
        why = [f"Answer does not contain expected text: any of {told}", *reasons[1:]], hint
    return CheckFinding(
        label=clip_text(", ".join(format_value(option, 20) for option in options), 80),
        expected={"contains_any": options},
        actual=clip_answer(evidence),
        why=why,
    )


ANSWER_CONTAINS_ANY = FunctionKind(
    name="answer_contains_any",
    needs_model=True,
    schema=either_form("texts", {"type": "array", "items": TEXT, "minItems": 1}),
    read=make_single_reader(lambda value: read_either_form(value, (), "texts", read_texts)),
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
    why, first = NOTHING_WRONG, f"Answer is not the expected text: {format_value(wanted, 200)}"
    if equals_text(wanted, answer):
        pass
    elif not contains_text(wanted, answer):
        (_, *reasons), hint = explain_missing(wanted, evidence)
        why = [first, *reasons], hint
    else:
        among = f"The text stands in the answer, among other words: “{format_line(answer, 240)}”"
        why = [first, among], "Ask in the prompt for nothing but the value, or use answer_contains."
    return CheckFinding(
        label=format_value(wanted, 60),
        expected={"equals": wanted},
        actual=clip_answer(evidence),
        why=why,
    )


ANSWER_EQUALS = FunctionKind(
    name="answer_equals",
    needs_model=True,
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


def _read_pattern(value: Any, path: JsonPath) -> str:
    pattern = read_text(value, path, "regular expression")
    check_pattern(pattern, path)
    if is_in_every_text(pattern):
        raise InvalidValue("every answer matches this, so it cannot fail", path=path)
    return pattern


def _judge_matches(params: JsonObject, evidence: Evidence) -> CheckFinding:
    pattern, answer = params["pattern"], evidence.transcript.answer
    why = NOTHING_WRONG
    if not any(search_pattern(pattern, reading) for reading in plain_readings(answer)):
        first = f"Answer does not match expected pattern: {format_line(pattern)}"
        begins = quote_answer(evidence.transcript, "It begins")
        why = [first, begins], _hint_pattern(pattern, answer)
    return CheckFinding(
        label=format_line(pattern, 60),
        expected={"matches": pattern},
        actual=clip_answer(evidence),
        why=why,
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
    needs_model=True,
    schema=single_or_list_schema(either_form("pattern", TEXT)),
    read=make_list_reader(
        lambda value, path: read_either_form(value, path, "pattern", _read_pattern)
    ),
    judge=_judge_matches,
    doc=CheckDoc(
        section="Answers",
        asks="the regular expression is found in the answer, as it is written or as it is read",
        fails=("Answer does not match expected pattern: …",),
        example="answer_matches: ['(?i)total:\\s+\\$\\d+']  # long: {pattern: …}",
    ),
)
