"""What is Anthropic's alone: caching, the token bound, the temperature, blank text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.models.anthropic import MAX_TOKENS, MAX_TOKENS_ELSEWHERE, AnthropicModel, _fixed_fields
from harness.models.model import open_model
from harness.types import AssistantMessage, UserMessage
from tests.fake_provider import FakeProvider, call, raw, say
from tests.models.support import HELLO, TOOLS, converse, opened, spec_for

pytestmark = pytest.mark.anyio


def marked(body: Mapping[str, Any]) -> list[Any]:
    """Return every block of a request that carries a cache breakpoint."""
    blocks = [*body.get("tools", []), *body.get("system", [])]
    for message in body["messages"]:
        blocks += message["content"]
    return [block for block in blocks if "cache_control" in block]


async def test_the_provider_opens_as_an_anthropic_model() -> None:
    model = open_model(spec_for("messages", "http://127.0.0.1:9"))
    assert isinstance(model, AnthropicModel)
    await model.aclose()


async def test_a_turn_reads_from_the_cache_what_the_turn_before_it_wrote() -> None:
    script = [
        call("get_order", {"id": 1}),
        call("get_order", {"id": 2}),
        call("get_order", {"id": 3}),
        say("Done."),
    ]
    with FakeProvider(script) as provider:
        async with opened("messages", provider.url) as model:
            replies = await converse(model, system="Be brief.")
    written = 0
    for reply in replies:
        assert reply.usage.cache_read_tokens == written
        written += reply.usage.cache_write_tokens or 0
    assert [len(marked(request.body)) for request in provider.journal] == [3, 4, 4, 4]
    assert [request.rejected for request in provider.journal] == [None] * 4


async def test_another_trial_reads_the_tools_and_the_system_prompt_from_the_cache() -> None:
    with FakeProvider(lambda request: say("Hi.")) as provider:
        async with opened("messages", provider.url) as model:
            first = await model.answer((UserMessage(text="One?"),), TOOLS, "Be brief.")
            second = await model.answer((UserMessage(text="Two?"),), TOOLS, "Be brief.")
    assert first.usage.cache_read_tokens == 0
    assert (second.usage.cache_read_tokens or 0) > 20


async def test_a_reply_is_logged_as_it_came_and_blank_text_in_it_is_not_sent_back() -> None:
    content = [
        {"type": "text", "text": " "},
        {"type": "tool_use", "id": "a", "name": "list_orders", "input": {}},
    ]
    with FakeProvider(
        [raw({"content": content, "stop_reason": "tool_use"}), say("Fine.")]
    ) as provider:
        async with opened("messages", provider.url) as model:
            first, _ = await converse(model)
    assert first.native == content
    assert [block["type"] for block in provider.journal[1].body["messages"][1]["content"]] == [
        "tool_use"
    ]
    assert provider.journal[1].rejected is None


async def test_a_blank_system_prompt_and_a_silent_reply_are_left_out() -> None:
    with FakeProvider([raw({"content": [], "stop_reason": "end_turn"})]) as provider:
        async with opened("messages", provider.url) as model:
            silent = await model.answer(HELLO, TOOLS, " ")
            await model.answer(
                (*HELLO, AssistantMessage(reply=silent), UserMessage(text="Hello?")), TOOLS, ""
            )
    assert all("system" not in request.body for request in provider.journal)
    assert len(provider.journal[1].body["messages"]) == 1
    assert provider.journal[1].rejected is None


async def test_a_base_url_may_end_in_v1() -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened("messages", None, base_url=provider.url + "/v1/") as model:
            await converse(model)
    assert provider.journal[0].path == "/v1/messages"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"max_tokens": MAX_TOKENS}),
        ({"base_url": "http://127.0.0.1:9"}, {"max_tokens": MAX_TOKENS_ELSEWHERE}),
        ({"base_url": "https://api.anthropic.com/v1"}, {"max_tokens": MAX_TOKENS}),
        ({"max_tokens": 7}, {"max_tokens": 7}),
        ({"temperature": 0.0}, {"max_tokens": MAX_TOKENS}),
        (
            {"temperature": 0.0, "headers": {"Anthropic-Version": "2023-06-01"}},
            {"max_tokens": MAX_TOKENS, "temperature": 0.0},
        ),
        (
            {"body": {"max_tokens": 9, "thinking": {"type": "adaptive"}}},
            {"max_tokens": 9, "thinking": {"type": "adaptive"}},
        ),
    ],
)
async def test_what_every_request_says(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert _fixed_fields(spec_for("messages", None, **settings)) == {
        "model": "claude-sonnet-4-5",
        **expected,
    }


async def test_an_older_version_of_the_api_takes_a_temperature() -> None:
    headers = {"anthropic-version": "2023-06-01"}
    with FakeProvider([say("Hi.")]) as provider:
        async with opened("messages", provider.url, temperature=0.0, headers=headers) as model:
            await converse(model)
    assert provider.journal[0].rejected is None
    assert provider.journal[0].body["temperature"] == 0.0
