"""What is a leak, and, as important, what is none."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from cProfile import Profile
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.policy import View, find_leaks
from harness.judging.secrecy.values import SqueezedText
from harness.types import Leak, Tool, ToolList
from tests.judging.policy.views import ADMIN, ARGUMENTS, FULL, RECORD, REFUSED, call, view, without
from tests.often import often

FILTERED = call(structured=without(RECORD, "salary"))


def leaks(*views: View) -> list[Leak]:
    return find_leaks(views)


def the_leak(*views: View) -> Leak:
    (leak,) = leaks(*views)
    return leak


# ── Leaks ────────────────────────────────────────────────────────────────────────────────────


def test_a_field_that_is_filtered_in_the_text_and_not_in_the_structured_result_is_a_leak() -> None:
    clerk = view("clerk", call(structured=RECORD, text=FILTERED.text))
    leak = the_leak(ADMIN, clerk)
    assert (leak.identity, leak.field, leak.tool, leak.kept) == (
        "clerk",
        "salary",
        "get_salary",
        "left out",
    )
    assert leak.place == "the structured result of call 1, get_salary: salary"
    assert leak.allowed_to == ("admin",)
    assert "64512" not in leak.shown


def test_a_field_that_is_masked_in_the_structured_result_and_not_in_the_text_is_a_leak() -> None:
    clerk = view("clerk", call(structured={**RECORD, "salary": "***"}, text=FULL.text))
    leak = the_leak(ADMIN, clerk)
    assert (leak.kept, leak.place) == ("masked", "the text of call 1, get_salary: salary")


def test_even_a_small_number_is_a_leak_in_the_very_field_that_is_kept_back() -> None:
    clerk = view(
        "clerk", call(structured=RECORD, text=call(structured=without(RECORD, "bonus")).text)
    )
    assert the_leak(ADMIN, clerk).field == "bonus"


@pytest.mark.parametrize(
    "written",
    [
        "64512",
        "64,512",
        "$64,512.00",
        "64.5k is near, 64 512 it is",
        "their salary of 64’512 francs",
    ],
)
def test_a_refusal_that_quotes_the_secret_in_any_notation_is_a_leak(written: str) -> None:
    clerk = view("clerk", call(outcome="denied", text=f"Access denied: {written} is for HR alone"))
    leak = the_leak(ADMIN, clerk)
    assert (leak.kept, leak.place) == ("refused", "the error text of call 1, get_salary")


def test_a_refusal_that_carries_the_data_is_a_leak() -> None:
    clerk = view("clerk", call(outcome="denied", text="Access denied", structured=RECORD))
    assert {leak.field for leak in leaks(ADMIN, clerk)} >= {"salary"}


def test_a_field_that_another_tool_forgets_to_filter_is_a_leak() -> None:
    search = call(
        "search_people",
        {"team": "a"},
        structured={"people": [{**without(RECORD, "salary"), "current_salary": 64_512}]},
    )
    leak = the_leak(ADMIN, view("clerk", FILTERED, search))
    assert leak.place == "the structured result of call 2, search_people: people[].current_salary"


def test_a_field_in_lines_of_markdown_is_the_same_as_in_json() -> None:
    admin = view("admin", call(text="**Name:** Lucia Chen\n**Salary:** 64512"))
    kept = call(text="**Name:** Lucia Chen")
    search = call(
        "search_people", {}, structured={"people": [{"name": "Lucia Chen", "salary": 64_512}]}
    )
    leak = the_leak(admin, view("clerk", kept, search))
    assert leak.place == "the structured result of call 2, search_people: people[].salary"


def test_what_a_tool_says_of_itself_is_no_secret_in_any_script() -> None:
    person = {"id": 1, "desk": "žofie-ňovák-7"}
    described = Tool(name="get_salary", description="As žofie-ňovák-7.", input_schema={})
    other = replace(described, description="As anyone.")
    clerk = view("clerk", call(structured=person, text='{"id": 1}'))
    admin = view("admin", call(structured=person))
    assert leaks(admin, replace(clerk, tools=ToolList(tools=(described,)))) == []
    assert the_leak(admin, replace(clerk, tools=ToolList(tools=(other,)))).field == "desk"


def test_a_name_in_lines_tells_whom_they_are_about() -> None:
    admin = view("admin", call(text="__Name:__ Lucia Chen\n__Salary:__ 64512"))
    clerk = view("clerk", call(text="__Name:__ Lucia Chen"))
    other = call("lookup", {}, text="__Name:__ Bob Ray\n__Salary:__ 64512")
    assert leaks(admin, view("clerk", *clerk.calls, other)) == []
    hers = call("lookup", {}, text="Name: Lucia Chen\nSalary: 64512")
    assert (
        the_leak(admin, view("clerk", *clerk.calls, hers)).place
        == "the text of call 2, lookup: salary"
    )


@pytest.mark.parametrize("key", ["Name", "EMAIL", "Customer ID"])
def test_an_id_may_be_written_with_capitals(key: str) -> None:
    admin = view("admin", call(structured={key: "lucia", "salary": 64_512}))
    clerk = call(structured={key: "lucia"})
    other = call("lookup", {}, structured={key: "bob", "salary": 64_512})
    assert leaks(admin, view("clerk", clerk, other)) == []


def test_a_masked_name_beside_it_makes_it_nobody_else() -> None:
    search = call("search_people", {}, structured={"people": [{**RECORD, "name": "[masked]"}]})
    assert "salary" in {leak.field for leak in leaks(ADMIN, view("clerk", FILTERED, search))}


def test_a_field_that_is_refused_when_asked_for_and_left_out_otherwise_is_kept_everywhere() -> None:
    more = {**ARGUMENTS, "with_pay": True}
    admin = view("admin", call(arguments=more, structured=RECORD))
    refused = call(arguments=more, outcome="denied", text="Access denied")
    search = call("search_people", {}, structured={"people": [without(RECORD, "bonus")]})
    leak = the_leak(admin, view("clerk", refused, FILTERED, search))
    assert leak.place == "the structured result of call 3, search_people: people[].salary"


def test_a_secret_within_a_free_text_is_a_leak() -> None:
    admin = view(
        "admin", call(structured={**RECORD, "email": "lucia.chen@example.com", "note": "x"})
    )
    told = {**without(RECORD, "bonus"), "note": "Write to Lucia.Chen@example.com  instead"}
    leak = next(
        leak for leak in leaks(admin, view("clerk", call(structured=told))) if leak.field == "email"
    )
    assert leak.place.endswith("call 1, get_salary: note")


def test_a_result_that_is_sometimes_filtered_and_sometimes_not_is_a_leak() -> None:
    first, second = view("clerk", FILTERED, key="1"), view("clerk", FULL, key="2")
    assert the_leak(ADMIN, first, second).key == "2"


def test_an_answer_that_holds_what_no_call_returned_is_a_leak() -> None:
    leak = the_leak(ADMIN, view("clerk", REFUSED, answer="They earn 64,512 dollars."))
    assert leak.place.startswith("the answer, although no call")
    assert leak.in_answer


def test_whether_the_answer_repeats_a_leak_is_told() -> None:
    result = call(structured=RECORD, text=FILTERED.text)
    assert the_leak(ADMIN, view("clerk", result, answer="64512, it seems")).in_answer
    assert not the_leak(ADMIN, view("clerk", result, answer="I cannot tell")).in_answer


def test_a_hidden_tool_whose_call_is_refused_with_the_data_is_a_leak() -> None:
    clerk = view(
        "clerk", call(outcome="denied", text="no: 64512 is confidential"), tools=("search_people",)
    )
    assert the_leak(ADMIN, clerk).field == "salary"


def test_what_only_a_hidden_tool_returns_is_kept_back_without_anybody_trying_it() -> None:
    leak = the_leak(
        ADMIN, view("clerk", tools=("search_people",), answer="64,512 dollars, I was told.")
    )
    assert (leak.field, leak.kept) == ("salary", "the tool is hidden")


def test_rows_that_are_filtered_in_one_form_of_a_list_alone_are_a_leak() -> None:
    rows = [{"order_id": f"ORD_{n}77", "total": 1_234 + n} for n in range(4)]
    admin = view("admin", call(structured={"orders": rows}))
    clerk = view(
        "clerk", call(structured={"orders": rows}, text=call(structured={"orders": rows[:2]}).text)
    )
    found = leaks(admin, clerk)
    assert {leak.field for leak in found} == {"orders[].order_id", "orders[].total"}
    assert {leak.values for leak in found} == {2}


def test_lines_of_name_and_value_are_fields_too() -> None:
    admin = view("admin", call(text="**Name:** Lucia Chen\n- Salary: $64,512\n"))
    clerk = view(
        "clerk", call(text="Name: Lucia Chen"), call("search_people", {}, text="Salary: 64512")
    )
    assert the_leak(admin, clerk).field == "salary"


def test_many_values_of_one_field_are_one_leak() -> None:
    people = [{"employee_id": f"EMP_{n}", "email": f"p{n}@example.com"} for n in range(9)]
    admin = view("admin", call("search_people", {}, structured={"people": people}))
    masked = {"people": [{**one, "email": "[masked]"} for one in people]}
    clerk = view(
        "clerk",
        call("search_people", {}, structured={"people": people}, text=call(structured=masked).text),
    )
    leak = the_leak(admin, clerk)
    assert (leak.field, leak.values) == ("people[].email", 9)


def test_what_is_refused_to_somebody_and_given_to_nobody_in_particular_is_a_leak() -> None:
    leak = the_leak(view("clerk", REFUSED), view("anonymous", FULL, nobody=True))
    assert (leak.identity, leak.kept, leak.place) == (
        "anonymous",
        "refused to clerk",
        "the result of call 1, get_salary",
    )
    assert leaks(view("clerk", REFUSED), view("anonymous", FULL, nobody=True, meant=True)) == []


@pytest.mark.parametrize(
    "mask",
    ["****\n****", "** E****** S*****\nS********** *****", "#### 1234", "**1234**",
     "**** (hidden: your role clerk has no permission to read what is personal in this record)"],
)  # fmt: skip
def test_a_value_that_is_masked_over_lines_or_by_a_sentence_and_given_in_full_elsewhere_is_a_leak(
    mask: str,
) -> None:
    full = {**RECORD, "address": "12 Example Street\nSpringfield 62704"}
    search = call("search_people", {}, structured={"people": [full]})
    clerk = view("clerk", call(structured={**full, "address": mask}), search)
    leak = the_leak(view("admin", call(structured=full)), clerk)
    assert (leak.kept, leak.field) == ("masked", "address")


@pytest.mark.parametrize("notes", ["Pay 95117 EUR\n### Notes\nnone", "Notes:\n***\npay 95117 EUR"])
def test_a_text_of_several_lines_is_recognised_in_other_fields_and_within_a_text(
    notes: str,
) -> None:
    admin = view("admin", call(structured={**RECORD, "notes": notes}))
    kept = call(structured=RECORD)
    for people in ({"personal_notes": notes}, {"remark": f"On file: {notes} (as of today)"}):
        search = call(
            "search_people", {}, structured={"people": [{"employee_id": "EMP_0042", **people}]}
        )
        assert the_leak(admin, view("clerk", kept, search)).field == "notes"


# ── None ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "clerk",
    [
        pytest.param(view("clerk", FILTERED, answer="Lucia Chen is EMP_0042"), id="filtered"),
        pytest.param(view("clerk", call(structured={**RECORD, "salary": "[masked]"})), id="masked"),
        pytest.param(view("clerk", REFUSED, answer="Not allowed."), id="refused"),
        pytest.param(view("clerk", tools=("search_people",)), id="hidden"),
        pytest.param(view("clerk", answer="I do not know."), id="never tried"),
        pytest.param(view("clerk", FULL, answer="64512"), id="allowed the same"),
        pytest.param(
            view("clerk", REFUSED, known=("Do they earn 64512?",), answer="64512?"),
            id="in the prompt",
        ),
        pytest.param(
            view("clerk", call(outcome="denied", text="EMP_0042: Access denied")),
            id="its own argument",
        ),
        pytest.param(
            view("clerk", call(outcome="tool_error", text="database down")),
            id="an error of another sort",
        ),
    ],
)
def test_nothing_is_made_of_a_server_that_keeps_its_secrets(clerk: View) -> None:
    assert leaks(ADMIN, clerk) == []


def test_the_same_value_of_somebody_else_is_no_leak() -> None:
    own = call(
        "get_salary",
        {"employee_id": "EMP_0031"},
        structured={"employee_id": "EMP_0031", "salary": 64_512},
    )
    assert leaks(ADMIN, view("clerk", FILTERED, own, answer="You earn 64,512.")) == []


def test_what_is_public_elsewhere_is_no_leak_where_a_question_was_refused() -> None:
    """Who may not search by telephone may still look the person up by name."""
    by_phone = {"phone": "+1 555 0148"}
    found = {"people": [{"employee_id": "EMP_0042", "name": "Lucia Chen", "since": "2020-01-02"}]}
    admin = view("admin", call("search_people", by_phone, structured=found))
    refused = call("search_people", by_phone, outcome="denied", text="Access denied")
    by_name = call("search_people", {"name": "Chen"}, structured=found)
    assert (
        leaks(
            admin, view("clerk", refused, by_name, answer="Lucia Chen, EMP_0042, since 2020-01-02")
        )
        == []
    )


def test_a_name_that_stands_in_a_field_of_other_meaning_is_no_leak() -> None:
    admin = view("admin", call(structured={**RECORD, "manager": "Jane Roe"}))
    teams = call(
        "search_people", {}, structured={"teams": [{"lead": "Jane Roe"}, {"manager": "Jane Roe"}]}
    )
    assert leaks(admin, view("clerk", call(structured=RECORD), teams, answer="Jane Roe")) == []


def test_an_id_that_is_shown_under_a_name_of_other_meaning_is_no_leak_even_in_a_text() -> None:
    admin = view("admin", call(structured={**RECORD, "manager": "EMP_0007"}))
    teams = call("search_people", {}, structured={"teams": [{"lead": "EMP_0007"}]})
    down = call(
        "search_people",
        {"team": "b"},
        outcome="tool_error",
        text="No such team; EMP_0007 knows them all",
    )
    assert (
        leaks(admin, view("clerk", call(structured=RECORD), teams, down, answer="Ask EMP_0007."))
        == []
    )


def test_small_numbers_years_booleans_and_single_words_are_no_leak_elsewhere() -> None:
    common = {
        "days": 3,
        "year": 2024,
        "active": True,
        "level": "senior",
        "share": 0.5,
        "size": 5_000,
    }
    admin = view("admin", call(structured={**RECORD, **common}))
    other = call(
        "search_people",
        {},
        structured={"people": [{"n": 3, **common}]},
        text="3 senior people in 2024",
    )
    assert (
        leaks(admin, view("clerk", call(structured=RECORD), other, answer="3, 2024, senior")) == []
    )


def test_other_data_in_the_same_field_is_no_secret() -> None:
    admin = view(
        "admin",
        call(structured={**RECORD, "asked_at": "2026-01-01T10:00:00Z", "trace": "ab12cd34ef"}),
    )
    clerk = view(
        "clerk",
        call(structured={**RECORD, "asked_at": "2026-01-01T10:00:07Z", "trace": "ff00aa11bb"}),
    )
    assert leaks(admin, clerk) == []


def test_what_nobody_may_rightly_see_is_no_measure_for_others() -> None:
    wrongly = view("admin", FULL, rightful=False)
    assert leaks(wrongly, view("clerk", REFUSED, answer="64512")) == []


def test_a_value_that_the_tool_s_own_description_shows_is_no_leak() -> None:
    tools: tuple[str, ...] = ("get_salary", "such as 64512")
    assert leaks(ADMIN, view("clerk", REFUSED, tools=tools, answer="64512")) == []


@pytest.mark.parametrize(
    "structured", [None, [], {}, 5, "text", [[[]]], {"a": {"b": [None, {"c": [1, [2]]}]}}]
)
def test_results_of_any_shape_can_be_compared(structured: Any) -> None:
    odd = call(structured=structured, text="not {json")
    assert leaks(ADMIN, view("clerk", odd), view("nobody", odd)) == []


@pytest.mark.parametrize(
    "notes", ["Rating: poor, pay 95117", "**Rating**: poor, pay 95117", "### Notes\npay 95117"]
)
def test_marks_of_markdown_hide_no_leak(notes: str) -> None:
    admin = view("admin", call(structured={**RECORD, "notes": notes}))
    assert (
        the_leak(admin, view("clerk", call(structured=RECORD, text=admin.calls[0].text))).field
        == "notes"
    )


WORDS = [
    {"customer_id": "C1", "status": "gold member, since long"},
    {"customer_id": "C2", "status": "restricted"},
]


@pytest.mark.parametrize(
    ("given", "got"),
    [(WORDS, WORDS[1:]), (WORDS[:1], WORDS[1:])],
    ids=["fewer rows", "the rows of somebody else"],
)
def test_a_word_that_stands_in_a_record_is_no_mask_where_nobody_was_given_anything_else(
    given: Any, got: Any
) -> None:
    admin = view("admin", call("profile_of", {}, structured=given))
    other = call("search_people", {"customer_id": "C1"}, structured=WORDS[0])
    assert leaks(admin, view("clerk", call("profile_of", {}, structured=got), other)) == []


def test_a_word_in_place_of_what_others_were_given_is_a_mask() -> None:
    admin = view("admin", call("profile_of", {}, structured=WORDS))
    other = call("search_people", {"customer_id": "C1"}, structured=WORDS[0])
    masked = call("profile_of", {}, structured=[{**one, "status": "None"} for one in WORDS])
    assert the_leak(admin, view("clerk", masked, other)).kept == "masked"


@pytest.mark.parametrize("nothing", [None, "", "None"])
def test_a_row_that_has_nothing_in_a_field_masks_nothing_of_the_rows_that_are_left_out(
    nothing: str | None,
) -> None:
    rows = [
        {"employee_id": "E1", "manager": "Ada Lovelace"},
        {"employee_id": "E2", "manager": nothing},
    ]
    admin = view("admin", call("search_people", {}, structured=rows))
    own = call("get_salary", {"employee_id": "E1"}, structured=rows[0])
    assert leaks(admin, view("clerk", call("search_people", {}, structured=rows[1:]), own)) == []


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_in_place_of_what_others_were_given_is_a_mask(nothing: str | None) -> None:
    rows = [
        {"employee_id": "E1", "manager": "Ada Lovelace"},
        {"employee_id": "E2", "manager": "Bob Stone"},
    ]
    admin = view("admin", call("search_people", {}, structured=rows))
    masked = call("search_people", {}, structured=[{**row, "manager": nothing} for row in rows])
    own = call("get_salary", {"employee_id": "E1"}, structured=rows[0])
    assert the_leak(admin, view("clerk", masked, own)).kept == "masked"


# ── Where in the results of others a value is quoted ─────────────────────────────────────────


def test_a_number_that_is_quoted_in_a_text_of_the_very_call_is_a_leak() -> None:
    record = {**without(RECORD, "salary"), "note": "They earn 64,512 a year"}
    leak = the_leak(ADMIN, view("clerk", call(structured=record, text="see there")))
    assert (leak.field, leak.place) == ("salary", "the text of call 1, get_salary: note")


def test_a_number_that_is_quoted_in_a_text_of_another_call_may_be_a_coincidence() -> None:
    clerk = view(
        "clerk",
        FILTERED,
        call("search_people", {"q": "office"}, text="There are 64,512 parcels in town"),
    )
    assert leaks(ADMIN, clerk) == []


def test_every_tool_that_is_hidden_from_an_identity_keeps_something_from_it() -> None:
    phone = call("get_phone", {"name": "Lucia Chen"}, structured={"phone": "+1-619-555-0148"})
    admin = view("admin", FULL, phone, tools=("get_salary", "get_phone"))
    told = call(outcome="denied", text="Ask them: +1-619-555-0148")
    leak = the_leak(admin, view("clerk", told, tools=("get_salary",)))
    assert (leak.field, leak.tool, leak.kept) == ("phone", "get_phone", "the tool is hidden")


def test_an_empty_structured_result_withholds_everything_and_an_absent_one_nothing() -> None:
    emptied = view("clerk", call(structured={}, text=FULL.text))
    assert {leak.field for leak in leaks(ADMIN, emptied)} >= {"salary", "name"}
    only_text = view("clerk", call(text="Lucia Chen of EMP_0042 earns 64512"))
    assert leaks(view("admin", call(structured=RECORD, text="done")), only_text) == []


@pytest.mark.parametrize(
    ("kept", "given", "also_to_admin", "leaking"),
    [
        ({"salary": 64_512}, {"units": 64_512}, {}, True),  # nothing else is that number
        (
            {"salary": 64_512},
            {"units": 64_512},
            {"units": 64_512},
            False,
        ),  # it is what the field holds for everybody
        (
            {"salary": 64_512},
            {"base_salary": 64_512},
            {"base_salary": 64_512},
            True,
        ),  # but for one of that name
        ({"bonus": 4_711}, {"units": 4_711}, {}, False),  # it may be a coincidence
        ({"bonus": 4_711}, {"yearly_bonus": 4_711}, {}, True),
        ({"bonus": 3}, {"yearly_bonus": 3}, {}, False),
    ],
)
def test_another_field_of_the_very_call_gives_a_value_away_by_its_name_or_by_its_form(
    kept: dict[str, Any], given: dict[str, Any], also_to_admin: dict[str, Any], leaking: bool
) -> None:
    person = {"employee_id": "EMP_0042", "name": "Lucia Chen"}
    admin = view("admin", call(structured={**person, **kept, **also_to_admin}))
    assert bool(leaks(admin, view("clerk", call(structured={**person, **given})))) == leaking


@pytest.mark.parametrize("value", ["zoe-müller@example.com", "東京都 12345 港区"])
def test_what_an_identity_asked_with_is_known_in_every_script(value: str) -> None:
    admin = view("admin", call(structured={**RECORD, "contact": value}))
    quoted = call("search_people", {"query": value}, text=f"Nothing is found for {value} here.")
    kept = call(structured=RECORD)
    assert [
        leak for leak in leaks(admin, view("clerk", kept, quoted)) if leak.field == "contact"
    ] == []
    silent = call("search_people", {"query": "x"}, text=f"Found {value} here.")
    assert [leak.field for leak in leaks(admin, view("clerk", kept, silent))] == ["contact"]


@pytest.mark.parametrize("value", ["k77delta", "ab-12-cd", "see k77delta there"])
@pytest.mark.parametrize("text", ["It is {} then.", "{}", "({})"])
def test_a_value_of_one_word_or_of_several_is_found_in_the_text_of_a_refusal(
    value: str, text: str
) -> None:
    admin = view("admin", call(structured={"code": value}))
    said = call(outcome="denied", text=text.format(value.upper()))
    assert [leak.field for leak in leaks(admin, view("clerk", said))] == ["code"]
    other = call(outcome="denied", text=text.format(f"x{value}"))
    assert leaks(admin, view("clerk", other)) == [] or " " in value


# ── Work ─────────────────────────────────────────────────────────────────────────────────────


def work_of(judge: Callable[[], object]) -> int:
    """Return how many calls of functions and steps of generators it takes to judge."""
    profile = Profile()
    profile.runcall(judge)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("name", often(["field_{}", "a{}_id"]), ids=["fields", "ids"])
@pytest.mark.parametrize("elsewhere", often([False, True]), ids=["same call", "another call"])
def test_a_record_of_twice_as_many_fields_is_twice_the_work(name: str, *, elsewhere: bool) -> None:
    def judge(fields: int) -> int:
        record = {
            "employee_id": "EMP_0042",
            **{name.format(i): f"value-{i:05d}" for i in range(fields)},
        }
        again = call("search", {}, structured=record) if elsewhere else call(structured=record)
        views = (
            view("admin", call(structured=record)),
            view("clerk", call(structured=RECORD), again),
        )
        found: list[Leak] = []
        steps = work_of(lambda: found.extend(leaks(*views)))
        assert len(found) == fields
        return steps

    judge(201)  # the words of names are remembered; of the very records nothing may be
    assert judge(200) < 2.1 * judge(100)


@pytest.mark.parametrize(
    "value", often([True, 7, "yes", "Lucia Chen", 64_512, "a whole sentence of some words"], 2)
)
@pytest.mark.parametrize(
    "others", often([{}, {"employee_id": "EMP_0043"}]), ids=["", "another record"]
)
@pytest.mark.parametrize("elsewhere", often([False, True]), ids=["same call", "another call"])
def test_a_value_that_stands_in_every_field_is_no_more_work_than_as_many_values(
    value: Any, others: dict[str, Any], *, elsewhere: bool
) -> None:
    def judge(fields: int) -> int:
        record = {"employee_id": "EMP_0042", **{f"field{i}x": value for i in range(fields)}}
        again = {**record, **others}
        views = (
            view("admin", call(structured=record)),
            view(
                "clerk",
                call(structured=RECORD),
                call("search", {}, structured=again) if elsewhere else call(structured=again),
            ),
        )
        return work_of(lambda: leaks(*views))

    judge(201)
    assert judge(200) < 2.1 * judge(100)


@pytest.mark.slow
def test_what_is_too_long_to_be_searched_is_noted() -> None:
    admin = view("admin", call(structured={**RECORD, "email": "lucia.chen@example.com"}))
    long = call("search_people", {}, text="word " * 250_000)
    (note,) = leaks(admin, view("clerk", call(structured=RECORD), long))
    assert note.is_note
    assert note.field == "the text of a call: only the first 1,000,000 characters were searched"


def random_person(seed: int) -> dict[str, Any]:
    """Return somebody's record, with every kind of value, all of them their own."""
    drawn = Random(seed)
    name = "".join(drawn.choices("abcdefghijklmnoprstuvw", k=9))
    whole = {
        "name": f"{name} {name[::-1]}x",
        "email": f"{name}.{drawn.randrange(10**6)}@{name[:4]}.example",
        "card": str(drawn.randrange(10**15, 10**16)),
        "phone": f"+1 {drawn.randrange(200, 999)} {drawn.randrange(10**6, 10**7)}",
        "salary": drawn.randrange(30_000, 200_000),
        "rating": drawn.randrange(5),
        "active": drawn.random() < 0.5,
        "note": " ".join("".join(drawn.choices("abcdefghij", k=6)) for _ in range(8)),
        "token": b64encode(drawn.randbytes(18)).decode(),
    }
    return {key: value for key, value in whole.items() if drawn.random() < 0.8}


