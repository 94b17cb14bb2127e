"""Checks on what the server asked its user: ``must_elicit``, ``consent`` and others.

A consent gate is a question that a tool asks before it changes something. ``consent`` judges it by
what the trial's user answered: accepted, the change is made; otherwise nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import InvalidValue, find_secret_fields
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.transcript_lines import describe_call
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    WantedState,
    make_list_reader,
    make_single_reader,
    one_call,
    policy_facts,
    single_or_list_schema,
)
from harness.judging.checks.kinds.end_state import (
    STATE_SOURCE,
    describe_source,
    find_reading,
    read_source,
)
from harness.judging.checks.parsing import (
    TEXT,
    describe_type,
    either_form,
    long_form,
    read_arguments,
    read_either_form,
    read_mapping,
    read_text,
)
from harness.judging.matching.calls import find_matching_calls
from harness.judging.matching.texts import clip_text
from harness.types import CheckTrait, Elicitation, JsonObject, JsonPath, StateReading, ToolCall

_WORDS = ("tool", "message", "field", "mode", "answer")
_ANSWERS = ("accept", "decline", "cancel")
_MODES = ("form", "url")
_EFFECTS = ("done", "none")
_FILTER: JsonObject = {
    "tool": TEXT,
    "message": TEXT,
    "field": TEXT,
    "mode": {"enum": [*_MODES]},
    "answer": {"enum": [*_ANSWERS]},
}
_TRUE_OR_FILTER: JsonObject = {"anyOf": [{"const": True}, long_form(_FILTER, required=())]}
_UNASKED_HINT = (
    "Without 'elicit:' in the test or the suite, the client says that it cannot be asked: add it, "
    "if the server is to ask."
)


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def _read_filter(value: Any, path: JsonPath) -> JsonObject:
    """Return which questions are meant: all of them (``true``), or those with certain facts."""
    if value is True:
        return {}
    if not isinstance(value, Mapping):
        meant = "Leave it out if it is not asked for." if value is False else None
        words = f"this is {describe_type(value)} where `true` or {{message: …}} belongs"
        raise InvalidValue(words, path=path, meant=meant)
    found = read_mapping(value, path, optional=_WORDS)
    for key in ("tool", "message", "field"):
        if key in found:
            read_text(found[key], (*path, key), key)
    for key, known in (("mode", _MODES), ("answer", _ANSWERS)):
        if key in found:
            _require_one_of(found[key], known, (*path, key))
    return found


def _require_one_of(value: Any, known: Sequence[str], path: JsonPath) -> None:
    if value not in known:
        raise InvalidValue(f"{path[-1]} is one of {', '.join(known)}", path=path)


def _read_words(value: Any, path: JsonPath) -> JsonObject:
    found = read_either_form(
        value, path, "text", lambda text, at: read_text(text, at, "text"), optional=("tool",)
    )
    if "tool" in found:
        read_text(found["tool"], (*path, "tool"), "tool")
    return found


def _read_consent(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"tool": read_text(value, path, "tool name"), "args": {}}
    optional = ("args", "names", "state", "effect")
    found = read_mapping(value, path, required=("tool",), optional=optional)
    read_text(found["tool"], (*path, "tool"), "tool name")
    found["args"] = read_arguments(found.get("args", {}), (*path, "args"))
    if "names" in found:
        names = found["names"] if isinstance(found["names"], list) else [found["names"]]
        found["names"] = [
            read_text(name, (*path, "names", index), "text") for index, name in enumerate(names)
        ]
    if "state" in found:
        inside = (*path, "state")
        source = read_mapping(
            found["state"], inside, optional=("resource", "tool", "query", "args")
        )
        found["state"] = read_source(source, inside)
    if "effect" in found:
        _require_one_of(found["effect"], _EFFECTS, (*path, "effect"))
    return found


# ── Judging single questions ─────────────────────────────────────────────────────────────────


def _find_asked(params: JsonObject, evidence: Evidence) -> list[Elicitation]:
    """Return the questions that ``params`` describe."""
    return [
        asked
        for asked in evidence.transcript.elicitations
        if params.get("tool") in (None, asked.tool)
        and params.get("message", "").casefold() in asked.message.casefold()
        and ("field" not in params or params["field"] in asked.fields)
        and params.get("mode") in (None, asked.mode)
        and params.get("answer") in (None, asked.action)
    ]


def _describe_filter(params: JsonObject) -> str:
    return ", ".join(f"{key} {params[key]}" for key in _WORDS if key in params)


def _list_questions(asked: Sequence[Elicitation]) -> list[str]:
    return [str(each) for each in asked[:5]] or ["The server asked nothing."]


def _report(asked: Sequence[Elicitation]) -> list[JsonObject]:
    return [
        {"tool": each.tool, "message": each.message, "answer": each.action} for each in asked[:10]
    ]


def _hint(evidence: Evidence) -> str | None:
    return _UNASKED_HINT if evidence.case.caller.elicit is None else None


def _judge_elicited(params: JsonObject, evidence: Evidence) -> CheckFinding:
    found, every = _find_asked(params, evidence), evidence.transcript.elicitations
    finding = CheckFinding(
        label=_describe_filter(params), expected=dict(params), actual=_report(found or every)
    )
    if any(asked.flaw is None for asked in found):
        return finding
    lines = [f"No such question was asked: {_describe_filter(params) or 'any'}"]
    return replace(finding, why=([*lines, *_list_questions(every)], _hint(evidence)))


def _judge_not_elicited(params: JsonObject, evidence: Evidence) -> CheckFinding:
    found = _find_asked(params, evidence)
    finding = CheckFinding(
        label=_describe_filter(params), expected={"none": dict(params)}, actual=_report(found)
    )
    if not found:
        return finding
    lines = ["A question was asked that must not be:", *_list_questions(found)]
    return replace(finding, why=(lines, None))


def _judge_words(params: JsonObject, evidence: Evidence) -> CheckFinding:
    asked = _find_asked({"tool": params.get("tool")}, evidence)
    finding = CheckFinding(
        label=repr(clip_text(params["text"], 60)),
        expected=params["text"],
        actual=[each.message for each in asked[:10]],
    )
    if any(params["text"].casefold() in each.message.casefold() for each in asked):
        return finding
    lines = [f"No question says {params['text']!r}", *_list_questions(asked)]
    return replace(finding, why=(lines, _hint(evidence)))


# ── Judging a gate ───────────────────────────────────────────────────────────────────────────


def _judge_consent(params: JsonObject, evidence: Evidence) -> CheckFinding:
    made = find_matching_calls(params, evidence.transcript)
    finding = CheckFinding(
        label=params["tool"],
        expected={
            key: params[key]
            for key in ("tool", "args", "names", "state", "effect")
            if key in params
        },
    )
    if not made:
        return replace(finding, why=explain_missing_call(params, evidence))
    ids = {call.request_id for call in made}
    asked = [
        each
        for each in evidence.transcript.elicitations
        if not each.request_id or (each.request_id in ids and each.tool == params["tool"])
    ]
    finding = replace(finding, actual=_report(asked))
    readings = [find_reading(wanted, evidence) for wanted in _list_wanted(params)]
    for reading in readings:
        if reading.error is not None:
            line = (
                f"the state ({describe_source(reading.source)}) could not be read: {reading.error}"
            )
            return replace(finding, verdict="not_judged", why=([line], None))
    wrong = [
        *_find_unasked(params, made, asked, evidence),
        *_find_bad_words(params, asked),
        *_find_wrong_effect(params, made, asked, readings),
    ]
    crossed = any(crosses for _, crosses in wrong)
    if not wrong:
        return replace(finding, facts=policy_facts(made, crossed=False))
    lines = [f"Consent gate is broken: {wrong[0][0]}", *(words for words, _ in wrong[1:])]
    lines += [f"Called: {describe_call(made[-1])}", *_list_questions(asked)]
    return replace(finding, why=(lines, _HINT), facts=policy_facts(made, crossed=crossed))


_HINT = (
    "Have the tool ask before it changes anything, say in the question what will happen to what, "
    "and change nothing unless the answer is accept."
)
_Wrong = Iterator[tuple[str, bool]]
"""What is wrong in words, and whether something was done that nobody agreed to."""


def _find_unasked(
    params: JsonObject, made: list[ToolCall], asked: list[Elicitation], evidence: Evidence
) -> _Wrong:
    done = any(call.outcome == "ok" for call in made)
    if evidence.case.caller.elicit is None:
        if done:
            yield "a client that cannot be asked was not refused", True
    elif not any(each.request_id for each in asked) and (done or params.get("effect") != "none"):
        yield f"{params['tool']} asked nothing", done


def _find_bad_words(params: JsonObject, asked: list[Elicitation]) -> _Wrong:
    for each in asked:
        if each.flaw is not None:
            yield each.flaw, False
        for name in find_secret_fields(each.schema):
            yield f"the form asks for a secret: {name!r}", False
    said = " ".join(each.message for each in asked).casefold()
    for name in _list_names(params) if asked else ():
        if name.casefold() not in said:
            yield f"the question does not say {name!r}", False


def _list_names(params: JsonObject) -> list[str]:
    """Return what the question must name: what the check says, or the values in its ``args``."""
    given = params.get("names")
    plain = [value for value in params["args"].values() if isinstance(value, str | int | float)]
    return [
        str(value) for value in (plain if given is None else given) if value not in (True, False)
    ]


def _find_wrong_effect(
    params: JsonObject,
    made: list[ToolCall],
    asked: list[Elicitation],
    readings: list[StateReading],
) -> _Wrong:
    changed = readings[0].digest != readings[1].digest if readings else None
    answers = [each.action for each in asked if each.request_id and each.flaw is None]
    agreed = bool(answers) and all(action == "accept" for action in answers)
    wanted = params.get("effect") or ("done" if agreed else "none")
    after = f"after {' and '.join(dict.fromkeys(answers))}" if answers else "without any answer"
    if wanted == "none" and changed:
        yield f"the state is not as it was before, {after}", True
    elif wanted == "none" and changed is None and agreed and made[-1].outcome == "ok":
        yield f"{params['tool']} was carried out for a user who may not approve it", True
    elif wanted == "done" and changed is False:
        yield f"the state is as it was before, {after}", False
    if wanted == "done" and made[-1].outcome != "ok":
        yield f"{params['tool']} did not succeed, {after}", False


def _list_wanted(params: JsonObject) -> Iterator[WantedState]:
    if "state" in params:
        yield WantedState(params["state"], None)
        yield WantedState(params["state"], ())


def _list_traits(params: JsonObject) -> Sequence[CheckTrait]:
    return ("says_tool_asks",) if "tool" in params else ()


MUST_ELICIT = FunctionKind(
    name="must_elicit",
    needs_session=True,
    schema=single_or_list_schema(_TRUE_OR_FILTER),
    read=make_list_reader(_read_filter),
    judge=_judge_elicited,
    traits=_list_traits,
    doc=CheckDoc(
        section="Consent",
        asks=(
            "the server asked the user (`elicitation/create`, or `input_required` of the newest "
            "revision): anything, or during a call of this tool, with this text, this field, in "
            "this mode, or with this answer ([conversations.md](conversations.md#questions-of-the-"
            "server))"
        ),
        fails=("No such question was asked: …",),
        example="must_elicit: {tool: delete_customer, message: CUST_00042, field: confirm}",
    ),
)
MUST_NOT_ELICIT = FunctionKind(
    name="must_not_elicit",
    needs_session=True,
    schema=_TRUE_OR_FILTER,
    read=make_single_reader(lambda value: _read_filter(value, ())),
    judge=_judge_not_elicited,
    doc=CheckDoc(
        section="Consent",
        asks="the server asked the user nothing, or nothing of this kind",
        fails=("A question was asked that must not be: …",),
        example="must_not_elicit: {tool: get_customer_details}",
    ),
)
ELICITATION_CONTAINS = FunctionKind(
    name="elicitation_contains",
    needs_session=True,
    schema=single_or_list_schema(either_form("text", TEXT, tool=TEXT)),
    read=make_list_reader(_read_words),
    judge=_judge_words,
    traits=_list_traits,
    doc=CheckDoc(
        section="Consent",
        asks="one of the server's questions has this text, in capitals or not",
        fails=("No question says …",),
        example="elicitation_contains: [CUST_00042, permanently]",
    ),
)
CONSENT = FunctionKind(
    name="consent",
    needs_session=True,
    schema=either_form(
        "tool",
        TEXT,
        args={"type": "object"},
        names={"anyOf": [TEXT, {"type": "array", "items": TEXT}]},
        state=STATE_SOURCE,
        effect={"enum": [*_EFFECTS]},
    ),
    read=make_single_reader(lambda value: _read_consent(value, ())),
    judge=_judge_consent,
    order="effect",
    wanted_calls=one_call,
    wanted_states=_list_wanted,
    claims=lambda params: [CallsClaim(tool=params["tool"], args=params["args"], least=1)],
    traits=lambda params: (
        *_list_traits(params),
        "no_success",
        *(("reads_end_state",) if "state" in params else ()),
    ),
    doc=CheckDoc(
        section="Consent",
        asks=(
            "the tool was called, asked the user first, named in its question what will happen "
            "(`names`, or the values in `args`), asked for no secret, and did it only if the user "
            "accepted: after a decline or a cancel, and for a client that cannot be asked, `state` "
            "is as before. `effect: none`: it must not happen although this user accepts"
        ),
        fails=("Consent gate is broken: …",),
        example=(
            "consent: {tool: delete_customer, args: {customer_id: CUST_00042}, "
            "state: {tool: list_customers}}"
        ),
    ),
)
