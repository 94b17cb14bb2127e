"""What should be remembered, and the share of turns that must be right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.judging.checks.kinds.memory import MEASURES, measure_recall, normalise_words, occurs_in
from harness.types import (
    AssistantMessage,
    Case,
    Check,
    CheckResult,
    Reply,
    ToolList,
    Transcript,
    Turn,
    Usage,
    UserMessage,
)
from tests.judging.checks.scenes import call, fails, judge, passes, scene


@pytest.mark.parametrize(
    ("words", "compared"),
    [
        ("The Tin  Lighthouse!", "tin lighthouse"),
        ("an apple, A day", "apple day"),
        ("“Nadia” — Brandt", "nadia brandt"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("it's $5.00", "its 500"),
        ("Straße", "strasse"),
        ("then another", "then another"),
    ],
)
def test_answers_are_compared_without_case_punctuation_articles_and_spaces(
    words: str, compared: str
) -> None:
    assert normalise_words(words) == compared


@given(st.text())
def test_normalising_twice_changes_nothing(words: str) -> None:
    once = normalise_words(words, articles=True)
    assert normalise_words(once, articles=True) == once


@given(st.text(min_size=1), st.text(), st.text())
def test_a_text_occurs_wherever_it_stands_between_lines(
    wanted: str, before: str, after: str
) -> None:
    assert occurs_in(wanted, f"{before}\n{wanted}\n{after}") or not normalise_words(
        wanted, articles=True
    )


def test_any_accepted_answer_in_the_answer_will_do() -> None:
    passes("remembers", "Lisbon", scene(answer="She lives in **lisbon**."))
    passes("remembers", ["Lissabon", "Lisbon"], scene(answer="In Lisbon, I think."))
    result = judge("remembers", {"answers": ["Lisbon"]}, scene(answer="In Lisbon."))
    assert result.score == 1.0
    fails(
        "remembers",
        ["Lissabon", "Lisbon"],
        scene(answer="In Porto."),
        'Answer does not hold what should be remembered: any of "Lissabon", "Lisbon"',
        "The answer is: “In Porto.”",
        "whether it was stored when it was told",
    )


def test_the_whole_answer_may_have_to_be_it() -> None:
    value = {"answers": ["Lisbon"], "by": "exact"}
    passes("remembers", value, scene(answer="The Lisbon."))
    result = fails(
        "remembers",
        value,
        scene(answer="It is Lisbon."),
        "Answer is not exactly",
        "among other words",
    )
    assert result.score == 0.0


def test_recall_is_the_share_of_the_listed_answers() -> None:
    value = {
        "answers": ["Nine Winters", "The Salt Ledger", "Moss"],
        "by": "recall",
        "at_least": 0.6,
    }
    there = scene(answer="nine winters; salt ledger")
    passes("remembers", value, there)
    assert judge("remembers", value, there).score == pytest.approx(2 / 3)
    fails(
        "remembers",
        value | {"at_least": 0.7},
        there,
        "Not everything is remembered: 2 of 3 (recall 0.67, at least 0.70 expected); missing: "
        '"Moss"',
    )


def test_what_is_nothing_but_an_article_is_compared_with_its_articles() -> None:
    passes("remembers", {"answers": "A", "by": "exact"}, scene(answer="a."))
    fails(
        "remembers", {"answers": "A", "by": "exact"}, scene(answer="The"), "Answer is not exactly"
    )
    fails(
        "remembers",
        {"answers": "A", "by": "exact"},
        scene(answer=""),
        "Answer is not exactly",
        "There is no answer.",
    )


def test_an_answer_that_was_found_and_not_said_is_told_apart() -> None:
    found = scene(call("retrieve", text="Ann lives in Lisbon"), answer="I do not know.")
    fails("remembers", "Lisbon", found, "Answer does not hold", "The last tool result held it")


def test_of_several_answers_one_that_was_found_or_said_among_others_is_told_too() -> None:
    found = scene(call("retrieve", text="Ann lives in Lisbon"), answer="I do not know.")
    fails("remembers", ["Lissabon", "Lisbon"], found, "Answer does not", "The last tool result")
    value = {"answers": ["Lissabon", "Lisbon"], "by": "exact"}
    fails("remembers", value, scene(answer="In Lisbon."), "Answer is not", "among other words")


def test_a_failure_may_be_a_warning() -> None:
    result = judge("remembers", {"answers": ["x"], "severity": "warn"}, scene(answer="y"))
    assert (result.verdict, result.severity) == ("failed", "warn")


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        ("", (), "this answer is empty"),
        (5, (), "this is a number where a list of answers belongs"),
        ([], (), "this is a list where a list of answers belongs"),
        (["x", "?!"], (1,), 'nothing is left of "?!" without punctuation'),
        ({"by": "exact"}, (), "'answers' is missing"),
        (
            {"answers": ["x"], "by": "f1"},
            ("by",),
            'by is one of substring, exact, recall, not "f1"',
        ),
        ({"answers": ["x", ""]}, ("answers", 1), "this answer is empty"),
        (
            {"answers": ["x"], "at_least": 0},
            ("at_least",),
            "expected a share above 0 and up to 1, found 0",
        ),
        (
            {"answers": ["x"], "at_least": 80},
            ("at_least",),
            "expected a share above 0 and up to 1, found 80",
        ),
        ({"answers": ["x"], "atleast": 1}, ("atleast",), "unknown key 'atleast'"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(
    value: Any, path: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("remembers", value)
    assert (caught.value.path, caught.value.message) == (path, said)


@given(st.lists(st.text(min_size=1), min_size=1), st.text())
def test_a_score_is_always_a_share(answers: list[str], answer: str) -> None:
    for by in MEASURES:
        assert 0 <= measure_recall(answers, by, answer).score <= 1


# ── A share of the turns ─────────────────────────────────────────────────────────────────────


UNPRICED = Usage(cost_usd=None)


def conversation(
    answers: list[str], expected: list[str], at_least: Any, *, told: int = 1
) -> Evidence:
    """Return a case of one told chunk and a question for each expected answer."""

    def checks(kind: str, value: Any) -> tuple[Check, ...]:
        return tuple(check for _, check in VOCABULARY.parse(kind, value))

    turns = (
        *[Turn(prompt="Remember this.", fresh=True, ingest=True)] * told,
        *(
            Turn(prompt=f"Question about {one}?", fresh=True, checks=checks("remembers", one))
            for one in expected
        ),
    )
    said = [*["Noted."] * told, *answers]
    messages = tuple(
        message
        for turn, answer in zip(turns, said, strict=False)
        for message in (UserMessage(text=turn.prompt), AssistantMessage(reply=Reply(text=answer)))
    )
    case = Case(name="c", prompt="p", checks=checks("turns_passed", at_least), turns=turns)
    return Evidence(
        case=case,
        transcript=Transcript(messages=messages, answer=said[-1]),
        tools=ToolList(tools=()),
    )


def judged(evidence: Evidence) -> tuple[CheckResult, ...]:
    return anyio.run(evaluate_checks, evidence)


def test_a_wrong_turn_does_not_decide_where_a_share_does() -> None:
    *turns, whole = judged(conversation(["red", "no idea", "blue"], ["red", "green", "blue"], 0.6))
    assert [(result.verdict, result.severity) for result in turns] == [
        ("passed", "fail"),
        ("failed", "warn"),
        ("passed", "fail"),
    ]
    assert [result.label.partition(":")[0] for result in turns] == [
        "question 1",
        "question 2",
        "question 3",
    ]
    assert (whole.verdict, whole.explanation) == ("passed", "")
    assert whole.score == pytest.approx(2 / 3)
    assert whole.actual["wrong"] == [
        {
            "turn": 3,
            "question": "Question about green?",
            "why": 'Answer does not hold what should be remembered: "green"',
        }
    ]


def test_too_few_right_turns_fail_and_each_wrong_one_is_named() -> None:
    whole = judged(
        conversation(["red", "no idea", "no"], ["red", "green", "blue"], {"at_least": 0.9})
    )[-1]
    assert whole.verdict == "failed"
    assert whole.explanation.splitlines() == [
        "Too few turns are right: 1 of 3 (score 0.33, at least 0.90 expected)",
        "question 2: Question about green?",
        "question 3: Question about blue?",
    ]


def test_of_fifty_wrong_turns_each_is_named_although_an_explanation_is_cut() -> None:
    words = [f"word{number}" for number in range(50)]
    whole = judged(conversation(["no"] * 50, words, 0.9))[-1]
    assert all(f"question {number}" in whole.explanation for number in range(1, 51))


def test_a_turn_that_never_came_is_wrong() -> None:
    whole = judged(conversation(["red"], ["red", "green"], 1))[-1]
    assert (whole.verdict, whole.score) == ("failed", 0.5)
    assert whole.actual["wrong"][0]["why"].startswith("This turn never came")


def test_without_a_share_every_turn_decides() -> None:
    evidence = conversation(["red", "no"], ["red", "green"], {"at_least": 0.5, "severity": "warn"})
    results = judged(evidence)
    assert [(result.verdict, result.severity) for result in results] == [
        ("passed", "fail"),
        ("failed", "fail"),
        ("passed", "warn"),
    ]


def test_a_share_of_no_turns_is_not_judged() -> None:
    result = judge("turns_passed", 0.5, scene(answer="x"))
    assert (result.verdict, result.score) == ("not_judged", None)
    assert "No turn of this case is checked" in result.explanation


def test_a_turn_that_could_not_be_judged_counts_only_where_it_decides() -> None:
    cost = tuple(check for _, check in VOCABULARY.parse("max_cost", 1))
    for at_least, verdict in ((0.5, "passed"), (1, "not_judged")):
        evidence = conversation(["red", "green"], ["red", "green"], at_least)
        first, second = evidence.case.turns[1:]
        turns = (evidence.case.turns[0], first, Turn(prompt=second.prompt, checks=cost))
        unknown = Case(name="c", prompt="p", checks=evidence.case.checks, turns=turns)
        no_price = Transcript(
            messages=tuple(
                AssistantMessage(reply=Reply(text=message.reply.text, usage=UNPRICED))
                if isinstance(message, AssistantMessage)
                else message
                for message in evidence.transcript.messages
            ),
            answer="green",
            usage=UNPRICED,
        )
        whole = judged(Evidence(case=unknown, transcript=no_price, tools=evidence.tools))[-1]
        assert whole.verdict == verdict
        assert whole.score == (None if verdict == "not_judged" else 0.5)


@pytest.mark.parametrize(
    ("value", "path"), [(0, ()), (2, ()), ("x", ()), ({"at_least": -1}, ("at_least",)), ({}, ())]
)
def test_a_share_is_above_0_and_up_to_1(value: Any, path: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("turns_passed", value)
    assert caught.value.path == path


@pytest.mark.parametrize(("missing", "more"), [(12, ""), (13, " and 1 more"), (15, " and 3 more")])
def test_the_first_twelve_that_are_missing_are_named_and_the_others_counted(
    missing: int, more: str
) -> None:
    words = [f"w{place:02}" for place in range(missing)]
    told = fails(
        "remembers",
        {"answers": words, "by": "recall"},
        scene(answer="no"),
        "Not everything is remembered",
    )
    named = ", ".join(f'"{word}"' for word in words[:12])
    assert told.explanation.splitlines()[0].endswith(f"missing: {named}{more}")


@pytest.mark.parametrize(
    ("answers", "at_least", "verdict"),
    [(["a1", "b1"], 1, "passed"), (["a1", "no"], 0.5, "passed"), (["a1", "no"], 0.51, "failed")],
)
def test_exactly_the_share_is_enough(answers: list[str], at_least: float, verdict: str) -> None:
    assert judged(conversation(answers, ["a1", "b1"], at_least))[-1].verdict == verdict


@pytest.mark.parametrize(("wrong", "listed"), [(12, False), (13, True)])
def test_more_than_twelve_wrong_turns_are_named_in_one_line_first(wrong: int, listed: bool) -> None:
    whole = judged(conversation(["no"] * wrong, [f"w{n}x" for n in range(wrong)], 1))[-1]
    lines = whole.explanation.splitlines()
    assert lines[1].startswith("Wrong: question 1, question 2,") is listed
    assert lines[1 + listed].startswith("question 1: ")


@pytest.mark.parametrize("at_least", [0.001, 1])
def test_any_share_above_0_and_up_to_1_may_be_asked_for(at_least: float) -> None:
    ((_, check),) = VOCABULARY.parse("turns_passed", at_least)
    assert check.params == {"at_least": at_least}


def test_who_writes_a_percentage_is_told_how_a_share_is_written() -> None:
    for value, meant in ((80, "Write 80 % as 0.8."), (1.01, "Write 80 % as 0.8."), (0, None)):
        with pytest.raises(InvalidValue) as caught:
            VOCABULARY.parse("turns_passed", value)
        assert caught.value.meant == meant


def test_only_the_last_tool_result_says_that_the_model_had_it() -> None:
    made = scene(call("find", text="Lisbon"), call("find", text="nothing"), answer="I do not know.")
    fails("remembers", "Lisbon", made, "Answer does not hold", "See in the transcript")


def test_what_only_warns_in_a_turn_makes_no_turn_wrong() -> None:
    evidence = conversation(["red", "green"], ["red", "green"], 1)
    ((_, other),) = VOCABULARY.parse("remembers", "blue")
    warned = tuple(
        replace(turn, checks=(*turn.checks, replace(other, severity="warn")))
        for turn in evidence.case.turns
    )
    whole = judged(replace(evidence, case=replace(evidence.case, turns=warned)))[-1]
    assert (whole.verdict, whole.score) == ("passed", 1)


@pytest.mark.parametrize(
    ("by", "answer", "among"),
    [
        ("exact", "It is Lisbon.", True),
        ("exact", "It is Oslo.", False),
        ("recall", "It is Lisbon.", False),
        ("substring", "It is Oslo.", False),
    ],
)
def test_a_value_among_other_words_is_told_where_it_must_stand_alone(
    by: str, answer: str, among: bool
) -> None:
    value = {"answers": ["Lisbon", "Rome"], "by": by, "at_least": 1}
    hint = judge("remembers", value, scene(answer=answer)).hint
    assert str(hint).startswith("It stands in the answer among other words") is among
