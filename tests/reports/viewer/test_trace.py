"""A page gets a frame in parts where it can put them together as they were, and else as text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.base.safe_text import limit_text
from harness.reports.viewer.trace import build_frames
from harness.sessions.call_record import reduce_frame
from harness.types import ToolCall, Wire

LONG = "a text of so many letters that a frame leaves it to the record of its call"


def text(value: str) -> str:
    return limit_text(value, 20_000)


def answered(structured: Any = None, said: str = LONG, **more: Any) -> Any:
    """Return what a page gets of the response to a call."""
    content = [{"type": "text", "text": said}]
    result = {"content": content, "structuredContent": structured, **more}
    body = {"jsonrpc": "2.0", "id": 1, "result": result}
    record: dict[str, Any] = {"tool": "t", "arguments": {}, "outcome": "ok", "reply": 1}
    call = ToolCall(**record, text=said, structured=structured)
    wire = Wire(request=reduce_frame({"id": 1}, call), response=reduce_frame(body, call))
    found = build_frames(ToolCall(**record, text=said, structured=structured, wire=wire), text)
    assert found is not None
    return found["response"]


def test_a_page_is_not_given_twice_what_it_has() -> None:
    shown = answered({"rows": [LONG]})
    assert shown["left_out"] == {
        "/result/structuredContent": "structured",
        "/result/content/0/text": "text",
    }
    assert LONG not in json.dumps(shown["body"])


@pytest.mark.parametrize(
    "value",
    [{"n": 1.0}, {"n": -0.0}, {"n": [2**60]}, {"b": 1, "10": 2}],
    ids=["whole float", "negative zero", "large integer", "numbers as keys"],
)
def test_what_javascript_would_alter_is_given_as_text(value: Any) -> None:
    shown = answered(more=value)
    assert isinstance(shown, str)
    assert json.dumps(json.loads(shown)["result"]["more"]) == json.dumps(value)


def test_what_a_page_cannot_read_again_is_given_as_text() -> None:
    assert json.loads(answered(structured=LONG))["result"]["structuredContent"] == LONG


@pytest.mark.parametrize("said", [f"{LONG}\x1b[31m", f"{LONG}\u202e", f"{LONG}\r\n{LONG}"])
def test_a_text_that_a_page_does_not_show_as_it_is_stays_harmless(said: str) -> None:
    shown = answered(said=said)
    assert isinstance(shown, str)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_frame_that_is_too_long_for_a_page_is_cut_with_a_note() -> None:
    shown = answered(said="x" * 30_000)
    assert isinstance(shown, str)
    assert shown.endswith("more characters are in the run log")


def test_a_call_without_a_record_of_the_wire_has_no_frames() -> None:
    record: dict[str, Any] = {"tool": "t", "arguments": {}, "outcome": "ok", "reply": 1}
    assert build_frames(ToolCall(**record), text) is None
    assert build_frames(ToolCall(**record, wire=Wire(id="1")), text) is None
