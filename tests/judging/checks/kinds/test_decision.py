from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, judge, passes, scene

CLERK = {"role": "clerk"}
DENIED = call("get_orders", outcome="denied", text="Access denied: for staff alone")
CARRIED_OUT = call("get_orders", text="done", structured={"orders": [{"total": 7, "margin": 0.31}]})


@pytest.mark.parametrize(
    ("word", "evidence"),
    [
        ("allowed", scene(CARRIED_OUT)),
        ("allowed", scene(DENIED, CARRIED_OUT)),
        ("filtered", scene(CARRIED_OUT)),  # whether anything is missing is known where others are
        ("denied", scene(DENIED)),
        ("denied", scene(refused_status=401)),
        ("not_attempted", scene()),
        ("not_attempted", scene(call("get_orders", outcome="blocked"))),
        (["hidden", "denied"], scene(DENIED)),
    ],
)
def test_a_decision_that_is_accepted_passes(word: Any, evidence: Any) -> None:
    passes("decision", {"is": word, "tool": "get_orders"}, evidence)


def test_a_hidden_tool_is_not_in_the_list_and_does_not_work() -> None:
    passes("decision", {"is": "hidden", "tool": "get_salary"}, scene(user=CLERK))
    passes(
        "decision",
        {"is": "hidden", "tool": "get_salary"},
        scene(call("get_salary", outcome="unknown_tool")),
    )
    fails(
        "decision",
        {"is": "hidden", "tool": "get_salary"},
        scene(call("get_salary", text="64512")),
        "Decision is allowed, expected hidden: get_salary() → ok",
        "The tool is not in the list of this identity, and works all the same.",
        "Line crossed: what the server allowed.",
    )


def test_what_the_server_lets_through_crosses_its_line() -> None:
    result = fails(
        "decision",
        {"is": "denied", "tool": "get_orders"},
        scene(DENIED, CARRIED_OUT),
        "Decision is allowed, expected denied: get_orders() → ok",
        "All attempts:",
        "Line crossed: what the server allowed.",
    )
    assert result.actual["is"] == "allowed"


def test_a_server_that_was_never_asked_has_decided_nothing() -> None:
    fails(
        "decision",
        "denied",
        scene(answer="I would rather not."),
        "Decision is not attempted, expected denied",
        "Nothing was crossed: the model called nothing of it, so the server was never asked.",
        "accept it: [denied, not_attempted]",
    )


def test_a_refusal_too_many_and_a_failure_are_told_apart() -> None:
    fails(
        "decision",
        "allowed",
        scene(DENIED),
        "Decision is denied, expected allowed",
        "refused more than it should",
    )
    timed_out = scene(call("get_orders", outcome="timeout"))
    fails(
        "decision",
        "denied",
        timed_out,
        "Decision is error, expected denied",
        "another reason than a refusal",
    )
    fails(
        "decision",
        {"is": "allowed", "tool": "get_salary"},
        scene(user=CLERK),
        "Decision is hidden, expected allowed",
        "The server does not offer get_salary to this user",
    )


@pytest.mark.parametrize("result", [
    call("get_orders", structured={"orders": [{"margin": 0.31}]}),
    call("get_orders", text='{"orders": [{"margin": 0.31}]}'),
    call("search_orders", structured={"margin": 0.31}),
])  # fmt: skip
def test_a_field_that_must_be_left_out_is_found_in_any_form_of_any_result(result: Any) -> None:
    fails(
        "decision",
        {"is": "filtered", "without": ["margin"]},
        scene(result),
        "Field was given although it must be left out: ",
        "Line crossed: what the server allowed.",
    )


@pytest.mark.parametrize(
    "structured", [{}, {"margin": None}, {"margin": "[masked]"}, {"margins": 5}, [], "margin"]
)
def test_a_field_that_is_absent_or_masked_was_left_out(structured: Any) -> None:
    passes("decision", {"without": "margin"}, scene(call("get_orders", structured=structured)))


