"""OpenAI's streamed responses, read by its own SDK and held against the same answer whole."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given

from tests.fake_provider import FakeProvider
from tests.fake_provider.steps import Answer
from tests.fake_provider.streaming.answers import ANSWERS, ANY_ANSWER, events_of
from tests.often import often

ASKED: dict[str, Any] = {"model": "gpt-4o", "input": "Where is order 7?"}


def raw_events(answer: Answer, **more: Any) -> list[Any]:
    with FakeProvider([answer]) as provider, httpx2.Client() as client:
        response = client.post(
            f"{provider.url}/v1/responses",
            json={**ASKED, "stream": True, **more},
            headers={"authorization": "Bearer test-key"},
        )
    assert response.status_code == 200
    events = events_of(response)
    assert all(name == data["type"] for name, data in events)
    return [data for _, data in events]


def accumulates_to_the_whole(client: openai.OpenAI) -> None:
    """Both the deltas together and the last event bring what the same answer has whole."""
    deltas: dict[str, str] = {}
    with client.responses.stream(**ASKED) as stream:
        for event in stream:
            if event.type.endswith(".delta"):
                said: Any = event
                deltas[said.item_id] = deltas.get(said.item_id, "") + said.delta
    final: Any = event
    assert final.type in ("response.completed", "response.incomplete")
    assert deltas == {
        item.id: words for item in final.response.output if (words := _words(item.model_dump()))
    }
    assert _plain(final.response) == _plain(client.responses.create(**ASKED))


def _words(item: Any) -> str:
    """All that is said in an item, in the order of its parts."""
    parts = item.get("content") or item.get("summary") or ()
    return item.get("arguments") or "".join(
        part.get("text") or part.get("refusal") or "" for part in parts
    )


def _plain(response: Any) -> Any:
    """All of a response but what no two replies share, and what only the SDK's parser adds."""
    plain = response.model_dump(exclude={"id", "created_at", "output_parsed"})
    for item in plain["output"]:
        for name in ("id", "call_id", "encrypted_content", "parsed_arguments"):
            item.pop(name, None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return plain


@pytest.mark.parametrize("kind", often(ANSWERS, 4))
def test_the_sdk_reads_the_same_response_streamed_and_whole(
    provider: tuple[FakeProvider, list[Answer]], openai_client: openai.OpenAI, kind: str
) -> None:
    provider[1].append(ANSWERS[kind])
    accumulates_to_the_whole(openai_client)


@given(answer=ANY_ANSWER)
def test_any_answer_is_the_same_streamed_and_whole(
    provider: tuple[FakeProvider, list[Answer]], openai_client: openai.OpenAI, answer: Answer
) -> None:
    provider[1].append(answer)
    accumulates_to_the_whole(openai_client)


def test_events_are_numbered_without_a_gap() -> None:
    numbers = [event["sequence_number"] for event in raw_events(ANSWERS["words and calls"])]
    assert numbers == list(range(len(numbers)))


def test_events_come_in_the_order_of_the_real_api() -> None:
    told = [
        (event["type"].removeprefix("response."), event.get("output_index"))
        for event in raw_events(ANSWERS["thought before a call"])
    ]
    assert list(dict.fromkeys(told)) == [
        ("created", None),
        ("in_progress", None),
        ("output_item.added", 0),
        ("reasoning_summary_part.added", 0),
        ("reasoning_summary_text.delta", 0),
        ("reasoning_summary_text.done", 0),
        ("reasoning_summary_part.done", 0),
        ("output_item.done", 0),
        ("output_item.added", 1),
        ("function_call_arguments.delta", 1),
        ("function_call_arguments.done", 1),
        ("output_item.done", 1),
        ("completed", None),
    ]


def test_the_parts_of_a_message_are_opened_filled_and_closed() -> None:
    kinds = [
        event["type"].removeprefix("response.") for event in raw_events(ANSWERS["words"])[2:-1]
    ]
    assert list(dict.fromkeys(kinds)) == [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
    ]


def test_a_response_begins_empty_and_ends_with_its_usage() -> None:
    first, *_, last = raw_events(ANSWERS["counted tokens"])
    begun, ended = first["response"], last["response"]
    assert (begun["status"], begun["output"], begun["usage"]) == ("in_progress", [], None)
    assert (ended["usage"]["input_tokens"], ended["usage"]["output_tokens"]) == (11, 5)


def test_a_cut_answer_ends_incomplete() -> None:
    last = raw_events(ANSWERS["an answer that is cut"])[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


def test_padding_may_be_declined() -> None:
    plain = raw_events(ANSWERS["words"], stream_options={"include_obfuscation": False})
    assert not any("obfuscation" in event for event in plain)
    padded = raw_events(ANSWERS["words"])
    assert all(("obfuscation" in event) == ("delta" in event) for event in padded)
