"""A session that the server has forgotten is told from everything else that is said of sessions."""

from __future__ import annotations

import pytest

from harness.sessions.transports.http_errors import names_lost_session

UNKNOWN = (
    "Session not found",
    "Unauthorized: Session not found",
    "session 4f2a not found",
    "Session ID not found: 4f2a",
    "Session does not exist",
    "Unknown session",
    "unknown session id",
    "Invalid or missing session ID",
    "Invalid session_id",
    "Missing Mcp-Session-Id",
    "Bad Request: No valid session ID provided",
    '{"error": "Bad Request: No valid session ID provided"}',
    '{"detail":"Session not found"}',
    "No such session",
    "Could not find session",
    "No transport found for sessionId",
)
OVER = (
    "Session expired",
    "Session expired, please reconnect",
    "Session has been terminated",
    "Bad Request: Mcp-Session-Id header is required",
    "Bad Request: Server not initialized",
    "invalid session",
    "No active session",
    "This session is no longer active",
    "session closed",
)
OTHER = (
    "Order 7 not found in this session's cart",
    "Invalid order id",
    "Unauthorized",
    "the training session starts at 9",
    "Session 12 of the conference is full",
    "User not found",
    "Obsession expired",
    "missing required field: sessions",
    "",
)


@pytest.mark.parametrize("is_refusal", [True, False])
def test_the_words_of_servers_for_a_forgotten_session_are_known(is_refusal: bool) -> None:
    assert [text for text in UNKNOWN if not names_lost_session(text, is_refusal=is_refusal)] == []
    assert [text for text in OTHER if names_lost_session(text, is_refusal=is_refusal)] == []


def test_a_session_that_is_over_may_be_the_users_login_in_a_refusal() -> None:
    assert [text for text in OVER if not names_lost_session(text)] == []
    assert [text for text in OVER if names_lost_session(text, is_refusal=True)] == []