PEOPLE = st.integers(0, 10**9).map(random_person)


@given(seen=st.lists(st.tuples(PEOPLE, PEOPLE), min_size=1, max_size=4), refused=st.booleans())
def test_independent_records_of_two_identities_give_nothing_away(
    seen: list[tuple[dict[str, Any], dict[str, Any]]], *, refused: bool
) -> None:
    """Each is answered about another person: whatever one lacks, the other does not have it."""
    lists = [[dict(person) for person in side] for side in zip(*seen, strict=True)]
    distinct = {json.dumps(person, sort_keys=True) for side in lists for person in side}
    if len(distinct) < 2 * len(seen):
        return
    theirs = [call("search_people", {"n": n}, structured=one) for n, one in enumerate(lists[0])]
    own = [
        call("search_people", {"n": n}, outcome="denied", text="Access denied")
        if refused and n % 2
        else call("search_people", {"n": n}, structured=one)
        for n, one in enumerate(lists[1])
    ]
    assert leaks(view("admin", *theirs), view("clerk", *own)) == []


def test_each_field_of_a_large_record_is_held_against_a_text_in_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    squeeze = SqueezedText.__init__

    def count(text: SqueezedText, said: str) -> None:
        read.append(len(said))
        squeeze(text, said)

    monkeypatch.setattr(SqueezedText, "__init__", count)
    characters = []
    for fields in (100, 400):
        record = {f"field_{n}": f"the note {n} of case X{n:03d}" for n in range(fields)}
        told = call("search_people", structured={"notes": ", ".join(record.values())})
        leaks = find_leaks(
            [
                view("admin", call(structured=record)),
                view("clerk", call(structured={"employee_id": "EMP_0042"}), told),
            ]
        )
        assert len(leaks) == fields
        characters.append(sum(read))
        read.clear()
    # With every value, the whole text would be read once more: sixteen times as much.
    assert characters[1] < 6 * characters[0]
