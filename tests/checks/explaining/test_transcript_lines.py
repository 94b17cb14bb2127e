"""Calls and what came of them, in words."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.explaining.transcript_lines import list_calls, outcome
from tests.checks.scenes import call


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"outcome": "invalid_arguments"}, "arguments not accepted"),
        ({"outcome": "invalid_arguments", "text": " "}, "arguments not accepted"),
        ({"outcome": "invalid_arguments", "text": "no id"}, "arguments not accepted: no id"),
        (
            {"outcome": "invalid_arguments", "argument_errors": ("a is no number", "b is missing")},
            "arguments not accepted: a is no number; b is missing",
        ),
        ({"outcome": "denied", "text": "for HR"}, "refused by the server: “for HR”"),
        ({"outcome": "denied", "text": "\n"}, "refused by the server"),
        ({"outcome": "ok", "text": "fine"}, "ok"),
    ],
)
def test_what_came_of_a_call_is_told_with_what_was_said_of_it(
    made: dict[str, Any], words: str
) -> None:
    assert outcome(call("get", **made)) == words


@pytest.mark.parametrize(("made", "last"), [(1, "  1."), (6, "  6."), (7, "  … and 1 more")])
def test_the_first_six_calls_are_listed_and_the_others_counted(made: int, last: str) -> None:
    heading, *lines = list_calls([call("get")] * made, "In order:")
    assert heading == "In order:"
    assert len(lines) == min(made, 7)
    assert lines[-1].startswith(last)
    assert list_calls([], "In order:") == []
