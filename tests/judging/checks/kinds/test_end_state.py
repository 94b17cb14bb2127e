from __future__ import annotations

import json
from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.base.json_text import digest_json
from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import needs_fresh_copy, wanted_states
from harness.types import StateReading
from tests.judging.checks.scenes import fails, judge, passes, scene

ORDERS = {"resource": "db://orders"}
STATE = {"orders": [{"id": 7, "status": "cancelled"}], "total": 0}
CALLS = [{"tool": "cancel_order", "args": {"id": 7}}]


def reading(value: Any, source: dict[str, Any] = ORDERS, **more: Any) -> StateReading:
    return StateReading(source=source, value=value, digest=digest_json(value), **more)


def test_a_part_of_the_state_is_found_by_path_and_matched() -> None:
    after = scene(states=(reading(STATE),))
    passes("end_state", {**ORDERS, "path": "orders[0].status", "value": "cancelled"}, after)
    passes("end_state", {**ORDERS, "path": "total", "value": {"$lte": 0}}, after)
    fails(
        "end_state",
        {**ORDERS, "path": "orders[0].status", "value": "open"},
        after,
        'End state is not as expected: orders[0].status should be "open"',
        'resource db://orders → orders[0].status is "cancelled"',
    )


def test_a_state_that_may_be_anything_is_refused() -> None:
    for check in ({**ORDERS, "path": "$"}, {**ORDERS, "value": {"$any": True}}):
        with pytest.raises(InvalidValue, match="cannot fail"):
            VOCABULARY.parse("end_state", check)


def test_each_source_has_a_reading_of_its_own() -> None:
    tool = {"tool": "get_order", "args": {"id": 7}}
    after = scene(
        states=(reading(STATE), reading({"status": "open"}, tool), reading([1], {"query": "ids"}))
    )
    passes("end_state", {**tool, "path": "status", "value": "open"}, after)
    passes("end_state", {"query": "ids", "path": "$", "value": [1]}, after)
    assert (
        judge("end_state", {"tool": "get_order", "value": {"$type": "object"}}, after).verdict
        == "not_judged"
    )


def test_the_state_is_compared_with_that_of_the_reference_calls() -> None:
    theirs = reading(STATE, after=tuple(CALLS))
    check = {**ORDERS, "same_state_as": CALLS}
    passes("end_state", check, scene(states=(theirs, reading(STATE))))
    fails(
        "end_state",
        check,
        scene(states=(theirs, reading({**STATE, "total": 5}))),
        "End state differs from that of the reference calls.",
        "total",
    )


@pytest.mark.parametrize("extra", [{"new": 1}, {}])
def test_something_that_is_there_and_should_not_be_is_a_difference(extra: dict[str, int]) -> None:
    ours = scene(states=(reading(STATE, after=tuple(CALLS)), reading({**STATE, **extra})))
    check = {**ORDERS, "same_state_as": CALLS}
    if extra:
        fails(
            "end_state",
            check,
            ours,
            "End state differs",
            "There is something here that is not there.",
        )
    else:
        passes("end_state", check, ours)


def test_states_that_were_not_kept_are_told_apart_by_their_digests_and_match_nothing() -> None:
    big = [
        StateReading(source=ORDERS, after=after, digest=found, cut=True)
        for after, found in ((tuple(CALLS), "a"), (None, "b"))
    ]
    fails(
        "end_state",
        {**ORDERS, "same_state_as": CALLS},
        scene(states=tuple(big)),
        "End state",
        "too large to be kept",
    )
    assert (
        judge(
            "end_state", {**ORDERS, "value": {"$type": "object"}}, scene(states=tuple(big))
        ).verdict
        == "not_judged"
    )


@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_a_state_that_could_not_be_read_is_no_verdict_and_says_why(which: str) -> None:
    gone = {"value": None, "digest": None, "error": "the server is gone"}
    ours = StateReading(source=ORDERS, **(gone if which == "ours" else {"digest": "a"}))
    theirs = StateReading(
        source=ORDERS, after=tuple(CALLS), **(gone if which == "theirs" else {"digest": "a"})
    )
    result = judge("end_state", {**ORDERS, "same_state_as": CALLS}, scene(states=(ours, theirs)))
    assert result.verdict == "not_judged"
    assert "the server is gone" in result.explanation


