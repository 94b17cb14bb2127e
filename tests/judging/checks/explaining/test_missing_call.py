"""A conversation without any call: what distinguishes a question back or a limit from memory."""

from __future__ import annotations

import pytest

from harness.judging.checks.explaining.missing_call import (
    explain_no_calls,
    find_stated_limit,
    hint_without_calls,
)
from harness.types import AssistantMessage, Reply
from tests.judging.checks.scenes import call, fails, scene


@pytest.mark.parametrize(
    "answer",
    [
        "I need to know the customer id to do this.",
        "Could you please tell me the customer's id?",
        "Sure! Please provide the order number.",
        "I found several. Which customer do you mean?",
        "To look that up I need the order's number first. What is it?",
        "Let me know which of the two stores you want.",
    ],
)
def test_who_asks_back_did_not_answer_from_memory(answer: str) -> None:
    result = fails(
        "must_call",
        ["get_orders"],
        scene(answer=answer),
        "Expected call not found",
        "the model asked back: “",
    )
    assert "memory" not in f"{result.explanation}{result.hint}"
    assert result.hint is not None
    assert result.hint.startswith("Say in the prompt what the model asks for.")


@pytest.mark.parametrize(
    "answer",
    [
        "They ordered three lamps. What else can I help you with?",
        "Paris is the capital, which lies on the Seine.",
        "Let me know if that helps.",
        "They ordered what they need to know the weather.",
    ],
)
def test_an_answer_that_ends_politely_is_still_from_memory(answer: str) -> None:
    fails(
        "must_call",
        ["get_orders"],
        scene(answer=answer),
        "Expected call not found",
        "answered from memory",
    )


def test_who_says_that_there_is_no_tool_did_not_answer_from_memory() -> None:
    made = scene(answer="I could not find a tool for this.")
    result = fails(
        "must_call",
        ["get_orders"],
        made,
        "Expected call not found",
        "says that it has none for this",
    )
    assert (
        result.hint
        == "Say in the description of the tool what it is for, in the words that people use."
    )


@pytest.mark.parametrize("kind", ["must_call", "must_succeed", "must_call_any", "answer_contains"])
def test_a_limit_of_the_model_is_told_as_one_and_no_description_is_blamed(kind: str) -> None:
    said = AssistantMessage(
        reply=Reply(text="That is beyond me.", beyond="build lists of objects, which items takes")
    )
    result = fails(
        kind,
        ["get_orders"],
        scene(answer="That is beyond me.", messages=(said,)),
        "",
        "No tool was called: it is beyond this model, which cannot build lists of objects, which "
        "items takes.",
        "Use another model, with --model",
    )
    assert "description of" not in str(result.hint)


def test_a_limit_of_the_model_is_told_also_where_it_did_the_rest() -> None:
    said = AssistantMessage(
        reply=Reply(text="That is beyond me.", beyond="write SQL, which query takes")
    )
    made = scene(call("get_orders"), answer="Three. That is beyond me.", messages=(said,))
    fails("must_call", ["weather"], made, "Expected call", "cannot write SQL", "its own limit")
    fails(
        "must_call",
        ["search_orders"],
        made,
        "Expected call",
        "cannot write SQL",
        "its own limit",
    )


@pytest.mark.parametrize(
    ("size", "said"), [(2_000, "says that it has none"), (2_001, "answered from memory")]
)
def test_the_last_two_thousand_characters_of_an_answer_are_read(size: int, said: str) -> None:
    made = scene(answer="cannot find a tool.".ljust(size, "."))
    assert said in explain_no_calls(made.transcript)
    assert (hint_without_calls(made.transcript, "other") == "other") == (size > 2_000)


def test_marks_of_emphasis_do_not_hide_what_is_said() -> None:
    for answer in (
        "I **cannot find** a `tool`.",
        "I __cannot__ find a tool.",
        "`No`: I **have no** `tool`.",
    ):
        assert "says that it has none" in explain_no_calls(scene(answer=answer).transcript)
    asked = scene(answer="__Which__ customer do you **mean**?").transcript
    assert "the model asked back" in explain_no_calls(asked)


@pytest.mark.parametrize(
    "answer", ["I cannot find a tool.", "Which customer do you mean?", "Three lamps."]
)
def test_words_that_were_cut_off_are_no_question_and_no_missing_tool(answer: str) -> None:
    made = scene(answer=answer, stop="reply_limit").transcript
    assert (
        explain_no_calls(made)
        == "No tool was called; the conversation ended at the limit of replies."
    )
    assert hint_without_calls(made, "other") == "other"


def test_of_several_replies_the_last_one_tells_the_limit() -> None:
    first, last = (
        AssistantMessage(reply=Reply(text="x", beyond=beyond)) for beyond in ("write SQL", None)
    )
    assert find_stated_limit(scene(messages=(first, last)).transcript) is None
    assert find_stated_limit(scene(messages=(last, first)).transcript) == "write SQL"
    assert find_stated_limit(scene().transcript) is None
