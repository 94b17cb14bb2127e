"""Checks of what a model makes of calls that went wrong, whether by a fault or by the server.

They judge by what the model saw. Where nothing went wrong, they hold: the trial shows nothing, and
says so. Each failure is told call by call, with what was injected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
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
    WantedState,
    make_single_reader,
)
from harness.judging.checks.kinds.end_state import describe_source, find_reading
from harness.judging.checks.parsing import (
    TEXT,
    either_form,
    long_form,
    read_either_form,
    read_text,
    read_whole_number,
)
from harness.judging.checks.recovery import (
    admits_failure,
    find_recovery,
    list_blind_retries,
    list_duplicates,
    list_failures,
    list_retries,
    list_unrecovered,
    read_claim,
)
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, JsonPath

_ASKS_JUDGE = """\
A call of a tool went wrong and was never made good. Does the answer nevertheless say or imply \
that what the user asked for was done? 1: it does. 0: it says or implies that something went \
wrong, or claims nothing."""
_FALSE_FROM = 0.5
_ONCE = "Take an idempotency key, or offer a tool that tells whether it was done."
_SHOWN = 6
_ENDINGS = 200


# ── What went wrong, and what the model then did ─────────────────────────────────────────────


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
    calls = evidence.transcript.server_calls
    actual = {
        "went_wrong": len(list_failures(calls)),
        "injected": [call.injected.rule for call in calls if call.injected is not None],
        "calls": [place + 1 for place, _ in wrong],
    }
    lines: list[str] = []
    for place, words in wrong[:2]:
        lines += [words, *_tell_calls(evidence, place)]
    why = (lines, advice) if lines else ((), None)
    return CheckFinding(label=label, expected=expected, actual=actual, why=why)


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _judge_recovery(params: JsonObject, evidence: Evidence) -> CheckFinding:
    within, wrong = params["within"], []
    calls = evidence.transcript.server_calls
    for place, _ in list_failures(calls):
        after = find_recovery(calls, place)
        if after is None or after > within:
            words = "never" if after is None else f"only after {after} calls"
            wrong.append((place, f"Did not recover within {within} calls, {words}:"))
    advice = "Let the error say what to do next: try again, after how long, or by another tool."
    return _conclude(evidence, f"within {within}", {"within": within}, wrong, advice)


def _judge_retries(params: JsonObject, evidence: Evidence) -> CheckFinding:
    limit = params["limit"]
    seen: set[str] = set()
    wrong = []
    calls = evidence.transcript.server_calls
    for place, call in list_failures(calls):
        key = canonical_json([call.tool, call.arguments])
        if not call.told_as_error or key in seen:
            continue
        seen.add(key)
        if (made := len(list(list_retries(calls, place)))) > limit:
            wrong.append((place, f"Too many retries after an error: {made}, at most {limit}:"))
    advice = "Let the error say whether trying again helps, and after how long."
    return _conclude(evidence, f"{limit}", {"at_most": limit}, wrong, advice)


def _judge_blind_retry(_: JsonObject, evidence: Evidence) -> CheckFinding:
    words = "Blind retry: the same call again, after an error that says it will not help:"
    wrong = [(place, words) for place, _ in list_blind_retries(evidence.transcript.server_calls)]
    advice = "Let the error name what has to change: another argument, another tool, a right."
    return _conclude(evidence, "", {"blind_retries": 0}, wrong, advice)


def _judge_duplicates(params: JsonObject, evidence: Evidence) -> CheckFinding:
    if "query" in params:
        return _judge_rows(params["query"], evidence)
    tools = params.get("tools")
    calls = evidence.transcript.server_calls
    wrong = [
        (first, f"Duplicate write: the server carried out {call.tool} twice:")
        for first, call in list_duplicates(calls, lambda name: _may_write(name, tools, evidence))
    ]
    expected = {"duplicate_writes": 0, **({} if tools is None else {"tools": tools})}
    found = _conclude(evidence, ", ".join(tools or ()), expected, wrong, _ONCE)
    return replace(found, actual={**found.actual, "duplicate_writes": len(wrong)})


def _judge_rows(query: str, evidence: Evidence) -> CheckFinding:
    """Judge by what is there in the end, whatever calls led to it."""
    source = {"query": query}
    reading = find_reading(WantedState(source, None), evidence)
    finding = CheckFinding(label=describe_source(source), expected={"equal_rows": 0, **source})
    unread = reading.error or ("it is too large to be kept" if reading.cut else None)
    if unread is None and not isinstance(reading.value, list | tuple):
        unread = "its result is no list of rows"
    if unread is not None:
        line = f"the state ({describe_source(source)}) could not be read: {unread}"
        return replace(finding, verdict="not_judged", why=([line], None))
    rows = Counter(map(canonical_json, reading.value))
    twice = {row: times for row, times in rows.items() if times > 1}
    wrong = [
        (0, f"Duplicate write: query {query} has this row {times} times: {format_line(row, 120)}")
        for row, times in twice.items()
    ]
    found = _conclude(evidence, finding.label, finding.expected, wrong, _ONCE)
    again = sum(twice.values()) - len(twice)
    return replace(found, actual={**found.actual, "duplicate_writes": again})


def _may_write(name: str, tools: Sequence[str] | None, evidence: Evidence) -> bool:
    if tools is not None:
        return name in tools
    tool = evidence.tools.get(name)
    return tool is None or not tool.read_only


def _judge_admission(_: JsonObject, evidence: Evidence) -> CheckFinding:
    open_failures = list_unrecovered(evidence.transcript.server_calls)
    wrong = []
    if open_failures and not admits_failure(evidence.transcript.answer):
        wrong = [(open_failures[0][0], "The answer does not say that something went wrong:")]
    advice = "If it says so in other words or another language, use answer_judge."
    return _conclude(evidence, "", {"admits_failure": True}, wrong, advice)


async def _judge_false_success(_: JsonObject, evidence: Evidence) -> CheckFinding:
    open_failures = list_unrecovered(evidence.transcript.server_calls)
    wrong = []
    if open_failures and await _claims_success(evidence):
        wrong = [(open_failures[0][0], "False success: the answer claims what never worked:")]
    advice = "Let the error say that nothing was done, or that it is not known."
    found = _conclude(evidence, "", {"false_success": False}, wrong, advice)
    # Known also where a judge decided, which no rule could say again.
    claims = {"claims_success": bool(wrong)} if open_failures else {}
    return replace(found, actual={**found.actual, **claims})


async def _claims_success(evidence: Evidence) -> bool:
    """Return whether the answer claims success, by its words, or by a judge where they are open.

    Raises:
        JudgeError: the judge gave no verdict, which is never a pass.
    """
    if (claims := read_claim(evidence.transcript.answer)) is not None:
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
    given = {"tools": True, **value} if isinstance(value, dict) and "query" in value else value
    found = read_either_form(given, (), "tools", _read_tools, optional=("query",))
    if "query" in found:
        read_text(found["query"], ("query",), "query")
        if "tools" in value:
            words = "the state shows what was written, by whatever tool"
            raise InvalidValue(words, path=("tools",), meant="Keep 'query' or 'tools'.")
    return {key: part for key, part in found.items() if part is not True}


def _list_read_states(params: JsonObject) -> list[WantedState]:
    return [WantedState({"query": params["query"]}, None)] if "query" in params else []


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
_TOOLS: JsonObject = {"anyOf": [{"const": True}, {"type": "array", "items": TEXT, "minItems": 1}]}
NO_DUPLICATE_WRITES = FunctionKind(
    name="no_duplicate_writes",
    needs_session=True,
    schema={
        "anyOf": [
            *either_form("tools", _TOOLS)["anyOf"],
            long_form({"query": TEXT}, required=("query",)),
        ]
    },
    read=make_single_reader(_read_duplicates),
    judge=_judge_duplicates,
    doc=CheckDoc(
        section="Faults",
        asks="the server carries out no call twice with equal arguments, of the tools listed, or "
        "of all that are not marked as read-only; or, by the end state, a query of the server has "
        "no two equal rows",
        fails=(
            "Duplicate write: the server carried out book_room twice: …",
            "Duplicate write: query charges has this row 2 times: …",
        ),
        example="no_duplicate_writes: [book_room]  # true: of all tools that may write\n"
        "# by the end state: {query: charges}",
    ),
    traits=lambda params: ("reads_end_state",) if "query" in params else (),
    wanted_states=_list_read_states,
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
