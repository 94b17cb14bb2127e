from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, judge, judge_all, passes, scene

# ── answer_contains ──────────────────────────────────────────────────────────────────────────


def test_a_text_is_found_in_any_case_and_through_emphasis() -> None:
    for result in judge_all(
        "answer_contains",
        ["Customer satisfaction", "98%"],
        scene(answer="CUSTOMER\n**satis**faction: **98**%"),
    ):
        assert result.verdict == "passed"


def test_a_missing_text_is_told_with_its_nearest_passage() -> None:
    made = scene(
        call("get_orders", text="x"),
        answer="We found 97 percent satisfaction in May, which is fine.",
    )
    result = fails(
        "answer_contains",
        ["98 percent satisfaction"],
        made,
        'Answer does not contain expected text: "98 percent satisfaction"\n'
        "Nearest passage: “We found 97 percent satisfaction in May",
        "No tool returned it either, in 1 call.",
        "whether the expected text is out of date",
    )
    assert result.expected == {"contains": "98 percent satisfaction"}
    assert result.actual == made.transcript.answer


def test_a_text_unlike_anything_is_told_with_how_the_answer_begins() -> None:
    fails(
        "answer_contains", ["zebra"], scene(answer="Hello."), "Answer does", "it begins: “Hello.”"
    )


def test_an_answer_without_any_call_came_from_memory() -> None:
    fails(
        "answer_contains",
        ["zebra"],
        scene(answer="A horse."),
        'Answer does not contain expected text: "zebra"',
        "No tool was called: the model answered from memory.",
        "Ask for data that only a tool can know",
    )


def test_a_text_that_a_tool_returned_was_not_passed_on() -> None:
    fails(
        "answer_contains",
        ["Ann Smith"],
        scene(
            call("get_orders", {"id": 1}, text='{"name": "Ann Smith"}'),
            answer="I found a customer.",
        ),
        "Answer does not contain",
        'get_orders({"id": 1}) returned it: “{"name": "Ann Smith"}”',
        "The model had the text and did not pass it on",
    )


def test_a_failed_call_is_named_as_a_likely_cause() -> None:
    fails(
        "answer_contains",
        ["Ann Smith"],
        scene(call("get_orders", outcome="timeout"), answer="Something went wrong."),
        "Answer does not contain",
        "A call failed: get_orders() → no answer in time",
        "See first why the call failed",
    )


def test_words_that_stand_apart_are_told_so() -> None:
    fails(
        "answer_contains",
        ["customer satisfaction"],
        scene(call("get_orders"), answer="The satisfaction of each customer is high."),
        "Answer does not contain",
        "All its words stand in the answer, but not next to each other.",
        "use answer_matches",
    )


def test_a_number_in_another_notation_leads_to_answer_number() -> None:
    fails(
        "answer_contains",
        ["$1,200"],
        scene(answer="It costs 1.2k dollars."),
        'Answer does not contain expected text: "$1,200"\nThe same number stands there in another '
        "notation: “1.2k”",
        "Use answer_number: 1200",
    )


def test_an_answer_that_declines_is_told_so() -> None:
    fails(
        "answer_contains",
        ["Bob"],
        scene(answer="I'm sorry, but I cannot share that."),
        "Answer does not contain",
        "The model declined: “I'm sorry, but I cannot share that.”",
        "`refuses: true`",
    )


def test_no_answer_is_told_with_how_the_conversation_ended() -> None:
    fails(
        "answer_contains",
        ["Ann"],
        scene(stop="reply_limit"),
        'Answer does not contain expected text: "Ann"\n'
        "There is no answer: the conversation ended at the limit of replies.",
        "the model stopped before it answered",
    )


# ── answer_not_contains ──────────────────────────────────────────────────────────────────────


def test_an_answer_without_the_text_passes() -> None:
    passes("answer_not_contains", ["error"], scene(answer="All is well."))
    passes("answer_not_contains", ["error"], scene(answer=""))


def test_a_forbidden_text_is_told_with_its_place_and_its_source() -> None:
    fails(
        "answer_not_contains",
        ["555-1234"],
        scene(
            call("get_orders", text='{"phone": "555-1234"}'), answer="Her phone is **555**-1234."
        ),
        'Answer contains forbidden text: "555-1234"\nIt stands here: “Her phone is 555-1234.”\n'
        'It came from get_orders(), which returned: “{"phone": "555-1234"}”',
        "the server's policy has to mask",
    )


def test_a_forbidden_text_that_the_prompt_has_is_told_so() -> None:
    fails(
        "answer_not_contains",
        ["error"],
        scene(prompt="Was there an Error?", answer="No error."),
        'Answer contains forbidden text: "error"',
        "the prompt itself contains it",
        "Forbid a text that only a wrong answer holds",
    )


def test_a_forbidden_text_from_nowhere_was_written_by_the_model() -> None:
    fails(
        "answer_not_contains",
        ["42"],
        scene(answer="It is 42."),
        "Answer contains",
        "No tool returned it: the model wrote",
    )


# ── answer_contains_any ──────────────────────────────────────────────────────────────────────


def test_one_of_several_texts_is_enough() -> None:
    passes(
        "answer_contains_any", ["not found", "no such"], scene(answer="There is no such customer.")
    )


def test_none_of_several_texts_is_told() -> None:
    fails(
        "answer_contains_any",
        ["not found", "no such"],
        scene(answer="Hello."),
        'Answer does not contain expected text: any of "not found", "no such"\nNothing in the '
        "answer is similar",
    )


# ── answer_equals ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("answer", ["Paris", " paris\n", "**Paris**"])
def test_an_answer_that_is_the_text_passes(answer: str) -> None:
    passes("answer_equals", "Paris", scene(answer=answer))


