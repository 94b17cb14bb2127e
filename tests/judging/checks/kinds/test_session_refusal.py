"""``must_be_refused``: whether the server kept a caller out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import checks_with
from harness.types import (
    Caller,
    Check,
    Credential,
    Outcome,
)
from tests.judging.checks.scenes import call, fails, judge, passes, scene


def let_in(credential: Credential, *calls: object) -> object:
    found = scene(*calls)  # type: ignore[arg-type]
    return replace(found, case=replace(found.case, caller=Caller(credential=credential)))


@pytest.mark.parametrize("status", [401, 403])
def test_a_caller_that_was_kept_out_is_what_it_asks_for(status: int) -> None:
    passes("must_be_refused", True, scene(stop="not_admitted", refused_status=status))


@pytest.mark.parametrize(
    ("credential", "words"),
    [
        ("expired", "an expired token"),
        ("wrong_audience", "a token for another service"),
        ("bad_signature", "a token with a wrong signature"),
        ("none", "no token at all"),
    ],
)
def test_a_caller_that_was_let_in_is_told_with_what_it_showed_and_saw(
    credential: Credential, words: str
) -> None:
    fails(
        "must_be_refused",
        True,
        let_in(credential, call("weather")),  # type: ignore[arg-type]
        f"Caller was let in although it must be refused: it showed {words}",
        "It was offered 4 tools: get_orders, search_orders",
        "These calls were carried out: weather",
    )


def test_a_server_that_refuses_only_calls_did_let_the_caller_in() -> None:
    refused = let_in("none", call("weather", outcome="denied"))
    fails("must_be_refused", True, refused, "Caller was let in", "must_be_denied")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [False, None, "yes", 1, {"tool": "a"}])
def test_it_takes_true_and_nothing_else(value: object) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse("must_be_refused", value)


@pytest.mark.parametrize(
    ("kind", "value", "asks"),
    [
        ("must_be_refused", True, True),
        ("any_of", [{"must_be_refused": True}, {"must_be_denied": "a"}], True),
        ("all_of", [{"any_of": [{"must_be_refused": True}]}], True),
        ("must_be_denied", "a", False),
    ],
)
def test_a_case_asks_for_it_also_inside_a_group(kind: str, value: object, asks: bool) -> None:
    checks = tuple(check for _, check in VOCABULARY.parse(kind, value))
    assert bool(checks_with("wants_refused_session", checks)) is asks
    assert bool(checks_with("judges_refused_session", checks)) is asks


def test_a_decision_knows_what_to_make_of_a_caller_who_was_refused() -> None:
    checks = (Check(kind="decision", params={}),)
    assert checks_with("judges_refused_session", checks)
    assert not checks_with("wants_refused_session", checks)


def test_other_checks_judge_what_did_not_happen() -> None:
    kept_out = scene(stop="not_admitted", refused_status=401)
    passes("must_not_call", ["weather"], kept_out)
    fails("answer_contains", ["sunny"], kept_out, "Answer does not contain")
    passes("any_of", [{"must_be_refused": True}, {"must_be_denied": "weather"}], kept_out)


@pytest.mark.parametrize(
    ("value", "meant"),
    [(False, "Leave it out where the caller may come in."), (None, None), (0, None), ("no", None)],
)
def test_who_writes_false_is_told_to_leave_it_out(value: object, meant: str | None) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("must_be_refused", value)
    assert caught.value.meant == meant


@pytest.mark.parametrize("status", [None, 401])
def test_what_was_expected_and_what_came_of_it_are_told(status: int | None) -> None:
    result = judge("must_be_refused", True, scene(refused_status=status))
    assert result.expected == {"refused": True, "credential": "valid"}
    assert result.actual == {"refused": status is not None, "status": status}


@pytest.mark.parametrize(
    ("outcomes", "calls_only"),
    [(("denied", "ok"), True), (("ok", "denied"), True), (("ok", "ok"), False), ((), False)],
)
def test_a_server_that_refuses_any_call_is_told_of_the_other_check(
    outcomes: tuple[Outcome, ...], calls_only: bool
) -> None:
    made = [call("weather", outcome=outcome) for outcome in outcomes]
    hint = judge("must_be_refused", True, let_in("none", *made)).hint  # type: ignore[arg-type]
    assert str(hint).startswith("The server refuses calls, not the caller") is calls_only
