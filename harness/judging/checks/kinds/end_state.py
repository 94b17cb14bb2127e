"""``end_state``: the server's state, read when the conversation is over.

The runner reads it (`harness.runner.end_state`), since checks have no session; the
readings are in the transcript. A state is compared with matchers, or with the state of a fresh copy
after reference calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.base import InvalidValue, canonical_json
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    WantedState,
    listed_calls,
    make_list_reader,
    single_or_list_schema,
)
from harness.judging.checks.parsing import (
    CALL_CHECK,
    TEXT,
    long_form,
    read_arguments,
    read_calls,
    read_mapping,
    read_text,
)
from harness.judging.matching.differences import find_differences, format_differences
from harness.judging.matching.json_values import (
    check_path,
    format_value,
    select_values,
    shorten_value,
)
from harness.judging.matching.matchers import (
    check_matcher,
    describe_pattern,
    explain_unlike,
    has_match_at,
)
from harness.types import JsonObject, JsonPath, StateReading

_SOURCES = ("resource", "tool", "query")
_MEANT = "Write {resource: URI, path: …, value: …}, or same_state_as: with a list of calls."


def _list_wanted(params: JsonObject) -> Iterator[WantedState]:
    yield WantedState(params["source"], None)
    if "same_state_as" in params:
        yield WantedState(params["source"], tuple(params["same_state_as"]))


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def _read_params(value: Any, path: JsonPath) -> JsonObject:
    given = read_mapping(
        value, path, optional=(*_SOURCES, "args", "path", "value", "same_state_as")
    )
    found = {key: given[key] for key in ("severity", "allow_absent") if key in given} | {
        "source": read_source(given, path)
    }
    if ("same_state_as" in given) == ("value" in given or "path" in given):
        words = "a state needs either something to match or calls to compare with"
        raise InvalidValue(words, path=path, meant=_MEANT)
    if "same_state_as" in given:
        inside = (*path, "same_state_as")
        # Without any call, the state must be that of a fresh copy.
        return found | {"same_state_as": read_calls(given["same_state_as"], inside, at_least=0)}
    found |= {"path": given.get("path", "$"), "value": given.get("value", {"$any": True})}
    check_path(found["path"], (*path, "path"))
    check_matcher(found["value"], (*path, "value"))
    if found["path"] == "$" and found["value"] == {"$any": True}:
        raise InvalidValue("every state is this, so it cannot fail", path=path, meant=_MEANT)
    return found


def read_source(given: JsonObject, path: JsonPath) -> JsonObject:
    """Return where a state is read, named by one key of ``given``.

    Raises:
        InvalidValue: none or several are named, or one is invalid.
    """
    named = [key for key in _SOURCES if key in given]
    if len(named) != 1:
        words = "names no source" if not named else f"names {' and '.join(named)}"
        raise InvalidValue(
            f"the state {words}", path=path, meant=f"It is read from one of {', '.join(_SOURCES)}."
        )
    [key] = named
    read_text(given[key], (*path, key), key)
    if "args" in given and key != "tool":
        raise InvalidValue("args need a tool to belong to", path=(*path, "args"))
    if key != "tool":
        return {key: given[key]}
    return {"tool": given["tool"], "args": read_arguments(given.get("args", {}), (*path, "args"))}


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _judge_state(params: JsonObject, evidence: Evidence) -> CheckFinding:
    ours, *theirs = (find_reading(wanted, evidence) for wanted in _list_wanted(params))
    return _judge_comparison(params, ours, *theirs) if theirs else _judge_match(params, ours)


def find_reading(wanted: WantedState, evidence: Evidence) -> StateReading:
    """Return the reading of a state; one that was not made says so."""
    # As JSON: what is read from a log has lists where this has tuples.
    same = canonical_json(wanted)
    for reading in evidence.transcript.states:
        if canonical_json(WantedState(reading.source, reading.after)) == same:
            return reading
    error = "it was not read when this conversation was held"
    return StateReading(source=wanted.source, after=wanted.after, error=error)


def _judge_match(params: JsonObject, reading: StateReading) -> CheckFinding:
    path, pattern = params["path"], params["value"]
    source = describe_source(reading.source)
    label = " ".join((source, *([] if path == "$" else [path]), describe_pattern(pattern, 40)))
    finding = CheckFinding(
        label=label, expected={"source": reading.source, "path": path, "value": pattern}
    )
    # A matcher needs the whole state, unlike the comparison of digests below.
    if reading.error is not None or reading.cut:
        return _report_unread(finding, reading)
    found = select_values(path, reading.value)
    finding = replace(finding, actual=[shorten_value(value) for value in found[:5]])
    if has_match_at(path, pattern, reading.value):
        return finding
    place = "the state" if path == "$" else path
    told = "; ".join(format_value(value, 120) for value in found[:3]) or "nothing"
    lines = [
        f"End state is not as expected: {place} should be {describe_pattern(pattern)}",
        f"{source} → {place} is {told}",
        *(why for value in found[:3] if (why := explain_unlike(pattern, value))),
    ]
    return replace(finding, why=(lines, "See which calls changed it, or which was never made."))


def _judge_comparison(params: JsonObject, ours: StateReading, theirs: StateReading) -> CheckFinding:
    reference = params["same_state_as"]
    calls = f"{len(reference)} reference call{'' if len(reference) == 1 else 's'}"
    finding = CheckFinding(
        label=f"{describe_source(ours.source)} same as after {calls}",
        expected={"source": ours.source, "same_state_as": reference, "digest": theirs.digest},
    )
    for reading in (ours, theirs):
        if reading.error is not None:
            return _report_unread(finding, reading)
    finding = replace(finding, actual={"digest": ours.digest})
    # By digest, since a large state is kept only in part.
    if ours.digest == theirs.digest:
        return finding
    first = "End state differs from that of the reference calls."
    hint = "Compare the calls that changed something with the reference calls."
    return replace(finding, why=([first, *_list_differences(ours, theirs)], hint))


def _list_differences(ours: StateReading, theirs: StateReading) -> list[str]:
    if ours.cut or theirs.cut:
        return ["What is too large to be kept can be compared by its digest only."]
    if not (isinstance(ours.value, dict) and isinstance(theirs.value, dict)):
        return [
            f"Here: {format_value(ours.value, 200)}",
            f"There: {format_value(theirs.value, 200)}",
        ]
    # Partial at the top: a further key of ours is no difference to it.
    found = find_differences(theirs.value, ours.value)
    return format_differences(found) if found else ["There is something here that is not there."]


def _report_unread(finding: CheckFinding, reading: StateReading) -> CheckFinding:
    which = "the state" if reading.after is None else "the state after the reference calls"
    why = reading.error or "it is too large to be kept: read a part of it"
    line = f"{which} ({describe_source(reading.source)}) could not be read: {why}"
    return replace(finding, verdict="not_judged", why=([line], None))


def describe_source(source: JsonObject) -> str:
    """Return a source in a few words: ``resource db://orders``."""
    key = next(key for key in _SOURCES if key in source)
    return f"{key} {source[key]}"


