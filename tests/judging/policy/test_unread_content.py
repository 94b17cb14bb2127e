"""What nobody read is named, and a refusal that others do not get is a decision."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.policy import find_unread
from harness.types import SideContent
from tests.judging.policy.views import FULL, view

ERROR = "the server answers with an error (code -32603)"
SHELF = SideContent(place="the resource a", text="words")
CLOSED = SideContent(place="the resource a", text="its error", unread=ERROR, refused=True)
TOO_MANY = SideContent(place="the resource a", unread="harness reads the first 20 of a list")


def test_an_error_for_all_is_named_and_an_error_for_some_is_a_decision() -> None:
    closed = [view("admin", beside=(CLOSED,)), view("clerk", beside=(CLOSED,))]
    assert find_unread(closed) == (f"the resource a (as admin, clerk): {ERROR}",)
    assert find_unread([view("admin", beside=(SHELF,)), *closed]) == ()


def test_what_harness_left_out_is_named_whoever_else_was_given_it() -> None:
    seen = view("admin", beside=(SHELF,))
    assert find_unread([seen, view("clerk", beside=(TOO_MANY,))]) == (
        "the resource a (as clerk): harness reads the first 20 of a list",
    )
    # The same identity has read it in another trial.
    assert find_unread([view("clerk", beside=(TOO_MANY,)), view("clerk", beside=(SHELF,))]) == ()


def test_many_places_with_one_reason_are_one_line() -> None:
    beside = tuple(
        SideContent(place=f"the prompt {n}", unread="it needs arguments") for n in range(9)
    )
    (line,) = find_unread([view("clerk", beside=beside)])
    assert line == (
        "the prompt 0, the prompt 1, the prompt 2 and 6 more (as clerk): it needs arguments"
    )


def test_what_was_cut_beside_a_result_is_named_with_its_tool() -> None:
    cut = SideContent(place="_meta of the result", text="words", unread="only a part was kept")
    called = view("clerk", replace(FULL, beside=(cut,)))
    assert find_unread([called]) == (
        "_meta of the result of get_salary (as clerk): only a part was kept",
    )


WHO, WHERE = st.sampled_from(["admin", "clerk", "nobody"]), st.sampled_from("abc")
READINGS = st.lists(
    st.tuples(WHO, WHERE, st.sampled_from([None, "late", "few"]), st.booleans()), max_size=9
)


@given(READINGS)
def test_a_place_is_named_exactly_where_somebody_lacks_it(
    readings: list[tuple[str, str, str | None, bool]],
) -> None:
    views = [
        view(
            who, beside=(SideContent(place=place, unread=why, refused=why is not None and refused),)
        )
        for who, place, why, refused in readings
    ]
    named = " ".join(find_unread(views))
    read = {(who, place) for who, place, why, _ in readings if why is None}
    for place in "abc":
        lacking = any(
            (who, where) not in read and not (refused and place in {one for _, one in read})
            for who, where, why, refused in readings
            if where == place and why is not None
        )
        assert lacking == any(f"{place}{end}" in named for end in (" (as", ", ", " and"))
