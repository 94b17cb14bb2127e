from __future__ import annotations

from harness.judging.policy import View, decide_access
from harness.judging.policy.decisions import summarise_access
from harness.types import Access, Decision
from tests.judging.policy.views import ADMIN, FULL, RECORD, REFUSED, call, view, without


def of(tool: str, *views: View) -> list[Decision]:
    return [next(one for one in decided if one.tool == tool) for decided in decide_access(views)]


def accesses(tool: str, *views: View) -> list[Access]:
    return [decision.access for decision in of(tool, *views)]


def test_what_was_carried_out_is_allowed_and_what_lacks_fields_is_filtered() -> None:
    clerk = view("clerk", call(structured={**without(RECORD, "salary"), "name": "L*** C***"}))
    admin, filtered = of("get_salary", ADMIN, clerk)
    assert (admin.access, admin.shape, admin.compared) == ("allowed", None, 1)
    assert (filtered.access, filtered.shape) == ("filtered", "filtered_fields")
    assert (filtered.missing, filtered.masked) == (("salary",), ("name",))


def test_a_field_that_is_left_out_of_one_form_of_a_result_alone_counts_as_left_out() -> None:
    half = call(structured=RECORD, text=call(structured=without(RECORD, "salary")).text)
    assert of("get_salary", ADMIN, view("clerk", half))[1].missing == ("salary",)


def test_a_refusal_is_told_in_its_shape() -> None:
    clerk = view("clerk", call(outcome="denied", refusal="protocol_error", text="no"))
    assert [
        (one.access, one.shape) for one in of("get_salary", ADMIN, clerk, view("lodger", REFUSED))
    ] == [
        ("allowed", None),
        ("denied", "protocol_error"),
        ("denied", "tool_error"),
    ]


def test_a_caller_who_was_not_let_in_is_denied_everything() -> None:
    stranger = view("stranger", tools=(), refused=True)
    assert {(one.access, one.shape) for one in decide_access([ADMIN, stranger])[1]} == {
        ("denied", "http_status")
    }


def test_a_tool_that_is_not_listed_is_hidden_also_from_who_tries_it() -> None:
    tried = view(
        "clerk", call(outcome="unknown_tool", text="Unknown tool"), tools=("search_people",)
    )
    assert accesses("get_salary", ADMIN, tried, view("lodger", tools=())) == [
        "allowed",
        "hidden",
        "hidden",
    ]


def test_a_hidden_tool_that_works_all_the_same_is_allowed() -> None:
    assert accesses("get_salary", ADMIN, view("clerk", FULL, tools=())) == ["allowed", "allowed"]


def test_what_nobody_tried_or_what_failed_otherwise_says_nothing_of_the_server() -> None:
    down = view("clerk", call(outcome="timeout"))
    held = view("lodger", call(outcome="blocked"))
    assert accesses("get_salary", ADMIN, down, held, view("idle")) == [
        "allowed",
        "error",
        "not_attempted",
        "not_attempted",
    ]


def test_a_shorter_list_is_filtered_only_if_it_is_a_part_of_the_longer() -> None:
    def orders(*numbers: int) -> View:
        return view(
            f"u{numbers}", call(structured={"orders": [{"id": number} for number in numbers]})
        )

    assert accesses("get_salary", orders(1, 2, 3), orders(1, 2), orders(8, 9)) == [
        "allowed",
        "filtered",
        "allowed",
    ]


def test_other_arguments_are_another_question() -> None:
    other = view(
        "clerk", call(arguments={"employee_id": "EMP_0001"}, structured={"employee_id": "EMP_0001"})
    )
    assert of("get_salary", ADMIN, other)[1].access == "allowed"
    assert of("get_salary", ADMIN, other)[1].compared == 0


def test_a_refusal_is_no_answer_to_hold_others_against() -> None:
    refused = view("clerk", call(outcome="denied", structured={**RECORD, "why": "no"}))
    (admin, _) = of("get_salary", ADMIN, refused)
    assert (admin.access, admin.compared, admin.missing) == ("allowed", 0, ())


def test_what_the_suite_forbids_an_identity_to_see_is_not_what_others_should_have_got() -> None:
    clerk = view("clerk", call(structured=without(RECORD, "salary")))
    intruder = view("intruder", FULL, rightful=False)
    (seen, _) = of("get_salary", clerk, intruder)
    assert (seen.access, seen.compared, seen.missing) == ("allowed", 0, ())


def test_several_decisions_come_to_one_word() -> None:
    assert summarise_access(["denied", "not_attempted"]) == "denied"
    assert summarise_access(["not_attempted"]) == "not_attempted"
    assert summarise_access(["allowed", "denied"]) == "mixed"
    assert summarise_access([]) == "not_attempted"