STATE_SOURCE: JsonObject = {
    "type": "object",
    "properties": {**dict.fromkeys(_SOURCES, TEXT), "args": {"type": "object"}},
    "oneOf": [{"required": [key]} for key in _SOURCES],
    "additionalProperties": False,
}
"""Schema of a mapping that says where a state is read."""

END_STATE = FunctionKind(
    name="end_state",
    schema=single_or_list_schema(
        {
            **long_form(
                {
                    **dict.fromkeys(_SOURCES, TEXT),
                    "args": {"type": "object"},
                    "path": {"type": "string"},
                    "value": {},
                    "same_state_as": {"type": "array", "items": CALL_CHECK},
                },
                (),
            ),
            "allOf": [
                {"oneOf": [{"required": [key]} for key in _SOURCES]},
                {
                    "oneOf": [
                        {"anyOf": [{"required": ["path"]}, {"required": ["value"]}]},
                        {"required": ["same_state_as"]},
                    ]
                },
                {"anyOf": [{"required": ["tool"]}, {"not": {"required": ["args"]}}]},
            ],
        }
    ),
    read=make_list_reader(_read_params),
    judge=_judge_state,
    order="effect",
    traits=lambda _params: ("reads_end_state",),
    wanted_calls=lambda params: listed_calls(params, "same_state_as"),
    wanted_states=_list_wanted,
    doc=CheckDoc(
        section="Results",
        asks=(
            "when the conversation is over, the server's state is this, or the same as after these "
            "calls ([conversations.md](conversations.md#the-servers-state-after-a-conversation))"
        ),
        fails=(
            "End state is not as expected: …",
            "End state differs from that of the reference calls.",
        ),
        example=(
            "end_state:\n"
            "  - {tool: get_order, args: {id: 7}, path: status, value: cancelled}\n"
            '  - {resource: "db://orders", same_state_as: [{tool: cancel_order, args: '
            "{id: 7}}]}"
        ),
    ),
)
