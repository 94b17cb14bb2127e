"""A result that tells of a failure without being marked as one is recognised, and data is not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.matching.failure_texts import find_declared_failure, find_failure_words
from harness.types import ToolCall


def answered(text: str, **more: Any) -> ToolCall:
    facts = {"tool": "get_order", "arguments": {}, "outcome": "ok", "reply": 1, "text": text}
    return ToolCall(**{**facts, **more})


DECLARED = [
    '{"success": false}',
    '{"success": false, "message": "no such order"}',
    '{"status": "error"}',
    '{"Status": "FAILED", "details": {"order": 7}}',
    '{"ok": false, "error": {"code": 7}, "data": null}',
    '{"isError": true, "message": "closed"}',
    '{"error": "unknown order"}',
]
DATA = [
    '{"success": true, "error": null}',
    '{"id": 7, "status": "error"}',
    '{"attempt": 3, "user": "ann", "success": false}',
    '{"status": "error", "data": [1]}',
    '{"status": "open"}',
    '[{"success": false}]',
    '{"id": 7, "error": "disk full", "started": "09:00"}',
    "No orders found.",
    "Deleted the file that was not found elsewhere.",
    "Success: 3 rows, 0 errors.",
    "The error rate is 3 %.",
    "Error rate: 3 %",
    "Error log: empty",
    "Order 7 is open and not yet paid.",
    "# Handling errors\nA value that does not exist raises. " + "More on it. " * 60,
]
TOLD = [
    "Error: order 7 is closed",
    "Error fetching order 7",
    "ValueError: 7",
    "Failed to open order 7.",
    "Order 7 does not exist.",
    "Order '7' not found in shop 'a'.",
    "Could not reach the warehouse",
    "Invalid id: 7",
    "Permission denied",
    "Traceback (most recent call last):\n  File ...",
    '{"error": "no such page", "page": 3}',
]


@pytest.mark.parametrize("text", DECLARED)
def test_an_object_that_says_that_it_failed_is_no_success(text: str) -> None:
    call = answered(text)
    assert find_declared_failure(call)
    assert find_failure_words(call) == find_declared_failure(call)


@pytest.mark.parametrize("text", TOLD)
def test_a_text_that_reads_like_a_failure_is_only_marked(text: str) -> None:
    assert find_declared_failure(answered(text)) is None
    assert find_failure_words(answered(text))


@pytest.mark.parametrize("text", DATA)
def test_data_is_not_taken_for_a_failure(text: str) -> None:
    assert find_declared_failure(answered(text)) is None
    assert find_failure_words(answered(text)) is None


def test_a_structured_result_counts_and_a_marked_error_needs_no_words() -> None:
    assert find_declared_failure(answered("done", structured={"success": False}))
    assert find_declared_failure(answered("", structured={"result": {"status": "error"}}))
    assert find_failure_words(answered("Error: 7", outcome="tool_error")) is None
