from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy import explain_unobserved
from harness.judging.policy.comparable_values import NOTHING
from harness.judging.policy.identity_effect import is_volatile
from harness.judging.policy.views import Leaf
from tests.judging.policy.views import ADMIN, FULL, RECORD, REFUSED, call, view, without


def test_a_server_that_treats_all_alike_is_said_to() -> None:
    reason = explain_unobserved([ADMIN, view("clerk", FULL), view("clerk", FULL)])
    assert reason == (
        "2 identities (admin, clerk) were shown the same tools, and 1 call that several of them "
        "made had the same "
        "answer for each: nothing shows that the server knows who asks"
    )


def test_without_a_call_that_two_of_them_made_nothing_is_shown_either() -> None:
    assert "no two of them made the same call" in (explain_unobserved([ADMIN, view("clerk")]) or "")
    assert "no tool was called" in (explain_unobserved([view("admin"), view("clerk")]) or "")


def test_another_tool_list_another_result_or_a_refusal_shows_it() -> None:
    assert explain_unobserved([ADMIN, view("clerk", tools=("search_people",))]) is None
    assert (
        explain_unobserved([ADMIN, view("clerk", call(structured=without(RECORD, "salary")))])
        is None
    )
    assert (
        explain_unobserved(
            [ADMIN, view("clerk", call(arguments={"employee_id": "X"}, outcome="denied"))]
        )
        is None
    )
    assert explain_unobserved([ADMIN, view("stranger", tools=(), refused=True)]) is None


def test_a_refusal_of_everybody_shows_nothing() -> None:
    assert explain_unobserved([view("admin", REFUSED), view("clerk", REFUSED)]) is not None


def test_of_calls_that_failed_only_how_they_ended_tells_identities_apart() -> None:
    failed = [
        view(
            name,
            call(
                outcome="tool_error", text=f"busy, try again: {name}", structured={"ticket": name}
            ),
        )
        for name in ("admin", "clerk")
    ]
    assert explain_unobserved(failed) is not None
    assert (
        explain_unobserved(
            [failed[0], view("clerk", call(outcome="invalid_arguments", text="busy"))]
        )
        is None
    )
    assert explain_unobserved([failed[0], view("clerk", REFUSED)]) is None
    assert explain_unobserved([failed[0], view("clerk", FULL)]) is None


def test_a_call_that_was_never_answered_tells_nobody_apart() -> None:
    lost = view("clerk", call(outcome="timeout"))
    assert explain_unobserved([ADMIN, lost]) is not None
    assert explain_unobserved([ADMIN, view("clerk", call(outcome="blocked"))]) is not None


def test_a_refusal_by_what_is_asked_and_not_by_who_asks_shows_nothing() -> None:
    outside = call(arguments={"path": "/etc"}, outcome="denied", text="outside the allowed folders")
    assert explain_unobserved([view("admin", FULL, outside), view("clerk", outside)]) is not None
    assert (
        explain_unobserved([view("admin", FULL), view("clerk", outside)]) is None
    )  # which only serves, and only refuses
    alike = [view("admin", FULL, outside), view("clerk", FULL, outside)]
    assert explain_unobserved(alike) is not None


def test_what_changes_from_call_to_call_shows_nothing() -> None:
    first, second = (
        {**RECORD, "asked_at": f"2026-01-01T10:00:0{n}Z", "elapsed_ms": n} for n in (1, 2)
    )
    assert (
        explain_unobserved(
            [view("admin", call(structured=first)), view("clerk", call(structured=second))]
        )
        is not None
    )


def test_one_identity_alone_cannot_be_told_from_another() -> None:
    assert explain_unobserved([ADMIN, ADMIN]) is None
    assert explain_unobserved([]) is None


def test_no_more_views_are_looked_at_than_it_takes() -> None:
    def views() -> object:
        yield ADMIN
        yield view("clerk", tools=())
        raise AssertionError("enough was known")

    assert explain_unobserved(views()) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("identities", "more"), [(2, ""), (5, ""), (6, ", …"), (9, ", …")])
def test_the_first_five_identities_are_named(identities: int, more: str) -> None:
    names = [f"id{number}" for number in range(identities)]
    reason = explain_unobserved([view(name, FULL) for name in names])
    assert reason is not None
    assert reason.startswith(
        f"{identities} identities ({', '.join(names[:5])}{more}) were shown the same tools"
    )


def test_calls_that_several_made_are_counted_and_those_of_one_alone_are_not() -> None:
    other = call(arguments={"employee_id": "EMP_0043"}, structured=RECORD)
    assert "and 2 calls that several" in (
        explain_unobserved([view("a", FULL, other), view("b", FULL, other)]) or ""
    )
    assert "and 1 call that several" in (
        explain_unobserved([view("a", FULL, other), view("b", FULL)]) or ""
    )


@pytest.mark.parametrize(
    ("value", "name", "volatile"),
    [
        ("2026-01-01T10:00", "at", True),
        ("2026-01-01 10:00:05Z", "at", True),
        ("2026-01-01", "at", False),
        ("123e4567-e89b-12d3-a456-426614174000", "ref", True),
        ("x 123e4567-e89b-12d3-a456-426614174000", "ref", False),
        (5, "elapsed_ms", True),
        (5, "requestId", True),
        (5, "request_id", True),
        (5, "salary", False),
    ],
)
def test_times_of_day_and_random_ids_change_whoever_asks(
    value: Any, name: str, volatile: bool
) -> None:
    assert is_volatile(Leaf(name, name, value, NOTHING, "text")) is volatile
