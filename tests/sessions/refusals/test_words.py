"""What counts as a refusal of the caller, and what only sounds like one."""

from __future__ import annotations

import pytest

from harness.sessions.call_outcome import classify_error
from tests.sessions.refusal_texts import FAILURES, REFUSALS


@pytest.mark.parametrize("text", REFUSALS)
def test_a_text_that_says_that_the_caller_may_not_is_a_refusal(text: str) -> None:
    assert classify_error(text, tool="known", listed=True) == "denied"


@pytest.mark.parametrize("text", FAILURES)
def test_a_failure_that_only_sounds_like_a_refusal_is_none(text: str) -> None:
    assert classify_error(text, tool="known", listed=True) != "denied"


def test_a_server_may_have_words_of_its_own_for_a_refusal() -> None:
    text = "The vault stays shut for thee"
    assert classify_error(text, tool="known", listed=True) == "tool_error"
    assert (
        classify_error(text, tool="known", listed=True, refusals=("vault stays shut",)) == "denied"
    )
    assert classify_error("boom", tool="known", listed=True, refusals=("vault",)) == "tool_error"
