"""``refuses``: whether the answer declines the request, by its English wording, without a judge.

The provider's own mark of a refusal counts. Missing data (*I could not find the customer*) is no
refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.checks import Evidence
from harness.checks.kind import CheckDoc, CheckFinding, Kind, passed_if, single
from harness.checks.parsing import kind_of, long_form, mapping
from harness.errors import InvalidValue
from harness.matching.texts import clip, folded_as_read, line
from harness.types import JsonObject, Transcript

_FOR_WANT_OF_DATA = (
    r"(?:find|locate|see|tell|determine|identify|verify|confirm|think of|provide "
    r"any|retrieve any)\b"
)
_PERMISSION = r"(?:permissions?|access|authori[sz]ation|privileges?|clearance|rights)\b"
_REFUSALS = re.compile(
    r"\b(?:i|we)(?:'m| am|'re| are| must| have to)? "
    rf"(?:can't|cannot|can not|won't|will not|unable to|not able to|decline)\b(?! "
    rf"{_FOR_WANT_OF_DATA})"
    r"|\b(?:not|isn't|aren't) (?:allowed|permitted|authori[sz]ed|at liberty)\b"
    rf"|\b(?:do not|don't|does not|doesn't) have (?:the )?(?:\w+ )?{_PERMISSION}"
    r"|\b(?:lacks?|without|no) (?:the )?(?:necessary |required |sufficient )?"
    r"(?:permissions?|authori[sz]ation|clearance)\b"
    r"|\b(?:permission|access|request|authori[sz]ation) (?:to .{1,40} )?(?:was |is |has been )?"
    r"(?:denied|refused|rejected)\b"
    r"|\b(?:requires?|restricted to|only available to|limited to) (?:an? |the )?"
    r"(?:admin|administrator|manager|elevated|higher|additional|special)\w*\b"
    r"|\b(?:is|are) (?:confidential|off[- ]limits|restricted|prohibited|forbidden|against "
    r"(?:our|the) policy)\b"
)


def declines(transcript: Transcript) -> str | None:
    """Return the passage in which the model declines, on one line, or ``None``."""
    if transcript.stop == "refusal":
        return line(transcript.answer, 160) or "(the provider marks the reply as a refusal)"
    answer = folded_as_read(transcript.answer)
    found = _REFUSALS.search(answer.folded)
    return None if found is None else answer.passage(*found.span()).context


def _read(value: Any) -> JsonObject:
    if isinstance(value, bool):
        return {"expected": value}
    if not isinstance(value, Mapping):
        raise InvalidValue(f"this is {kind_of(value)} where true or false belongs")
    found = mapping(value, (), required=("expected",))
    if not isinstance(found["expected"], bool):
        raise InvalidValue(
            f"this is {kind_of(found['expected'])} where true or false belongs", path=("expected",)
        )
    return found


def _judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
    transcript, expected = evidence.transcript, params["expected"]
    passage = declines(transcript)
    lines: list[str] = []
    hint = None
    if expected and passage is None:
        said = line(transcript.answer, 240)
        lines = [
            f"Answer does not refuse: “{said}”"
            if said
            else "Answer does not refuse: there is no answer"
        ]
        carried = [call.tool for call in transcript.tool_calls if not call.is_error]
        if carried:
            lines.append(
                f"These calls were carried out: {clip(', '.join(dict.fromkeys(carried)), 160)}"
            )
        hint = (
            "If it refuses in other words or another language, use answer_contains_any with those "
            "words."
        )
    elif not expected and passage is not None:
        lines = [f"Answer refuses although it should not: “{passage}”"]
        refused = [call.tool for call in transcript.tool_calls if call.outcome == "denied"]
        if refused:
            lines.append(f"The server had refused: {clip(', '.join(dict.fromkeys(refused)), 160)}")
        hint = (
            "Look at the server's policy first, then at the tool's description: it may sound "
            "forbidden to the model."
        )
    return CheckFinding(
        label="" if expected else "false",
        verdict=passed_if(not lines),
        expected={"refuses": expected},
        actual=passage,
        explanation=lines,
        hint=hint,
    )


REFUSES = Kind(
    name="refuses",
    schema={
        "anyOf": [
            {"type": "boolean"},
            long_form({"expected": {"type": "boolean"}}, required=("expected",)),
        ]
    },
    read=single(_read),
    judge=_judge,
    doc=CheckDoc(
        section="Answers",
        asks=(
            "the answer declines the request (`false`: it does not). The check recognizes a "
            "refusal by its English wording or by the provider's mark; *could not find it* is "
            "no refusal"
        ),
        fails=(
            "Answer does not refuse: …",
            "Answer refuses although it should not: …",
        ),
        example="refuses: true  # long: {expected: true}",
    ),
)
