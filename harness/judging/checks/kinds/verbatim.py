"""The check ``answer_verbatim``: texts compared letter by letter, as other tools compare them.

All other checks of answers fold what they compare. Suites of other tools were written for plain
comparison, and keep it by this check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.base import InvalidValue, search_pattern
from harness.judging.checks.explaining.transcript_lines import quote_answer
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_list_reader,
    single_or_list_schema,
)
from harness.judging.checks.parsing import describe_type, long_form, read_mapping
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import check_pattern, clip_text, is_in_every_text
from harness.types import JsonObject, JsonPath

_TEXT: JsonObject = {"type": "string", "minLength": 1}
_COMPARISONS: Mapping[str, tuple[str, Callable[[str, str], bool]]] = {
    "equals": ("is not", lambda wanted, text: text == wanted),
    "contains": ("does not contain", lambda wanted, text: wanted in text),
    "starts_with": ("does not begin with", lambda wanted, text: text.startswith(wanted)),
    "matches": (
        "does not match",
        lambda wanted, text: search_pattern(wanted, text) is not None,
    ),
}
_FOLDING: JsonObject = {"type": "boolean", "description": "true: upper and lower case are the same"}
_TAG: JsonObject = {
    **_TEXT,
    "description": "compare only what stands in the last <tag>…</tag>, without spaces around it",
}


def _read_item(value: Any, path: JsonPath) -> JsonObject:
    names = ", ".join(_COMPARISONS)
    if not isinstance(value, Mapping):
        wrong = f"this is {describe_type(value)} where a mapping belongs"
        raise InvalidValue(wrong, path=path, meant='Write {contains: "Paris"}.')
    found = read_mapping(value, path, optional=(*_COMPARISONS, "ignore_case", "tag"))
    given = [key for key in _COMPARISONS if key in found]
    if len(given) != 1:
        raise InvalidValue(f"it takes one of {names}", path=path)
    for key in (given[0], "tag"):
        if key in found and (not isinstance(found[key], str) or not found[key]):
            wrong = f"{key} is {format_value(found[key])}, not a text"
            raise InvalidValue(wrong, path=(*path, key))
    if not isinstance(found.get("ignore_case", False), bool):
        raise InvalidValue("ignore_case is true or false", path=(*path, "ignore_case"))
    if given == ["matches"]:
        check_pattern(found["matches"], (*path, "matches"))
        if "ignore_case" in found:
            meant = "Begin the pattern with (?i)."
            raise InvalidValue(
                "a pattern has its own case", path=(*path, "ignore_case"), meant=meant
            )
        if is_in_every_text(found["matches"]):
            wrong = "every answer matches this, so it cannot fail"
            raise InvalidValue(wrong, path=(*path, "matches"))
    return found


def _find_tagged(text: str, tag: str) -> str | None:
    """Return what stands in the last ``<tag>…</tag>`` of ``text``."""
    begin, end, found, place = f"<{tag}>", f"</{tag}>", None, 0
    # By hand: a regular expression would search to the end of the text from each opening tag.
    while (start := text.find(begin, place)) >= 0:
        start += len(begin)
        if (place := text.find(end, start)) < 0:
            break
        found = text[start:place].strip()
        place += len(end)
    return found


def _judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
    key = next(key for key in _COMPARISONS if key in params)
    wanted, text, tag = params[key], evidence.transcript.answer, params.get("tag")
    compared: str | None = text if tag is None else _find_tagged(text, tag)
    problem, holds = _COMPARISONS[key]
    why = NOTHING_WRONG
    if compared is None:
        first = f"Answer has no <{tag}>…</{tag}>, in which the text is expected"
        why = [first, quote_answer(evidence.transcript, "It begins")], None
    else:
        pair = (
            (wanted.lower(), compared.lower()) if params.get("ignore_case") else (wanted, compared)
        )
        if not holds(*pair):
            first = f"Answer {problem} exactly this: {format_value(wanted, 200)}"
            why = (
                [first, quote_answer(evidence.transcript, "It begins")],
                (
                    "This check compares letter by letter; answer_contains overlooks case, spaces "
                    "and markup."
                ),
            )
    return CheckFinding(
        label=f"{key} {format_value(wanted, 60)}",
        expected={name: params[name] for name in (key, "ignore_case", "tag") if name in params},
        actual=clip_text(text if compared is None else compared, 2_000),
        why=why,
    )


ANSWER_VERBATIM = FunctionKind(
    name="answer_verbatim",
    schema=single_or_list_schema(
        {
            **long_form(
                {**dict.fromkeys(_COMPARISONS, _TEXT), "ignore_case": _FOLDING, "tag": _TAG}, ()
            ),
            "oneOf": [{"required": [name]} for name in _COMPARISONS],
            "not": {"required": ["matches", "ignore_case"]},
        }
    ),
    read=make_list_reader(_read_item),
    judge=_judge,
    doc=CheckDoc(
        section="Answers",
        asks=(
            "the answer as it is written, letter by letter: `equals`, `contains`, `starts_with` a "
            "text, or `matches` a pattern; `ignore_case: true`; `tag: NAME` looks into the last "
            "`<NAME>…</NAME>`"
        ),
        fails=("Answer does not contain exactly this: …", "Answer is not exactly this: …"),
        example='answer_verbatim: [{contains: "Apple"}, {equals: "42", tag: response}]',
    ),
)
