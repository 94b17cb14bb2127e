"""A result that tells of a failure without being marked as one is recognised, and data is not."""

from __future__ import annotations

import json
from pathlib import Path
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


def count_found(listed: str) -> tuple[int, int, int, int]:
    """Return the numbers of failures, failures found, answers, and answers taken for failures.

    The texts are those that tools of public servers return, by server; "A17" stands for what a
    server fills in. With the texts of the one list the rules were adjusted; those of the other were
    labelled before the rules were first tried on them.
    """
    path = Path(__file__).parent / "failure_texts" / f"{listed}.json"
    texts: dict[str, dict[str, list[str]]] = json.loads(path.read_text("utf-8"))
    failures = [text for one in texts.values() for text in one.get("failures", ())]
    answers = [text for one in texts.values() for text in one.get("answers", ())]
    found, wrong = (
        sum(find_failure_words(answered(text)) is not None for text in some)
        for some in (failures, answers)
    )
    return len(failures), found, len(answers), wrong


def test_the_words_are_as_precise_on_texts_of_real_servers_as_the_docs_say() -> None:
    assert count_found("adjusted") == (69, 68, 54, 0)
    assert count_found("unseen") == (17, 15, 69, 0)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-04 12:00:01 ERROR db: connection refused\n2026-01-04 12:00:02 INFO ok",
        "404 Not Found: no such page\n500 Internal Error: crashed\n401 Unauthorized: no token",
        "## Error handling\nRaise ValueError where a value is missing.",
        '{"logs": [{"level": "error", "message": "timed out"}]}',
        '{"items": [], "errors": []}',
        '{"status": "failed", "job": {"id": 7}, "steps": [1, 2]}',
        "3 errors found in the log of today; the last was a timeout.",
        "404 items found in 3 folders",
        "Failed: 3, passed: 5",
        "Invalid entries: 0",
        "Error handling is the job of the caller.",
        "Error: disk full (09:00)\nError: disk full (09:05)\nError: disk full (09:10)",
        "Error codes: E1 (closed), E2 (lost)",
    ],
)
def test_answers_that_are_about_errors_are_none(text: str) -> None:
    assert find_failure_words(answered(text)) is None