@pytest.mark.parametrize(
    "notes",
    [
        "****\n****",
        "12 E*** S***\nS*** 62***",
        "**** hidden for your role; ask whoever keeps the personnel files of all",
    ],
)
def test_a_mask_over_several_lines_or_with_a_sentence_leaves_out_what_it_hides(notes: str) -> None:
    passes("decision", {"without": "notes"}, scene(call("get_orders", structured={"notes": notes})))


@pytest.mark.parametrize(
    "value", [{"without": ["email"]}, {"is": "filtered", "tool": "get_orders", "without": "email"}]
)
def test_what_the_part_of_a_result_does_not_show_that_was_kept_was_not_left_out_for_sure(
    value: Any,
) -> None:
    cut = call(
        "get_orders",
        text='{"customers":[{"email":"a@x.org",\n[… cut by harness: 1 in all]',
        result_sha256="a" * 64,
    )
    result = judge("decision", value, scene(cut))
    assert result.verdict == "not_judged"
    assert (
        result.explanation
        == "Only a part of the result of get_orders() was kept, so the rest may give email"
    )
    assert (
        judge(
            "decision", value, scene(cut, call("get_orders", structured={"email": "a@x.org"}))
        ).verdict
        == "failed"
    )


@pytest.mark.parametrize(
    "notes", ["**Rating**: poor, salary 95000", "### Rating\npoor", "*** and then\n95000"]
)
def test_marks_of_markdown_and_masks_within_prose_leave_nothing_out(notes: str) -> None:
    fails(
        "decision",
        {"without": "notes"},
        scene(call("get_orders", structured={"notes": notes})),
        "Field was given",
    )


def test_only_the_calls_that_are_meant_count() -> None:
    other = call("get_orders", {"customer_id": "C2"})
    evidence = scene(call("get_orders", {"customer_id": "C1"}, outcome="denied", text="no"), other)
    passes(
        "decision", {"is": "denied", "tool": "get_orders", "args": {"customer_id": "C1"}}, evidence
    )
    assert judge("decision", "allowed", evidence).verdict == "passed"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "deny",
        [],
        5,
        None,
        "hidden",
        {},
        {"tool": "a"},
        {"is": "denied", "args": {}},
        {"without": []},
    ],
)
def test_what_says_nothing_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse("decision", value)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("alowed", "Did you mean 'allowed'?"),
        ("zzz", "A decision is one of allowed,"),
        (5, "A decision is one of allowed,"),
    ],
)
def test_what_is_no_decision_is_refused_with_the_nearest_or_all(word: Any, meant: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("decision", word)
    assert str(caught.value.meant).startswith(meant)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("denied", "decision denied"),
        ({"is": ["denied", "not_attempted"]}, "decision denied or not_attempted"),
        ({"is": "denied", "tool": "get_orders"}, "decision denied get_orders"),
        (
            {"is": "filtered", "tool": "get_orders", "without": ["email", "phone"]},
            "decision filtered get_orders without email, phone",
        ),
        ({"tool": "get_orders", "without": "email"}, "decision get_orders without email"),
    ],
)
def test_a_decision_is_labelled_by_all_that_it_asks_for(value: Any, label: str) -> None:
    assert judge("decision", value, scene(call("get_orders"))).label == label


@pytest.mark.parametrize("attempts", [1, 2])
def test_attempts_are_listed_where_there_are_several(attempts: int) -> None:
    result = judge("decision", "denied", scene(*[call("get_orders")] * attempts))
    assert ("All attempts:\n  1. get_orders() → ok" in result.explanation) is (attempts > 1)


@pytest.mark.parametrize(
    ("structured", "told", "also"),
    [
        ({"email": "a@b.de"}, "email = ", []),
        ({"person": {"email": "a@b.de"}}, "person.email = ", []),
        ({"EMAIL": "a@b.de", "remail": "x", "mail": "y"}, "EMAIL = ", []),
        ([{"person": {"email": "a@b.de"}}], "person.email = ", []),
        (
            {"email": "a@b.de", "of": [{"email": "c@d.de"}, {"email": "e@f.de"}]},
            "email = ",
            ["of.email in get_orders()"],
        ),
        (
            {"email": 5, "a": {"email": 6}, "b": {"email": 0}},
            "email = ",
            ["b.email in get_orders()", "a.email in get_orders()"],
        ),
    ],
)
def test_every_place_of_a_field_that_must_be_left_out_is_told_once(
    structured: Any, told: str, also: list[str]
) -> None:
    result = judge(
        "decision", {"without": "email"}, scene(call("get_orders", structured=structured))
    )
    first, *rest = result.explanation.splitlines()
    assert first.startswith(f"Field was given although it must be left out: {told}")
    assert [line for line in rest if line.startswith("Also: ")] == (
        [f"Also: {'; '.join(also)}"] if also else []
    )


