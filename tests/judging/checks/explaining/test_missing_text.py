"""Why an expected text is not in the answer."""

from __future__ import annotations

import pytest

from harness.judging.checks.explaining.missing_text import explain_missing
from harness.types import ToolCall
from tests.judging.checks.scenes import call, scene

_APART = "All its words stand in the answer, but not next to each other."
_NOTATION = "The same number stands there in another notation"


@pytest.mark.parametrize(
    ("wanted", "answer", "apart"),
    [
        ("open orders", "The orders are open.", True),
        ("open orders", "The orders are late.", False),
        ("open orders", "It is open.", False),
        (" no ", "There is nothing.", False),  # one word stands next to itself
    ],
)
def test_words_that_stand_apart_are_told(wanted: str, answer: str, apart: bool) -> None:
    lines, hint = explain_missing(wanted, scene(call("get_orders"), answer=answer))
    assert (_APART in lines) is apart
    assert ("Relax the assertion: ask for the telling words one by one" in hint) is apart


@pytest.mark.parametrize(
    ("wanted", "answer", "shown", "asked"),
    [
        ("1,234.50", "It is 1234.5 in all.", "1234.5", "1234.5"),
        ("1234", "It is 1 or 1,234 in all.", "1,234", "1234"),
        ("1234", "It is 1,235 in all.", None, ""),
        ("1234", "It is 1,233.5 in all.", None, ""),
        ("1234 orders", "It is 1,234 in all.", None, ""),
    ],
)
def test_the_same_number_in_another_notation_is_told(
    wanted: str, answer: str, shown: str | None, asked: str
) -> None:
    lines, hint = explain_missing(wanted, scene(call("get_orders"), answer=answer))
    assert (f"{_NOTATION}: “{shown}”" in lines) is (shown is not None)
    assert (f"Use answer_number: {asked} to accept" in hint) is (shown is not None)


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([call("get", text="x")], "No tool returned it either, in 1 call."),
        ([call("get", text="x")] * 2, "No tool returned it either, in 2 calls."),
        (
            [call("get", text="x"), call("find", text="all is lost")],
            "find() returned it: “all is lost”",
        ),
        (
            [call("get"), call("find", outcome="tool_error", text="no")],
            "No tool returned it. A call failed: find() → error: “no”",
        ),
        (
            [call("find", outcome="tool_error", text="no"), call("get", text="all is lost")],
            "get() returned it: “all is lost”",
        ),
    ],
)
def test_whether_a_tool_returned_it_is_told(calls: list[ToolCall], said: str) -> None:
    lines, _ = explain_missing("all is lost", scene(*calls, answer="Nothing of the sort."))
    assert lines[-1] == said
