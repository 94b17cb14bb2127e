"""Refusals that are expressed by a code, and codes that mean something else."""

from __future__ import annotations

from typing import Any

import pytest

from harness.sessions.refusals.codes import has_refusal_code, is_refusal_body


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
