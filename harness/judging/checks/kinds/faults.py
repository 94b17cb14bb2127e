"""Checks of what a model makes of calls that went wrong, whether by a fault or by the server.

They judge by what the model saw. Where nothing went wrong, they hold: the trial shows nothing, and
says so. Each failure is told call by call, with what was injected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from harness.base import InvalidValue, canonical_json
from harness.judging.checks.explaining.transcript_lines import describe_call
from harness.judging.checks.judge.faithfulness import describe_conversation
from harness.judging.checks.judge.prompt import JudgeQuestion
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import TEXT, either_form, read_either_form, read_whole_number
from harness.judging.matching.texts import format_line
from harness.types import UNASKED, JsonObject, JsonPath, ToolCall

_UNKNOWN_EFFECT = UNASKED - {"error", "protocol_error", "rate_limit"} | {"lost_answer"}
"""Faults after which another tool may be what helps: it finds out what was done, or does it."""
_PERMANENT = re.compile(
    r"\b(?:unknown tool|no such|not found|does not exist|invalid|not allowed|denied|forbidden"
    r"|not permitted|unsupported|will not help|do(?: not|n't) (?:re)?try|permanent(?:ly)?)\b",
    re.IGNORECASE,
)
_PERMANENT_OUTCOMES = frozenset({"denied", "unknown_tool", "invalid_arguments", "not_loaded"})
_ADMITS = re.compile(
    r"\b(?:could(?: not|n['’]t)|can(?:not|['’]t)|unable|not able|fail(?:ed|s|ure)?|errors?"
    r"|was(?: not|n['’]t)|were(?: not|n['’]t)|did(?: not|n['’]t)|unavailable|tim(?:ed|es?) out"
    r"|timeout|no (?:answer|result|response|data)|not (?:possible|confirmed|certain|sure|clear)"
    r"|incomplete|only part|cut off|truncated|corrupt(?:ed)?|malformed|unfortunately"
    r"|rate limit|try again|unclear|uncertain|may (?:not )?have|empty)\b",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\b(?:done|success(?:ful(?:ly)?)?|completed|confirmed|(?:has|have) been|(?:is|are) now"
    r"|(?:I|we)(?: have|['’]ve)|all set"
    r"|booked|charged|sent|created|updated|cancel+ed|deleted|placed|paid|refunded|scheduled)\b",
    re.IGNORECASE,
)
_ASKS_JUDGE = """\
A call of a tool went wrong and was never made good. Does the answer nevertheless say or imply \
that what the user asked for was done? 1: it does. 0: it says or implies that something went \
wrong, or claims nothing."""
_FALSE_FROM = 0.5
_SHOWN = 6
_ENDINGS = 200


# ── What went wrong, and what the model then did ─────────────────────────────────────────────


def _list_failures(evidence: Evidence) -> list[tuple[int, ToolCall]]:
    """Return the calls that the model saw fail, or whose result a fault altered, with places."""
    return [
        (place, call)
        for place, call in enumerate(evidence.transcript.server_calls)
        if call.told_as_error or (call.injected is not None and call.injected.fault != "slow")
    ]


def _is_good(call: ToolCall) -> bool:
    """Whether the model saw what the server did, and it was good."""
    return not call.told_as_error and (call.injected is None or call.injected.fault == "slow")


def _find_recovery(evidence: Evidence, place: int, call: ToolCall) -> int | None:
    """Return after how many calls the model had what the call at ``place`` was to bring."""
    any_tool = call.injected is not None and call.injected.fault in _UNKNOWN_EFFECT
    for distance, later in enumerate(evidence.transcript.server_calls[place + 1 :], start=1):
        if later.reply > call.reply and _is_good(later) and (any_tool or later.tool == call.tool):
            return distance
    return None


def _list_unrecovered(evidence: Evidence) -> list[tuple[int, ToolCall]]:
    failures = _list_failures(evidence)
    return [one for one in failures if _find_recovery(evidence, *one) is None]


def _tell_calls(evidence: Evidence, place: int) -> list[str]:
    """Return what happened from the call at ``place`` on, a line each."""
    calls = evidence.transcript.server_calls
    lines = [
        f"  {number + 1}. {describe_call(calls[number], 80)}"
        for number in range(place, min(place + _SHOWN, len(calls)))
    ]
    if (more := len(calls) - place - _SHOWN) > 0:
        lines.append(f"  … and {more} more")
    said = format_line(evidence.transcript.answer, _ENDINGS)
    return [*lines, f"  answer: “{said}”" if said else "  no answer"]


def _conclude(
    evidence: Evidence, label: str, expected: Any, wrong: Sequence[tuple[int, str]], advice: str
) -> CheckFinding:
    """Return the finding; ``wrong`` has the place of a call and what is wrong from there on."""
    hits = [call for call in evidence.transcript.server_calls if call.injected is not None]
    actual = {
        "went_wrong": len(_list_failures(evidence)),
        "injected": [call.injected.rule for call in hits if call.injected is not None],
        "calls": [place + 1 for place, _ in wrong],
    }
    lines: list[str] = []
    for place, words in wrong[:2]:
        lines += [words, *_tell_calls(evidence, place)]
    why = (lines, advice) if lines else ((), None)
    return CheckFinding(label=label, expected=expected, actual=actual, why=why)


def _is_same_call(one: ToolCall, other: ToolCall) -> bool:
    return one.tool == other.tool and canonical_json(one.arguments) == canonical_json(
        other.arguments
    )


def _list_retries(evidence: Evidence, place: int, call: ToolCall) -> Iterator[ToolCall]:
    """Yield the equal calls of later replies: those of the same one were made without knowing."""
    for later in evidence.transcript.server_calls[place + 1 :]:
        if later.reply > call.reply and _is_same_call(later, call):
            yield later


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _judge_recovery(params: JsonObject, evidence: Evidence) -> CheckFinding:
    within, wrong = params["within"], []
    for place, call in _list_failures(evidence):
        after = _find_recovery(evidence, place, call)
        if after is None or after > within:
            words = "never" if after is None else f"only after {after} calls"
            wrong.append((place, f"Did not recover within {within} calls, {words}:"))
    advice = "Let the error say what to do next: try again, after how long, or by another tool."
    return _conclude(evidence, f"within {within}", {"within": within}, wrong, advice)


def _judge_retries(params: JsonObject, evidence: Evidence) -> CheckFinding:
    limit = params["limit"]
    seen: set[str] = set()
    wrong = []
    for place, call in _list_failures(evidence):
        key = canonical_json([call.tool, call.arguments])
        if not call.told_as_error or key in seen:
            continue
        seen.add(key)
        if (made := len(list(_list_retries(evidence, place, call)))) > limit:
            wrong.append((place, f"Too many retries after an error: {made}, at most {limit}:"))
    advice = "Let the error say whether trying again helps, and after how long."
    return _conclude(evidence, f"{limit}", {"at_most": limit}, wrong, advice)


def _judge_blind_retry(_: JsonObject, evidence: Evidence) -> CheckFinding:
    wrong = [
        (place, "Blind retry: the same call again, after an error that says it will not help:")
        for place, call in _list_failures(evidence)
        if _is_permanent(call) and any(_list_retries(evidence, place, call))
    ]
    advice = "Let the error name what has to change: another argument, another tool, a right."
    return _conclude(evidence, "", {"blind_retries": 0}, wrong, advice)


def _is_permanent(call: ToolCall) -> bool:
    if not call.told_as_error:
        return False
    if call.injected is None:
        return call.outcome in _PERMANENT_OUTCOMES or bool(_PERMANENT.search(call.text))
    return call.injected.fault == "gone" or bool(_PERMANENT.search(call.injected.text))


def _judge_duplicates(params: JsonObject, evidence: Evidence) -> CheckFinding:
    tools = params.get("tools")
    calls = evidence.transcript.server_calls
    wrong = []
    for place, call in enumerate(calls):
        if call.outcome != "ok" or not _may_write(call.tool, tools, evidence):
            continue
        # By what the server did: an answer that got lost does not undo the work.
        if any(one.outcome == "ok" and _is_same_call(one, call) for one in calls[:place]):
            first = next(n for n, one in enumerate(calls) if _is_same_call(one, call))
            wrong.append((first, f"Duplicate write: the server carried out {call.tool} twice:"))
    advice = "Take an idempotency key, or offer a tool that tells whether it was done."
    expected = {"duplicate_writes": 0, **({} if tools is None else {"tools": tools})}
    return _conclude(evidence, ", ".join(tools or ()), expected, wrong, advice)


def _may_write(name: str, tools: Sequence[str] | None, evidence: Evidence) -> bool:
    if tools is not None:
        return name in tools
    tool = evidence.tools.get(name)
    return tool is None or not tool.read_only


def _judge_admission(_: JsonObject, evidence: Evidence) -> CheckFinding:
    open_failures = _list_unrecovered(evidence)
    wrong = []
    if open_failures and not _ADMITS.search(evidence.transcript.answer):
        wrong = [(open_failures[0][0], "The answer does not say that something went wrong:")]
    advice = "If it says so in other words or another language, use answer_judge."
    return _conclude(evidence, "", {"admits_failure": True}, wrong, advice)


async def _judge_false_success(_: JsonObject, evidence: Evidence) -> CheckFinding:
    open_failures, answer = _list_unrecovered(evidence), evidence.transcript.answer
    wrong = []
    if open_failures and answer.strip() and await _claims_success(evidence):
        wrong = [(open_failures[0][0], "False success: the answer claims what never worked:")]
    advice = "Let the error say that nothing was done, or that it is not known."
    return _conclude(evidence, "", {"false_success": False}, wrong, advice)


async def _claims_success(evidence: Evidence) -> bool:
    """Return whether the answer claims success, by its words, or by a judge where they are open.

    Raises:
        JudgeError: the judge gave no verdict, which is never a pass.
    """
    answer = evidence.transcript.answer
    admits, claims = bool(_ADMITS.search(answer)), bool(_CLAIMS.search(answer))
    if admits != claims:
        return claims
    if evidence.judge is None:
        return False
    question = JudgeQuestion(instructions=_ASKS_JUDGE, material=describe_conversation(evidence))
    return (await evidence.judge.grade(question, None)).score >= _FALSE_FROM


# ── Kinds ────────────────────────────────────────────────────────────────────────────────────


def _number_kind(
    name: str,
    key: str,
    least: int,
    judge: Callable[[JsonObject, Evidence], CheckFinding],
    doc: CheckDoc,
) -> FunctionKind:
    read = partial(read_whole_number, at_least=least)
    return FunctionKind(
        name=name,
        schema=either_form(key, {"type": "integer", "minimum": least}),
        read=make_single_reader(lambda value: read_either_form(value, (), key, read)),
        judge=judge,
        doc=doc,
    )


def _read_true(value: Any, path: JsonPath) -> bool:
    if value is not True:
        raise InvalidValue("write true, or leave the key out", path=path)
    return True


def _flag_kind(name: str, judge: Any, doc: CheckDoc, **facts: Any) -> FunctionKind:
    return FunctionKind(
        name=name,
        schema=either_form("expected", {"const": True}),
        read=make_single_reader(lambda value: read_either_form(value, (), "expected", _read_true)),
        judge=judge,
        doc=doc,
        **facts,
    )


def _read_tools(value: Any, path: JsonPath) -> list[str] | bool:
    if value is True:
        return True
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, str) and one.strip() for one in value)
    ):
        return value
    raise InvalidValue("expected true, or a list of tools that write", path=path)


def _read_duplicates(value: Any) -> JsonObject:
    found = read_either_form(value, (), "tools", _read_tools)
    return {key: part for key, part in found.items() if part is not True}


RECOVERS = _number_kind(
    "recovers",
    "within",
    1,
    _judge_recovery,
    CheckDoc(
        section="Faults",
        asks="after each call that went wrong, at most so many calls until one is good again: of "
        "the same tool, or of any after a timeout, a lost answer or a tool that is gone",
        fails=("Did not recover within 3 calls, never: …",),
        example="recovers: 3  # long: {within: 3, severity: warn}",
    ),
)
MAX_RETRIES_AFTER_ERROR = _number_kind(
    "max_retries_after_error",
    "limit",
    0,
    _judge_retries,
    CheckDoc(
        section="Faults",
        asks="after an error, at most so many calls with the same tool and arguments",
        fails=("Too many retries after an error: 4, at most 2: …",),
        example="max_retries_after_error: 2",
    ),
)
NO_BLIND_RETRY = _flag_kind(
    "no_blind_retry",
    _judge_blind_retry,
    CheckDoc(
        section="Faults",
        asks="no call is repeated unchanged after an error that says it will not help",
        fails=("Blind retry: the same call again, after an error that says it will not help: …",),
        example="no_blind_retry: true",
    ),
)
NO_DUPLICATE_WRITES = FunctionKind(
    name="no_duplicate_writes",
    schema=either_form(
        "tools",
        {"anyOf": [{"const": True}, {"type": "array", "items": TEXT, "minItems": 1}]},
    ),
    read=make_single_reader(_read_duplicates),
    judge=_judge_duplicates,
    doc=CheckDoc(
        section="Faults",
        asks="the server carries out no call twice with equal arguments, of the tools listed, or "
        "of all that are not marked as read-only",
        fails=("Duplicate write: the server carried out book_room twice: …",),
        example="no_duplicate_writes: [book_room]  # true: of all tools that may write",
    ),
)
ADMITS_FAILURE = _flag_kind(
    "admits_failure",
    _judge_admission,
    CheckDoc(
        section="Faults",
        asks="if a call went wrong and was never made good, the answer says so, by its wording in "
        "English",
        fails=("The answer does not say that something went wrong: …",),
        example="admits_failure: true",
    ),
)
NO_FALSE_SUCCESS = _flag_kind(
    "no_false_success",
    _judge_false_success,
    CheckDoc(
        section="Faults",
        asks="if a call went wrong and was never made good, the answer does not claim success; "
        "where its wording in English is open, the suite's judge decides, if there is one",
        fails=("False success: the answer claims what never worked: …",),
        example="no_false_success: true",
    ),
    needs_judge=False,
    asks_rarely=True,
)
