"""Values that tell by themselves are found wherever they stand, under any name and encoded."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest

from harness.judging.policy import find_leaks
from harness.types import SideContent, Tool, ToolCall, ToolList
from tests.judging.policy.views import call, view

PERSON = {"employee_id": "EMP_0042", "name": "Lucia Chen"}
FIELDS: dict[str, Any] = {
    "email": "lucia.chen@example.com",
    "card_number": "4929 1330 5217 8846",
    "plan": "Plan K-77 Delta",
    "grade": "open",
}
"""One of each strength: unmistakable, a reference, telling, none."""


def coded(value: Any) -> str:
    return b64encode(str(value).encode()).decode()


def found(kept: ToolCall, field: str, *further: ToolCall, **more: Any) -> bool:
    """Return whether the field leaks to a clerk who is kept from it and sees what is further."""
    admin = view("admin", call(structured={**PERSON, field: FIELDS[field]}))
    clerk = view("clerk", kept, *further, **more)
    return field in {leak.field for leak in find_leaks([admin, clerk])}


LEFT_OUT = call(structured=PERSON)
REFUSED = call(outcome="denied", text="for HR alone")


def elsewhere(value: Any) -> dict[str, ToolCall]:
    """Return another call that gives the value in some way."""
    return {
        "plain": call("search", {"q": "x"}, structured={"x": value}),
        "coded": call("search", {"q": "x"}, structured={"x": coded(value)}),
        "error": call("search", {"q": "x"}, outcome="tool_error", text=f"lost ({coded(value)})"),
    }


def ways_of(kept: ToolCall, field: str) -> set[str]:
    """Return the ways in which a further call or what comes beside it gives the field away."""
    value = FIELDS[field]
    aside = SideContent(place="the log", text=f"seen: {coded(value)}")
    told = {way for way, made in elsewhere(value).items() if found(kept, field, made)}
    if found(kept, field, beside=(aside,)):
        told.add("beside")
    fine = call("search", {"q": "x"}, text="fine")
    if found(kept, field, replace(fine, beside=(aside,))):
        told.add("with a call")
    assert not found(kept, field, fine)
    return told


@pytest.mark.parametrize("kept", [LEFT_OUT, REFUSED], ids=["left out", "refused"])
@pytest.mark.parametrize(
    ("field", "ways"),
    [
        ("email", {"plain", "coded", "error", "beside", "with a call"}),
        ("card_number", {"coded", "error", "beside", "with a call"}),
        ("plan", set()),
        ("grade", set()),
    ],
)
def test_what_is_withheld_in_one_call_is_found_elsewhere_by_its_strength(
    kept: ToolCall, field: str, ways: set[str]
) -> None:
    # What was only refused when it was asked for may be public elsewhere.
    assert ways_of(kept, field) == (ways - {"plain"} if kept is REFUSED else ways)


@pytest.mark.parametrize("field", ["email", "card_number"])
def test_what_the_identity_is_shown_plainly_is_public_where_it_was_only_refused(field: str) -> None:
    public = call("list", {"q": "y"}, structured={"x": FIELDS[field]})
    told = elsewhere(FIELDS[field])["coded"]
    assert not found(REFUSED, field, public, told)


@pytest.mark.parametrize(
    ("field", "leaking"),
    [("email", True), ("card_number", True), ("plan", True), ("grade", False)],
)
def test_a_value_alone_in_a_field_of_the_very_call_is_found_in_any_encoding(
    field: str, leaking: bool
) -> None:
    value = FIELDS[field]
    assert found(call(structured={**PERSON, "x": coded(value)}), field) is leaking
    admin = view("admin", call(structured={**PERSON, field: value, "x": coded(value)}))
    clerk = view("clerk", call(structured={**PERSON, "x": coded(value)}))
    names = {leak.field for leak in find_leaks([admin, clerk])}
    # Where the others get the same field beside it, only what nothing else is tells.
    assert (field in names) is (field in ("email", "card_number"))


@pytest.mark.parametrize(
    ("own", "leaking"),
    [({}, True), ({"employee_id": "EMP_0099"}, True), ({"employee_id": "EMP_0042"}, False)],
)
def test_what_is_about_the_identity_itself_is_no_leak(own: dict[str, str], leaking: bool) -> None:
    told = elsewhere(FIELDS["email"])["coded"]
    assert found(LEFT_OUT, "email", told, attributes=own) is leaking


@pytest.mark.parametrize(
    ("record", "leaking"),
    [
        ({"employee_id": "EMP_0042", "name": "Lucia Chen"}, True),
        ({"employee_id": "EMP_0099", "name": "Max Weber"}, False),
        ({"subject": "hello"}, True),
    ],
)
def test_the_value_of_another_record_of_the_same_sort_is_no_leak(
    record: dict[str, str], leaking: bool
) -> None:
    other = call("search", {"q": "x"}, structured={**record, "email": FIELDS["email"]})
    assert found(LEFT_OUT, "email", other) is leaking


@pytest.mark.parametrize(("rows", "leaking"), [(1, True), (2, False)])
def test_a_text_that_several_records_share_tells_nothing_elsewhere(
    rows: int, leaking: bool
) -> None:
    note = "pays late and asks for a discount"
    people = [{"employee_id": f"EMP_{n:04}", "note": note} for n in range(rows)]
    bare = [{"employee_id": person["employee_id"]} for person in people]
    admin = view("admin", call(structured=people))
    told = call("search", {"q": "x"}, structured={"x": note})
    assert bool(find_leaks([admin, view("clerk", call(structured=bare), told)])) is leaking


MAIL = FIELDS["email"]
SEARCHED: dict[str, Any] = {"tool": "search", "arguments": {"q": "x"}}


@pytest.mark.parametrize(
    ("made", "place"),
    [
        (call(**SEARCHED, structured={"x": MAIL}), "the structured result of call 2, search: x"),
        (
            call(**SEARCHED, structured={"of": [{"x": MAIL}]}),
            "the structured result of call 2, search: of[].x",
        ),
        (
            call(**SEARCHED, structured={MAIL: 1}, text="1 found"),
            "the structured result of call 2, search: a name of a field",
        ),
        (
            call(**SEARCHED, structured={"of": [{"by": {MAIL: 1}}]}, text="1 found"),
            "the structured result of call 2, search: a name of a field",
        ),
        (call(**SEARCHED, text=f'{{"x": "{MAIL}"}}'), "the text of call 2, search: x"),
        (
            call(**SEARCHED, text=f'{{"{MAIL}": 1}}'),
            "the text of call 2, search: a name of a field",
        ),
        (call(**SEARCHED, text=f"Ask {coded(MAIL)} now"), "the text of call 2, search"),
        (
            call(**SEARCHED, outcome="tool_error", text=f"Ask {coded(MAIL)} now"),
            "the error text of call 2, search",
        ),
        (
            call(**SEARCHED, outcome="tool_error", text="no", structured={"x": coded(MAIL)}),
            "the structured error of call 2, search: x",
        ),
        (
            replace(call(**SEARCHED), beside=(SideContent(place="its {meta}", text=f"a {MAIL}"),)),
            "its {meta}, with call 2, search",
        ),
        (
            replace(
                call(**SEARCHED),
                beside=(SideContent(place="its meta", text=f'{{"a": ["{MAIL}"]}}'),),
            ),
            "its meta, with call 2, search: a[]",
        ),
    ],
)
def test_the_place_in_a_call_is_named(made: ToolCall, place: str) -> None:
    admin = view("admin", call(structured={**PERSON, "email": MAIL}))
    (leak,) = find_leaks([admin, view("clerk", LEFT_OUT, made)])
    assert (leak.field, leak.place) == ("email", place)


@pytest.mark.parametrize(
    ("tool", "place"),
    [
        ({"title": f"Ask {MAIL}"}, "the list of tools: the title of search"),
        ({"description": f"Ask {MAIL}."}, "the list of tools: the description of search"),
        (
            {"input_schema": {"properties": {"q": {"default": MAIL}}}},
            "the list of tools: the inputSchema of search: properties.q.default",
        ),
        (
            {"output_schema": {"examples": [MAIL]}},
            "the list of tools: the outputSchema of search: examples[]",
        ),
        ({}, None),
    ],
)
def test_the_place_in_the_list_of_tools_is_named(tool: dict[str, Any], place: str | None) -> None:
    given: dict[str, Any] = {"name": "search", "input_schema": {}, **tool}
    admin = view("admin", call(structured={**PERSON, "email": MAIL}))
    clerk = replace(view("clerk", LEFT_OUT), tools=ToolList(tools=(Tool(**given),)))
    assert [leak.place for leak in find_leaks([admin, clerk])] == ([place] if place else [])


@pytest.mark.slow
def test_every_trial_that_is_shown_a_value_has_its_leak_also_where_all_are_shown_the_same() -> None:
    tools = ToolList(tools=(Tool(name="search", description=f"Ask {MAIL}.", input_schema={}),))
    long = SideContent(place="the instructions", text="word " * 250_000)
    admin = view("admin", call(structured={**PERSON, "email": MAIL}))
    clerk = replace(view("clerk", LEFT_OUT, beside=(long,)), tools=tools)
    clerks = [replace(clerk, key=key) for key in "abc"]
    cut = "the instructions: only the first 1,000,000 characters were searched"
    each = [("email", False), (cut, True)]
    found = [(leak.key, leak.field, leak.is_note) for leak in find_leaks([admin, *clerks])]
    assert found == [(key, *told) for key in "abc" for told in each]


@pytest.mark.parametrize("kept", [LEFT_OUT, REFUSED], ids=["left out", "refused"])
@pytest.mark.parametrize(
    ("field", "leaking"), [("email", True), ("card_number", True), ("plan", False)]
)
def test_beside_results_a_value_that_stands_there_plainly_is_found_too(
    kept: ToolCall, field: str, leaking: bool
) -> None:
    aside = SideContent(place="the log", text=f"seen {FIELDS[field]} today")
    assert found(kept, field, beside=(aside,)) is leaking
    made = call("search", {"q": "x"}, text="fine")
    assert found(kept, field, replace(made, beside=(aside,))) is leaking


@pytest.mark.parametrize(
    ("written", "leaking"), [("{}", True), ("see {}", False), ("{} and more", False)]
)
def test_a_value_that_only_tells_has_to_be_all_that_is_encoded(written: str, leaking: bool) -> None:
    told = call(structured={**PERSON, "x": coded(written.format(FIELDS["plan"]))})
    assert found(told, "plan") is leaking


@pytest.mark.parametrize(
    ("field", "coding", "given_too", "leaking"),
    [
        ("email", str, False, True),
        ("email", str, True, False),
        ("email", coded, False, True),
        ("card_number", str, False, True),
        ("card_number", coded, False, True),
        ("plan", coded, False, False),
    ],
)
def test_the_values_of_a_row_that_is_left_out_are_found_in_other_fields_of_the_call(
    field: str, coding: Any, given_too: bool, leaking: bool
) -> None:
    other = {"employee_id": "EMP_0001", "name": "Max Weber", field: "nothing of the sort here"}
    row = {**PERSON, field: FIELDS[field]}
    last = {"last": coding(FIELDS[field])}
    admin = view("admin", call(structured={"rows": [other, row], **(last if given_too else {})}))
    clerk = view("clerk", call(structured={"rows": [other], **last}))
    assert (f"rows[].{field}" in {leak.field for leak in find_leaks([admin, clerk])}) is leaking


@pytest.mark.parametrize(
    ("record", "leaking"),
    [
        ({"employee_id": "EMP_0099", "name": "Max Weber", "contact": MAIL}, True),
        ({"employee_id": "EMP_0099", "name": "Max Weber", "email": MAIL}, False),
        ({"employee_id": "EMP_0042", "name": "Lucia Chen", "contact": MAIL}, True),
    ],
)
def test_another_name_makes_it_no_field_of_another_record(
    record: dict[str, str], leaking: bool
) -> None:
    assert found(LEFT_OUT, "email", call("search", {"q": "x"}, structured=record)) is leaking


@pytest.mark.parametrize("asked", [{}, {"employee_id": "EMP_0042"}])
@pytest.mark.parametrize("record", [{"email": MAIL}, {"employee_id": "EMP_0042", "email": MAIL}])
def test_a_record_is_the_identity_s_own_by_its_ids_or_by_what_was_asked(
    asked: dict[str, str], record: dict[str, str]
) -> None:
    without = {key: value for key, value in record.items() if key != "email"}
    kept = call(arguments=asked, structured=without)
    told = call("search", {"q": "x"}, structured={"x": coded(MAIL)})
    admin = view("admin", call(arguments=asked, structured=record))
    clerk = view("clerk", kept, told, attributes={"employee_id": "EMP_0042"})
    assert bool(find_leaks([admin, clerk])) is ("employee_id" not in {**asked, **record})