def test_a_state_that_an_older_run_never_read_is_no_verdict() -> None:
    assert judge("end_state", {**ORDERS, "value": 1}, scene()).verdict == "not_judged"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"path": "a"}, "names no source"),
        ({**ORDERS, "tool": "a", "path": "a"}, "names resource and tool"),
        (ORDERS, "needs either something to match or calls"),
        ({**ORDERS, "value": 1, "same_state_as": []}, "needs either something to match or calls"),
        ({**ORDERS, "value": 1, "args": {}}, "args need a tool"),
        ({**ORDERS, "path": "a..b"}, "is wrong at character"),
    ],
)
def test_what_cannot_be_meant_is_refused(value: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValue, match=words):
        VOCABULARY.parse("end_state", value)


def test_what_is_to_be_read_is_known_before_the_run_and_asked_for_once() -> None:
    [(_, state)] = VOCABULARY.parse("end_state", {**ORDERS, "same_state_as": CALLS})
    [(_, group)] = VOCABULARY.parse(
        "any_of", [{"end_state": {**ORDERS, "value": 1}}, {"answer_contains": "x"}]
    )
    checks = (state, group)
    assert [(one.source, one.after is None) for one in wanted_states(checks)] == [
        (ORDERS, True),
        (ORDERS, False),
    ]
    assert needs_fresh_copy(checks)
    assert not needs_fresh_copy(checks[1:])


@pytest.mark.parametrize("values", [1, 3, 4, 6])
def test_of_many_values_at_a_path_the_first_are_told(values: int) -> None:
    rows = [{"n": 100 + n} for n in range(values)]
    result = fails(
        "end_state",
        {**ORDERS, "path": "[*].n", "value": 7},
        scene(states=(reading(rows),)),
        "End state is not as expected: [*].n should be 7",
    )
    told = "; ".join(str(row["n"]) for row in rows[:3])
    assert result.explanation.endswith(f"resource db://orders → [*].n is {told}")
    assert result.actual == [row["n"] for row in rows[:5]]


@pytest.mark.parametrize(
    ("ours", "theirs"), [([1], [2]), ({"a": 1}, [2]), ([1], {"a": 2}), ("x", None)]
)
def test_states_that_are_no_objects_are_shown_one_below_the_other(ours: Any, theirs: Any) -> None:
    result = fails(
        "end_state",
        {**ORDERS, "same_state_as": CALLS},
        scene(states=(reading(theirs, after=tuple(CALLS)), reading(ours))),
        "End state differs from that of the reference calls.",
    )
    shown = [json.dumps(value) for value in (ours, theirs)]
    assert result.explanation.splitlines()[1:] == [f"Here: {shown[0]}", f"There: {shown[1]}"]


@pytest.mark.parametrize("cut", [(True, False), (False, True), (True, True)])
def test_a_state_that_was_not_kept_is_not_compared_field_by_field(cut: tuple[bool, bool]) -> None:
    ours, theirs = (
        StateReading(source=ORDERS, after=after, value={} if not lost else None, digest=d, cut=lost)
        for after, d, lost in ((None, "a", cut[0]), (tuple(CALLS), "b", cut[1]))
    )
    fails(
        "end_state",
        {**ORDERS, "same_state_as": CALLS},
        scene(states=(ours, theirs)),
        "End state differs from that of the reference calls.\n"
        "What is too large to be kept can be compared by its digest only.",
    )


def test_which_of_two_states_could_not_be_read_is_told() -> None:
    good = {"value": STATE, "digest": digest_json(STATE)}
    gone = {"error": "the server is gone"}
    for ours, theirs, which in (
        (gone, good, "the state ("),
        (good, gone, "the state after the reference calls ("),
        (gone, gone, "the state ("),
    ):
        readings = (
            StateReading(source=ORDERS, **ours),
            StateReading(source=ORDERS, after=tuple(CALLS), **theirs),
        )
        result = judge("end_state", {**ORDERS, "same_state_as": CALLS}, scene(states=readings))
        assert result.explanation.startswith(which)
