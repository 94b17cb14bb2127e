"""What a call with bent arguments gains of rows that another call of the list is refused for."""

from __future__ import annotations

from typing import Any

from harness.probing.gains import ForgeryGain, WithheldData
from harness.types import ToolCall
from tests.judging.policy.views import call, view

DEAR = {"least": 50_000}
"""What a clerk may not ask for."""


def listed(*numbers: int, **arguments: Any) -> ToolCall:
    rows = [{"id": f"P-{number}", "name": f"Person {number}"} for number in numbers]
    return call("list_people", arguments, structured={"people": rows})


REFUSED = call("list_people", DEAR, outcome="denied", text="Access denied")
ADMIN = view("admin", listed(9, 8, **DEAR), listed(1, 2))


def gain(
    own: list[ToolCall], pages: list[ToolCall], made: ToolCall, **asked: Any
) -> ForgeryGain | None:
    """Return what a clerk gains by ``made``, bent from a call with the arguments ``asked``."""
    withheld = WithheldData([ADMIN, view("clerk", *own)], [view("clerk", *pages)])
    return withheld.find_gain("clerk", made, asked, {}, same=False)


def test_a_row_on_a_further_page_of_ones_own_is_no_gain() -> None:
    assert gain([REFUSED, listed(1, 2)], [listed(3, 8, cursor="2")], listed(1, 2, 3, 8)) is None


def test_a_row_on_no_page_of_ones_own_is_a_gain_that_a_refusal_alone_withholds() -> None:
    found = gain([REFUSED, listed(1, 2)], [listed(3, 8, cursor="2")], listed(1, 2, 3, 8, 9))
    assert found == ForgeryGain(("people[].id", "people[].name"), ("admin",), is_only_refused=True)


def test_a_row_with_the_name_of_one_on_a_further_page_is_a_gain_if_its_id_is_another() -> None:
    namesake = call("list_people", {}, structured={"people": [{"id": "P-3", "name": "Person 9"}]})
    found = gain([REFUSED, listed(1, 2)], [namesake], listed(1, 2, 9))
    assert found is not None
    assert "people[].name" in found.fields


def test_the_refused_call_itself_gains_its_rows_whatever_ones_own_pages_have() -> None:
    pages = [listed(3, 8, cursor="2")]
    found = gain([REFUSED, listed(1, 2)], pages, listed(9, 8, least="50000"), **DEAR)
    assert found is not None
    assert not found.is_only_refused


def test_a_row_that_an_answer_of_ones_own_leaves_out_is_withheld_by_more_than_a_refusal() -> None:
    whole = {"team": "red"}
    views = [
        view("admin", listed(9, 8, **DEAR), listed(1, 9, **whole)),
        view("clerk", REFUSED, listed(1, **whole), listed(1, 2)),
    ]
    found = WithheldData(views).find_gain("clerk", listed(1, 2, 9), {}, {}, same=False)
    assert found is not None
    assert not found.is_only_refused
