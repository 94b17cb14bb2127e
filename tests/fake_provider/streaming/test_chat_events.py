"""OpenAI's streamed completions, read by its own SDK and held against the same answer whole."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given

from tests.fake_provider import FakeProvider, think
from tests.fake_provider.steps import Answer
from tests.fake_provider.streaming.answers import ANSWERS, ANY_ANSWER, events_of
from tests.often import often

ASKED: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [{"role": "user", "content": "Where is order 7?"}],
}


def raw_chunks(answer: Answer, **more: Any) -> list[Any]:
    with FakeProvider([answer]) as provider, httpx2.Client() as client:
        response = client.post(
            f"{provider.url}/v1/chat/completions",
            json={**ASKED, "stream": True, **more},
            headers={"authorization": "Bearer test-key"},
        )
    assert response.status_code == 200
    events = events_of(response)
    assert {name for name, _ in events} == {None}
    assert events.pop() == (None, "[DONE]")
    return [data for _, data in events]


def accumulates_to_the_whole(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(**ASKED, stream_options={"include_usage": True}) as stream:
        streamed = _plain(stream.get_final_completion())
    assert streamed == _plain(client.chat.completions.create(**ASKED))


def _plain(completion: Any) -> Any:
    """All of a completion but what no two replies share, and what only one of the two has."""
    plain = completion.model_dump(exclude={"id", "created", "obfuscation"})
    (choice,) = plain["choices"]
    for name in ("parsed", "annotations", "audio", "function_call"):
        choice["message"].pop(name, None)
    for call in choice["message"].get("tool_calls") or ():
        for name in ("id", "index"):
            call.pop(name, None)
        call["function"].pop("parsed_arguments", None)
    return plain


@pytest.mark.parametrize(
    "kind", often([kind for kind in ANSWERS if kind != "an answer that is cut"], 4)
)
def test_the_sdk_reads_the_same_completion_streamed_and_whole(
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


def test_a_call_begins_with_its_name_and_then_brings_its_arguments_in_pieces() -> None:
    chunks = raw_chunks(ANSWERS["words and calls"])
    assert chunks[0]["choices"][0]["delta"] == {
        "role": "assistant",
        "content": "",
        "refusal": None,
    }
    deltas = [
        call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert [delta["index"] for delta in deltas] == sorted(delta["index"] for delta in deltas)
    first, *pieces = [delta for delta in deltas if delta["index"] == 0]
    assert (first["type"], first["function"]) == (
        "function",
        {"name": "get_order", "arguments": ""},
    )
    assert len(pieces) > 1
    assert all(piece.keys() == {"index", "function"} for piece in pieces)
    assert "".join(piece["function"]["arguments"] for piece in pieces) == '{"id": 7}'


def test_only_the_last_chunk_has_a_finish_reason() -> None:
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in raw_chunks(ANSWERS["a call"])]
    assert set(reasons[:-1]) == {None}
    assert reasons[-1] == "tool_calls"


def test_a_cut_answer_ends_with_its_reason() -> None:
    (choice,) = raw_chunks(ANSWERS["an answer that is cut"])[-1]["choices"]
    assert choice["finish_reason"] == "length"


def test_usage_comes_only_where_it_is_asked_for_and_without_a_choice() -> None:
    answer = ANSWERS["counted tokens"]
    assert all("usage" not in chunk for chunk in raw_chunks(answer))
    *chunks, last = raw_chunks(answer, stream_options={"include_usage": True})
    assert {chunk["usage"] for chunk in chunks} == {None}
    assert last["choices"] == []
    assert (last["usage"]["prompt_tokens"], last["usage"]["completion_tokens"]) == (11, 5)


def test_padding_may_be_declined() -> None:
    plain = raw_chunks(ANSWERS["words"], stream_options={"include_obfuscation": False})
    assert not any("obfuscation" in chunk for chunk in plain)
    assert any("obfuscation" in chunk for chunk in raw_chunks(ANSWERS["words"]))


def test_reasoning_is_streamed_before_the_answer_as_compatible_servers_do() -> None:
    deltas = [chunk["choices"][0]["delta"] for chunk in raw_chunks(think(ANSWERS["words"]))]
    said = [name for delta in deltas[1:] for name in delta]
    assert list(dict.fromkeys(said)) == ["reasoning_content", "content"]
