"""A recorded result with more in it is what a server that forgets a filter would have answered."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from harness.judging.policy.comparable_values import to_comparable
from harness.judging.policy.views import Result
from harness.probing.mutants.recording import (
    add_fields,
    add_row,
    add_value,
    find_most_distinctive,
    find_withheld,
    replace_answers,
)
from harness.types import ToolCall, Transcript

EMAILS = ("ines.okafor@example.com", "tomas.berg@example.org")


def result(structured: Any, text: str | None = None) -> Result:
    said = json.dumps(structured) if text is None else text
    return Result(
        call=ToolCall(
            tool="list", arguments={}, outcome="ok", reply=1, text=said, structured=structured
        )
    )


FULL = result({"rows": [{"id": "C-1", "email": EMAILS[0]}, {"id": "C-2", "email": EMAILS[1]}]})
FILTERED = result({"rows": [{"id": "C-1"}, {"id": "C-2"}]})


def test_a_field_that_is_left_out_is_put_back_in_both_forms_of_a_result() -> None:
    assert find_withheld(FILTERED, FULL) == {"rows[].email": "left out"}
    call = add_fields(FILTERED, FULL, {"rows[].email"})
    assert call.structured == FULL.call.structured
    assert json.loads(call.text) == FULL.call.structured


def test_the_filter_may_be_forgotten_for_one_record_only() -> None:
    call = add_fields(FILTERED, FULL, {"rows[].email"}, first_only=True)
    assert call.structured == {"rows": [{"id": "C-1", "email": EMAILS[0]}, {"id": "C-2"}]}


def test_a_mask_is_replaced_by_what_it_hides() -> None:
    masked = result({"rows": [{"id": "C-1", "email": "***"}, {"id": "C-2", "email": "***"}]})
    assert find_withheld(masked, FULL) == {"rows[].email": "masked"}
    assert add_fields(masked, FULL, {"rows[].email"}).structured == FULL.call.structured


def test_a_field_goes_to_the_record_that_it_belongs_to_where_rows_are_left_out() -> None:
    second = result({"rows": [{"id": "C-2"}]})
    call = add_fields(second, FULL, {"rows[].email"})
    assert call.structured == {"rows": [{"id": "C-2", "email": EMAILS[1]}]}


def test_a_row_that_is_left_out_is_put_back() -> None:
    second = result({"rows": [{"id": "C-2", "email": EMAILS[1]}]})
    rows = add_row(second, FULL).structured["rows"]
    assert [row["id"] for row in rows] == ["C-2", "C-1"]


def test_where_there_is_nothing_to_add_the_text_stays_as_it_was_written() -> None:
    spaced = result({"rows": [{"id": "C-1"}]}, '{"rows":[{"id":"C-1"}]}')
    assert add_row(spaced, spaced) == spaced.call
    assert add_fields(spaced, spaced, {"rows[].email"}) == spaced.call


def test_lines_of_text_get_the_line_that_is_left_out() -> None:
    own = result(None, "name: Ines Okafor")
    full = result(None, f"name: Ines Okafor\nemail: {EMAILS[0]}")
    assert add_fields(own, full, {"email"}).text == full.call.text


def test_a_value_stands_beside_what_there_is_under_another_name() -> None:
    call = add_value(FILTERED, "remark", EMAILS[0])
    assert call.structured == {**FILTERED.call.structured, "remark": EMAILS[0]}
    assert json.loads(call.text) == call.structured


def test_the_value_that_gives_most_away_is_one_that_is_not_known_yet() -> None:
    known = {value for value in [to_comparable(EMAILS[1])] if value is not None}
    leaf = find_most_distinctive(FULL.leaves, known)
    assert leaf is not None
    assert leaf.value == EMAILS[0]
    assert find_most_distinctive(FILTERED.leaves, ()) is None


def test_an_answer_is_exchanged_and_everything_else_of_the_conversation_stays() -> None:
    first, second = (replace(FILTERED.call, request_id=name, reply=2) for name in ("a", "b"))
    transcript = Transcript(stop="max_tokens", tool_calls=(first, second), messages=())
    changed = replace_answers(transcript, {1: FULL.call})
    assert changed.tool_calls == (first, replace(FULL.call, request_id="b", reply=2))
    assert replace(changed, tool_calls=transcript.tool_calls) == transcript


def test_a_session_that_was_refused_is_opened_by_an_answer() -> None:
    refused = Transcript(stop="not_admitted", refused_status=401)
    opened = replace_answers(refused, {0: FULL.call})
    assert (opened.refused_status, opened.stop, opened.tool_calls) == (None, "answer", (FULL.call,))