def test_more_than_the_text_is_told() -> None:
    fails(
        "answer_equals",
        "Paris",
        scene(answer="It is Paris."),
        'Answer is not the expected text: "Paris"\nThe text stands in the answer, among other '
        "words: “It is Paris.”",
        "or use answer_contains",
    )
    fails(
        "answer_equals",
        "Paris",
        scene(answer="Rome"),
        'Answer is not the expected text: "Paris"',
        "begins: “Rome”",
    )


# ── answer_matches ───────────────────────────────────────────────────────────────────────────


def test_a_pattern_is_searched_for_in_the_answer() -> None:
    passes("answer_matches", [r"\b\d{4}-\d{2}\b"], scene(answer="Since 2024-05."))


def test_a_pattern_that_does_not_match_is_told_with_what_helps() -> None:
    fails(
        "answer_matches",
        ["PARIS.*france"],
        scene(answer="Paris\nFrance"),
        "Answer does not match expected pattern: PARIS.*france\nIt begins: “Paris France”",
        "begin the pattern with (?is)",
    )
    fails(
        "answer_matches",
        ["^x"],
        scene(answer="Paris"),
        "Answer does not match",
        "relax the pattern",
    )
    fails("answer_matches", ["^x"], scene(), "Answer does not match", "There is no answer.")


# ── reading ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "value", "path", "said", "meant"),
    [
        ("answer_contains", [98], (0,), "this is a number where a text belongs", 'Quote it: "98".'),
        ("answer_contains", ["a", ""], (1,), "this text is empty", ""),
        ("answer_contains", ["\u200b"], (0,), "this text is empty", ""),
        ("answer_contains", [None], (0,), "this is empty where a text belongs", ""),
        ("answer_contains", [{"text": 5}], (0, "text"), "this is a number", ""),
        (
            "answer_contains",
            {"texts": "a"},
            ("texts",),
            "unknown key 'texts'",
            "Did you mean 'text'?",
        ),
        ("answer_not_contains", None, (), "there is no value", ""),
        ("answer_contains_any", [], (), "this is a list where a list of texts belongs", ""),
        ("answer_contains_any", ["a", 5], (1,), "this is a number", ""),
        ("answer_contains_any", {"texts": [5]}, ("texts", 0), "this is a number", ""),
        ("answer_equals", ["a"], (), "this is a list where a text belongs", ""),
        ("answer_matches", ["("], (0,), "missing )", ""),
        (
            "answer_matches",
            {"pattern": "(?=x)"},
            ("pattern",),
            "invalid perl operator",
            "Look-ahead",
        ),
        ("answer_matches", {"regex": "x"}, ("regex",), "unknown key", "Did you mean 'pattern'?"),
        ("answer_matches", 5, (), "this is a number where a regular expression belongs", ""),
    ],
)
def test_a_mistake_is_named_with_its_place(
    kind: str, value: Any, path: Any, said: str, meant: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse(kind, value)
    assert caught.value.path == path
    assert said in caught.value.message
    assert meant in (caught.value.meant or "")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("answer_contains", [{"text": "x", "severity": "warn"}]),
        ("answer_not_contains", {"text": "Hello", "severity": "warn"}),
        ("answer_contains_any", {"texts": ["x"], "severity": "warn"}),
        ("answer_equals", {"text": "x", "severity": "warn"}),
        ("answer_matches", {"pattern": "x", "severity": "warn"}),
    ],
)
def test_the_long_form_carries_a_severity(kind: str, value: Any) -> None:
    result = judge(kind, value, scene(answer="Hello."))
    assert (result.verdict, result.severity) == ("failed", "warn")


@pytest.mark.parametrize(
    ("wanted", "answer", "number"),
    [
        ("1234.5", "It is 1,234.5 then.", "1234.5"),
        ("1234", "It is 1,234 then.", "1234"),
        ("12%", "It is 12 %", "12"),
    ],
)
def test_a_number_in_another_notation_is_told_with_the_check_that_accepts_it(
    wanted: str, answer: str, number: str
) -> None:
    fails(
        "answer_contains",
        [wanted],
        scene(answer=answer),
        "Answer does not contain",
        f"answer_number: {number} to",
    )


def test_an_answer_is_kept_up_to_two_thousand_characters() -> None:
    assert judge("answer_contains", "x", scene(answer="x" * 2_000)).actual == "x" * 2_000
    assert judge("answer_contains", "x", scene(answer="x" * 2_001)).actual == "x" * 1_999 + "…"


@pytest.mark.parametrize(("calls", "told"), [(1, "in 1 call."), (2, "in 2 calls.")])
def test_a_text_that_no_tool_returned_is_told_with_how_many_were_asked(
    calls: int, told: str
) -> None:
    made = scene(*[call("weather", text="sunny")] * calls, answer="It rains.")
    fails(
        "answer_contains",
        "98 orders",
        made,
        "Answer does not contain",
        f"No tool returned it either, {told}",
    )


@pytest.mark.parametrize(
    ("wanted", "apart"), [("ann lives here", True), ("ann", False), ("ann lives nowhere", False)]
)
def test_words_that_stand_apart_are_told_as_such(wanted: str, apart: bool) -> None:
    made = scene(
        call("weather"), answer="Here is what lives: Ann-Sophie." if wanted != "ann" else "Nobody."
    )
    result = judge("answer_contains", wanted, made)
    assert ("All its words stand in the answer" in result.explanation) is apart


def test_the_first_two_sources_of_a_forbidden_text_are_told() -> None:
    made = scene(
        *[call("weather", {"n": place}, text="secret") for place in range(3)], answer="secret"
    )
    told = judge("answer_not_contains", "secret", made).explanation
    assert [f'weather({{"n": {place}}})' in told for place in range(3)] == [True, True, False]
