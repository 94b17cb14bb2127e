"""Errors as some forty providers, servers and gateways word them, and what each of them means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.models.error_bodies import find_error, parse_body, parse_error
from harness.models.failure_events import MEANINGS, find_event
from harness.models.http_failures import ModelFault, fault_from_body, fault_from_response
from harness.types import Usage
from tests.models.support import spec_for

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("provider_errors.jsonl").read_text("utf-8").splitlines()
]
"""``of`` is who words it so, ``retry`` whether it may pass (null: by the event)."""
SPEC = spec_for("chat", "http://127.0.0.1:9")


def fault_of(status: int, body: Any) -> ModelFault:
    if status != 200:
        content = body if isinstance(body, str) else json.dumps(body)
        return fault_from_response(
            httpx2.Response(status, content=content.encode()), SPEC, "http://h/v1"
        )
    fault = fault_from_body(
        body if isinstance(body, dict) else {"error": find_error(body)}, SPEC, {}, Usage()
    )
    assert fault is not None, body
    return fault


def wrappings(status: int, body: Any) -> Iterator[tuple[int, Any]]:
    """Yield the error as gateways hand it on: OpenRouter in two ways, LiteLLM in three."""
    text = json.dumps(body)
    raw = {"message": "Provider returned error", "code": status, "metadata": {"raw": text}}
    yield status, {"error": raw}
    yield 200, {"choices": [{"finish_reason": "error", "message": {}, "error": raw}]}
    for words in (text, repr(body), f"b'{text}'"):
        said = f"litellm.APIError: XException - {words}. Received Model Group=x"
        yield status, {"error": {"message": said, "type": None, "code": str(status)}}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["of"])
def test_what_a_provider_says_is_known_for_what_it_is(row: dict[str, Any]) -> None:
    fault = fault_of(row["status"], row["body"])
    meaning = MEANINGS[row["event"]]
    assert fault.event == row["event"], fault.message
    assert fault.retryable == (meaning.passing if row["retry"] is None else row["retry"])


def test_a_models_own_failure_is_known_behind_every_gateway() -> None:
    rows = [row for row in ROWS if MEANINGS[row["event"]].stop and row["status"] != 200]
    assert len(rows) > 80
    for row in rows:
        if isinstance(row["body"], str) or row["of"] == "litellm detail trace":
            continue  # a page, and what no longer can be told from a text when quoted again
        for status, body in wrappings(row["status"], row["body"]):
            assert fault_of(status, body).event == row["event"], body


@pytest.mark.parametrize(
    "words",
    [
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a maximum length of 40.",
        "tools[0].function.description exceeds maximum length of 1024 characters",
        "Tool name exceeds maximum length 64",
        "Failed to initialize samplers: failed to parse grammar",
        "Unable to parse tool schema: invalid type",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "Organization policy constraint constraints/vertexai.allowedModels violated",
        "No endpoints found matching your data policy",
        "Function call is missing a thought_signature in functionCall parts.",
        "The field text is case sensitive",
        "temperature must be less than or equal to 2",
    ],
)
@pytest.mark.parametrize("status", [400, 403, 404, 422, 500])
def test_what_is_wrong_with_the_request_is_never_the_models(words: str, status: int) -> None:
    assert MEANINGS[find_event(["invalid_request_error"], words, status)].stop is None


def test_a_page_of_a_firewall_is_no_refusal_of_the_model() -> None:
    page = "<!DOCTYPE html><html><body>Your request was blocked: content policy</body></html>"
    assert fault_of(403, page).event == "auth"
    assert fault_of(403, {"message": "Your request was blocked: content policy"}).event == "refusal"


def test_a_validation_is_told_without_the_request_that_it_quotes() -> None:
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", "store"],
            "msg": "Extra inputs are not permitted",
            "input": "it violates the content policy",
        }
    ]
    for body in ({"detail": detail}, {"object": "error", "message": {"detail": detail}}):
        fault = fault_of(422, body)
        assert fault.event == "bad_request"
        assert fault.message.endswith(": body.store: Extra inputs are not permitted")


def test_a_stream_may_name_an_event_an_error_that_does_not_look_like_one() -> None:
    said = b'event: error\ndata: {"message": "Overloaded", "code": "overloaded"}\n\n'
    assert parse_error(find_error(parse_body(said))).codes == ("overloaded",)
    assert parse_body(said.replace(b"event: error", b"event: ping")) is None


def test_a_reply_is_no_error_for_words_beside_it() -> None:
    body = {"choices": [{"message": {"content": "Hm."}}], "message": "ok", "success": True}
    assert fault_from_body({**body, "base_resp": {"status_code": 0}}, SPEC, {}, Usage()) is None
