"""Anthropic's streamed messages, read by its own SDK and held against the same answer whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given

from tests.fake_provider import FakeProvider, bad_arguments, reset, say, stall, think
from tests.fake_provider.steps import Answer
from tests.fake_provider.streaming.answers import (
    ANSWERS,
    ANY_ANSWER,
    LONG,
    events_of,
)
from tests.often import often

ASKED: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Where is order 7?"}],
}
HEADERS = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}


@pytest.fixture(scope="module")
def client(provider: tuple[FakeProvider, list[Answer]]) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=provider[0].url, api_key="test-key", max_retries=0) as opened:
        yield opened


def raw_events(answer: Answer) -> list[tuple[str | None, Any]]:
    with FakeProvider([answer]) as provider, httpx2.Client() as client:
        response = client.post(
            f"{provider.url}/v1/messages", json={**ASKED, "stream": True}, headers=HEADERS
        )
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    return events_of(response)


def accumulates_to_the_whole(client: anthropic.Anthropic) -> None:
    with client.messages.stream(**ASKED) as stream:
        streamed = _plain(stream.get_final_message())
    whole = client.messages.create(**ASKED)
    assert isinstance(whole, anthropic.types.Message)
    assert streamed == _plain(whole)


def _plain(message: anthropic.types.Message) -> Any:
    """All of a message but what no two replies share, and what only the SDK's parser adds."""
    plain = message.model_dump(exclude={"id"})
    plain.pop("parsed_output", None)
    for block in plain["content"]:
        for name in ("id", "parsed_output", "caller"):
            block.pop(name, None)
    return plain


@pytest.mark.parametrize("kind", often(ANSWERS, 4))
def test_the_sdk_reads_the_same_message_streamed_and_whole(
    provider: tuple[FakeProvider, list[Answer]], client: anthropic.Anthropic, kind: str
) -> None:
    provider[1].append(ANSWERS[kind])
    accumulates_to_the_whole(client)


@given(answer=ANY_ANSWER)
def test_any_answer_is_the_same_streamed_and_whole(
    provider: tuple[FakeProvider, list[Answer]], client: anthropic.Anthropic, answer: Answer
) -> None:
    provider[1].append(answer)
    accumulates_to_the_whole(client)


def test_events_come_in_the_order_of_the_real_api() -> None:
    events = raw_events(ANSWERS["thought before a call"])
    assert all(name == data["type"] for name, data in events)
    told = [
        (name, data.get("index"), data.get("delta", {}).get("type"))
        for name, data in events
        if name not in ("message_start", "message_delta", "message_stop", "ping")
    ]
    assert list(dict.fromkeys(told)) == [
        ("content_block_start", 0, None),
        ("content_block_delta", 0, "thinking_delta"),
        ("content_block_delta", 0, "signature_delta"),
        ("content_block_stop", 0, None),
        ("content_block_start", 1, None),
        ("content_block_delta", 1, "input_json_delta"),
        ("content_block_stop", 1, None),
    ]
    names = [name for name, _ in events]
    assert names[:3] == ["message_start", "ping", "content_block_start"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_arguments_come_in_several_pieces_after_an_empty_one() -> None:
    events = raw_events(ANSWERS["a call"])
    opened = next(data for name, data in events if name == "content_block_start")
    assert opened["content_block"]["input"] == {}
    pieces = [data["delta"]["partial_json"] for name, data in events if "block_delta" in str(name)]
    assert pieces[0] == ""
    assert len(pieces) > 2
    assert "".join(pieces) == '{"id": 7}'


def test_output_tokens_and_the_stop_reason_come_at_the_end() -> None:
    events = dict(raw_events(ANSWERS["counted tokens"]))
    start, end = events["message_start"]["message"], events["message_delta"]
    assert (start["content"], start["stop_reason"]) == ([], None)
    assert (start["usage"]["input_tokens"], start["usage"]["output_tokens"]) == (11, 1)
    assert (end["usage"]["output_tokens"], end["usage"]["cache_read_input_tokens"]) == (5, 3)
    assert end["delta"]["stop_reason"] == "end_turn"


def test_a_long_text_comes_in_a_bounded_number_of_pieces() -> None:
    names = [name for name, _ in raw_events(say(LONG * 100))]
    assert 2 < names.count("content_block_delta") <= 12


def test_arguments_that_are_no_json_are_streamed_as_they_are() -> None:
    events = raw_events(bad_arguments("get_order", '{"id": 7'))
    assert (
        "".join(
            data["delta"]["partial_json"] for name, data in events if name == "content_block_delta"
        )
        == '{"id": 7'
    )


def test_a_stream_that_stalls_has_begun_with_events() -> None:
    with (
        FakeProvider([stall(after_bytes=700)]) as provider,
        httpx2.Client(base_url=provider.url, headers=HEADERS) as client,
        client.stream("POST", "/v1/messages", json={**ASKED, "stream": True}) as response,
    ):
        assert next(response.iter_lines()) == "event: message_start"


def test_a_stream_that_is_reset_never_ends() -> None:
    with (
        FakeProvider([reset(after_bytes=700)]) as provider,
        httpx2.Client(base_url=provider.url, headers=HEADERS) as client,
        pytest.raises(httpx2.ReadError),
    ):
        client.post("/v1/messages", json={**ASKED, "stream": True})


def test_a_streamed_thought_may_come_back(
    provider: tuple[FakeProvider, list[Answer]], client: anthropic.Anthropic
) -> None:
    tool: Any = {"name": "get_order", "input_schema": {"type": "object"}}
    provider[1].append(think(ANSWERS["a call"]))
    with client.messages.stream(**ASKED, tools=[tool]) as stream:
        first = stream.get_final_message()
    result = {"type": "tool_result", "tool_use_id": first.content[1].id, "content": "on its way"}  # type: ignore[union-attr]
    blocks = [
        block.model_dump(include={"type", "thinking", "signature", "id", "name", "input"})
        for block in first.content
    ]
    provider[1].append(say("Done."))
    messages: Any = [
        *ASKED["messages"],
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [result]},
    ]
    with client.messages.stream(**{**ASKED, "messages": messages}, tools=[tool]) as stream:
        assert stream.get_final_text() == "Done."