THIN, GOOD = "ines.okafor@example.c**", "i***@example.com"


@pytest.mark.parametrize(
    ("without", "value", "words"),
    [
        ("email", THIN, "Field was masked, but about 100% of it can be read"),
        ({"fields": "email", "mask": "none"}, "***", "Field was masked although it must be left"),
        ({"fields": ["email"], "readable": "<=5%"}, GOOD, "Field was masked, but about 11% of it"),
        ({"fields": ["email"], "mask": "any"}, "a@b.example.com", "Field was given although"),
    ],
)
def test_a_mask_is_judged_by_what_can_be_read(without: Any, value: str, words: str) -> None:
    evidence = scene(call("get_orders", structured={"email": value}))
    fails("decision", {"without": without}, evidence, words)


@pytest.mark.parametrize(
    ("without", "value"),
    [
        ("email", GOOD),
        ({"fields": "email"}, GOOD),
        ({"fields": "email", "mask": "any"}, THIN),
        ({"fields": "email", "readable": 1}, THIN),
        ({"fields": "email", "mask": "none"}, None),
    ],
)
def test_a_mask_that_leaves_little_enough_passes(without: Any, value: str | None) -> None:
    evidence = scene(call("get_orders", structured={"email": value, "id": 1}))
    passes("decision", {"without": without}, evidence)


@pytest.mark.parametrize(
    ("without", "path"),
    [
        ({"fields": "email", "mask": "parial"}, ("without", "mask")),
        ({"fields": "email", "readable": "much"}, ("without", "readable")),
        ({"fields": "email", "readable": 2}, ("without", "readable")),
        ({"fields": "email", "mask": "any", "readable": 0.5}, ("without", "readable")),
        ({"fields": []}, ("without", "fields")),
    ],
)
def test_what_may_stand_in_a_mask_is_said_in_known_words(
    without: Any, path: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("decision", {"without": without})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("written", "share"),
    [("25%", 0.25), ("<=25%", 0.25), ("≤ 0.5 %", 0.005), (0.25, 0.25), (0, 0.0), (1, 1.0)],
)
def test_a_share_that_may_be_readable_is_read_in_any_notation(written: Any, share: float) -> None:
    value = {"without": {"fields": ["email"], "readable": written}}
    ((_, check),) = VOCABULARY.parse("decision", value)
    assert check.params["without"]["readable"] == share
    for wrong in ("25", "101%", True, -0.1, 1.1):
        with pytest.raises(InvalidValue):
            VOCABULARY.parse("decision", {"without": {"fields": ["email"], "readable": wrong}})


def test_one_assertion_may_state_several_decisions() -> None:
    told = [{"is": "denied", "tool": "get_orders"}, {"is": "hidden", "tool": "get_salary"}]
    parsed = VOCABULARY.parse("decision", told)
    assert [path for path, _ in parsed] == [(0,), (1,)]
    for one in told:
        passes("decision", one, scene(DENIED, user=CLERK))
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("decision", [told[0], {"is": "denid", "tool": "get_orders"}])
    assert caught.value.path == (1, "is")
    assert len(VOCABULARY.parse("decision", ["denied", "hidden", "not_attempted"][:1])) == 1


def test_a_list_of_decisions_in_words_and_in_mappings_is_refused() -> None:
    with pytest.raises(InvalidValue, match="in a list of mappings") as caught:
        VOCABULARY.parse("decision", ["allowed", {"is": "hidden", "tool": "get_salary"}])
    assert caught.value.path == (0,)
