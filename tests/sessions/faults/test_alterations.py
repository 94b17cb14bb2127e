"""What each kind of fault makes of an answer."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from harness.sessions.faults.alterations import AlteredAnswer, alter_answer
from harness.types import FAILING, FaultKind, ToolCall

ORDER = {"order_id": "A1", "status": "open", "total": 129.9, "placed": "2026-08-01", "paid": False}
ROWS = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}, {"id": 3, "name": "Cem"}]
ALTERING = sorted(set(get_args(FaultKind)) - FAILING - {"slow"})


def answered(text: str, structured: Any = None, *, reply: int = 1, **arguments: Any) -> ToolCall:
    return ToolCall(
        tool="get",
        arguments=arguments,
        outcome="ok",
        reply=reply,
        text=text,
        structured=structured,
    )


def alter(kind: FaultKind, call: ToolCall, *earlier: ToolCall, seed: int = 0) -> AlteredAnswer:
    altered = alter_answer(kind, call, earlier, seed)
    assert altered is not None
    return altered


def test_nothing_is_left_and_half_of_a_text() -> None:
    call = answered(json.dumps(ORDER), ORDER)
    assert alter("empty", call) == AlteredAnswer("")
    assert alter("truncated", call) == AlteredAnswer(call.text[: len(call.text) // 2])


@pytest.mark.parametrize("text", [json.dumps(ORDER), json.dumps(ROWS, indent=2), "[]"])
def test_corrupt_json_no_longer_parses(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(alter("corrupt", answered(text)).text)


def test_corrupt_prose_has_broken_characters() -> None:
    assert alter("corrupt", answered("Room 4 is free.")).text == "Roo\ufffd 4 is \ufffdree."


@pytest.mark.parametrize(
    ("text", "structured", "kept"),
    [
        (json.dumps(ROWS), ROWS, (json.dumps(ROWS[:1]), ROWS[:1])),
        (
            json.dumps({"rows": ROWS, "count": 3}),
            None,
            (json.dumps({"rows": ROWS[:1], "count": 3}), None),
        ),
        # As SDKs send a list: one text for each item, and the list as structured content.
        (
            "\n".join(map(json.dumps, ROWS)),
            {"result": ROWS},
            (json.dumps(ROWS[0]), {"result": ROWS[:1]}),
        ),
        ("one\ntwo\nthree\nfour", None, ("one\ntwo", None)),
    ],
)
def test_the_first_rows_are_kept(text: str, structured: Any, kept: tuple[str, Any]) -> None:
    altered = alter("partial", answered(text, structured))
    assert (altered.text, altered.structured) == kept


def test_one_field_has_another_name_in_text_and_structured_content() -> None:
    altered = alter("schema_drift", answered(json.dumps(ORDER), ORDER))
    told = json.loads(altered.text)
    assert told == altered.structured
    assert len(told.keys() - ORDER.keys()) == 1
    assert list(told.values()) == list(ORDER.values())


def test_a_compound_name_changes_its_case() -> None:
    assert json.loads(alter("schema_drift", answered('{"order_id": 1}')).text) == {"orderId": 1}
    assert alter("schema_drift", answered("Status: open")).text == "Status_value: open"


def test_a_stale_answer_is_the_last_one_of_the_tool() -> None:
    first, other = (
        answered("first"),
        ToolCall(tool="other", arguments={}, outcome="ok", reply=2, text="other"),
    )
    assert alter("stale", answered("now"), first, other).text == "first"
    assert alter("stale", answered("now"), other).text == "other"
    assert alter_answer("stale", answered("now"), [], 0) is None
    assert alter_answer("stale", answered("same"), [answered("same")], 0) is None


def test_a_wrong_record_is_another_one_or_has_other_values_than_those_asked_for() -> None:
    other = answered('{"order_id": "B2"}', order_id="B2")
    call = answered(json.dumps(ORDER), ORDER, order_id="A1")
    assert alter("wrong", call, other).text == other.text
    told = json.loads(alter("wrong", call).text)
    assert told == alter("wrong", call).structured
    assert told["order_id"] == "A1"
    assert {key for key in ORDER if told[key] != ORDER[key]} == {"total", "placed", "paid"}


def test_wrong_prose_has_other_numbers_and_dates() -> None:
    told = alter("wrong", answered("Order A1: 3 items, 12.50 EUR, due 2026-08-01.", id="A1")).text
    assert told.startswith("Order A1: ")
    assert "3 items" not in told
    assert "12.50" not in told
    assert "2026-08-01" not in told


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("partial", json.dumps(ORDER)),
        ("schema_drift", "nothing here"),
        ("wrong", '{"name": "Ann"}'),
        ("truncated", ""),
        ("empty", ""),
    ],
)
def test_what_cannot_be_altered_is_not(kind: FaultKind, text: str) -> None:
    assert alter_answer(kind, answered(text), [], 0) is None


@pytest.mark.parametrize("kind", ALTERING)
def test_equal_answers_are_altered_equally(kind: FaultKind) -> None:
    call, earlier = answered(json.dumps(ROWS), ROWS, reply=2, of="C1"), answered("[1]", of="C2")
    assert alter(kind, call, earlier) == alter(kind, call, earlier)


def test_a_plain_text_that_is_wrapped_as_structured_content_is_altered_there_too() -> None:
    text = "size: 4\nisFile: true"
    call = answered(text, {"content": text})
    # The wrapper's own field is none that a model reads: one of the text's is renamed.
    drifted = alter("schema_drift", call)
    assert drifted.text in ("size_value: 4\nisFile: true", "size: 4\nisFile_value: true")
    assert drifted.structured == {"content": drifted.text}
    assert alter("partial", call) == AlteredAnswer("size: 4", {"content": "size: 4"})
