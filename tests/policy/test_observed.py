from __future__ import annotations

from harness.policy import unobserved
from tests.policy.views import ADMIN, FULL, RECORD, REFUSED, call, view, without


def test_a_server_that_treats_all_alike_is_said_to() -> None:
    reason = unobserved([ADMIN, view("clerk", FULL), view("clerk", FULL)])
    assert reason == (
        "2 identities (admin, clerk) were shown the same tools, and 1 call that several of them made had the same "
        "answer for each: nothing shows that the server knows who asks"
    )


def test_without_a_call_that_two_of_them_made_nothing_is_shown_either() -> None:
    assert "no two of them made the same call" in (unobserved([ADMIN, view("clerk")]) or "")
    assert "no tool was called" in (unobserved([view("admin"), view("clerk")]) or "")


def test_another_tool_list_another_result_or_a_refusal_shows_it() -> None:
    assert unobserved([ADMIN, view("clerk", tools=("search_people",))]) is None
    assert unobserved([ADMIN, view("clerk", call(structured=without(RECORD, "salary")))]) is None
    assert unobserved([ADMIN, view("clerk", call(arguments={"employee_id": "X"}, outcome="denied"))]) is None
    assert unobserved([ADMIN, view("stranger", tools=(), refused=True)]) is None


def test_a_refusal_of_everybody_shows_nothing() -> None:
    assert unobserved([view("admin", REFUSED), view("clerk", REFUSED)]) is not None


def test_of_calls_that_failed_only_how_they_ended_tells_identities_apart() -> None:
    failed = [
        view(name, call(outcome="tool_error", text=f"busy, try again: {name}", structured={"ticket": name}))
        for name in ("admin", "clerk")
    ]
    assert unobserved(failed) is not None
    assert unobserved([failed[0], view("clerk", call(outcome="invalid_arguments", text="busy"))]) is None
    assert unobserved([failed[0], view("clerk", REFUSED)]) is None
    assert unobserved([failed[0], view("clerk", FULL)]) is None


def test_a_call_that_was_never_answered_tells_nobody_apart() -> None:
    lost = view("clerk", call(outcome="timeout"))
    assert unobserved([ADMIN, lost]) is not None
    assert unobserved([ADMIN, view("clerk", call(outcome="blocked"))]) is not None


def test_a_refusal_by_what_is_asked_and_not_by_who_asks_shows_nothing() -> None:
    outside = call(arguments={"path": "/etc"}, outcome="denied", text="outside the allowed folders")
    assert unobserved([view("admin", FULL, outside), view("clerk", outside)]) is not None
    assert unobserved([view("admin", FULL), view("clerk", outside)]) is None  # which only serves, and only refuses
    alike = [view("admin", FULL, outside), view("clerk", FULL, outside)]
    assert unobserved(alike) is not None


def test_what_changes_from_call_to_call_shows_nothing() -> None:
    first, second = ({**RECORD, "asked_at": f"2026-01-01T10:00:0{n}Z", "elapsed_ms": n} for n in (1, 2))
    assert unobserved([view("admin", call(structured=first)), view("clerk", call(structured=second))]) is not None


def test_one_identity_alone_cannot_be_told_from_another() -> None:
    assert unobserved([ADMIN, ADMIN]) is None
    assert unobserved([]) is None


def test_no_more_views_are_looked_at_than_it_takes() -> None:
    def views() -> object:
        yield ADMIN
        yield view("clerk", tools=())
        raise AssertionError("enough was known")

    assert unobserved(views()) is None  # type: ignore[arg-type]
