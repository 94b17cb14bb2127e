"""What counts as a refusal of the caller, by words or by a code, and what only looks like one."""

from __future__ import annotations

from typing import Any

import pytest

from harness.sessions.call_outcome import classify_error
from harness.sessions.refusals import has_refusal_code, is_refusal_body
from tests.sessions.refusal_texts import FAILURES, REFUSALS


@pytest.mark.parametrize(
    "part",
    [
        {"code": "PERMISSION_DENIED"},
        {"code": 403},
        {"error": {"code": "forbidden", "message": "no"}},
        {"error": {"status": 401}},
        {"com.example/error": {"reason": "insufficient_scope"}},
        '{"error": "forbidden"}',
        '{"errorCode": "AccessDenied"}',
        {"statusCode": "403"},
    ],
)
def test_an_error_refuses_by_its_code(part: Any) -> None:
    assert has_refusal_code(part)


@pytest.mark.parametrize(
    "part",
    [
        {"code": 404},
        {"code": "NOT_FOUND"},
        {"order": 403},
        {"status": "denied"},
        {"code": True},
        {"error": "the word forbidden is not in the dictionary"},
        '["forbidden"]',
        "{broken",
        None,
    ],
)
def test_other_codes_and_other_keys_refuse_nothing(part: Any) -> None:
    assert not has_refusal_code(part)


@pytest.mark.parametrize(
    ("structured", "text", "refuses"),
    [
        ({"error": "forbidden"}, "", True),
        (None, '{"error": {"code": 403, "message": "HR only"}}', True),
        ({"error": "forbidden", "request_id": "7"}, "", True),
        ({"error": "forbidden", "customer": {"ssn": "1"}}, "", False),
        ({"error": {"code": 403, "customer": "Ann"}}, "", False),
        ({"status": "denied"}, "", False),
        ({"code": 403}, "", False),
        ({"error": "not_found"}, "", False),
        (None, "forbidden", False),
    ],
)
def test_a_good_result_is_a_refusal_only_if_it_has_nothing_but_the_error(
    structured: Any, text: str, refuses: bool
) -> None:
    assert is_refusal_body(structured, text) is refuses


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
