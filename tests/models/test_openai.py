"""What is OpenAI's alone: names of fields, reasoning models, replies of compatible servers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.models.model import open_model
from harness.models.openai_chat import OpenAIChat
from harness.models.openai_chat import _fixed_fields as chat_fields
from harness.models.openai_responses import OpenAIResponses
from harness.models.openai_responses import _fixed_fields as responses_fields
from harness.types import AssistantMessage, ToolAnswer, ToolMessage, UserMessage
from tests.fake_provider import FakeProvider, call, raw, say, think
from tests.models.support import HELLO, TOOLS, converse, opened, spec_for

pytestmark = pytest.mark.anyio

LOCAL = "http://127.0.0.1:9/v1"


async def test_the_configuration_says_which_of_the_two_apis_is_used() -> None:
    chat, responses = open_model(spec_for("chat", LOCAL)), open_model(spec_for("responses", LOCAL))
    assert isinstance(chat, OpenAIChat)
    assert isinstance(responses, OpenAIResponses)
    await chat.aclose()
    await responses.aclose()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"max_tokens": 100}, {"max_completion_tokens": 100}),
        ({"max_tokens": 100, "base_url": LOCAL}, {"max_tokens": 100}),
        (
            {"max_tokens": 100, "base_url": "https://api.openai.com/v1"},
            {"max_completion_tokens": 100},
        ),
        (
            {"max_tokens": 100, "base_url": LOCAL, "model_id": "openai/gpt-5"},
            {"max_tokens": 100},
        ),
        ({"max_tokens": 100, "body": {"max_tokens": 5}}, {"max_tokens": 5}),
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"temperature": 0.0, "model_id": "gpt-5"}, {"temperature": 0.0}),
        ({"body": {"seed": 7}}, {"seed": 7}),
    ],
)
async def test_what_every_chat_request_says(
    settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    spec = spec_for("chat", None, **settings)
    assert chat_fields(spec) == {"model": spec.model_id, **expected}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"max_tokens": 100}, {"max_output_tokens": 100}),
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"body": {"store": True}}, {"store": True}),
        ({"body": {"include": []}}, {"include": []}),
    ],
)
async def test_what_every_responses_request_says(
    settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    spec = spec_for("responses", None, **settings)
    include = ["reasoning.encrypted_content"]
    own = {"model": spec.model_id, "store": False, "include": include}
    assert responses_fields(spec) == {**own, **expected}


async def test_a_failed_call_is_told_by_its_text_which_says_error_once() -> None:
    with FakeProvider([call("get_order", {"id": 7}), say("Fine.")]) as provider:
        async with opened("chat", provider.url) as model:
            first = await model.answer(HELLO, TOOLS, None)
            for text in ("Not found", "Error: not found"):
                answer = ToolAnswer(request_id=first.tool_requests[0].id, text=text, is_error=True)
                talk = (*HELLO, AssistantMessage(reply=first), ToolMessage(answers=(answer,)))
                await model.answer(talk, TOOLS, None)
    assert [request.tool_results[0].text for request in provider.journal[1:]] == [
        "Error: Not found",
        "Error: not found",
    ]


async def test_a_reply_in_parts_is_read_as_text() -> None:
    parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    with FakeProvider(
        [raw({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]})]
    ) as provider:
        async with opened("chat", provider.url) as model:
            (reply,) = await converse(model)
    assert (reply.text, reply.stop) == ("One.\nTwo.", "end")


async def test_a_reply_with_nulls_and_an_empty_list_of_calls_can_be_sent_back() -> None:
    message: Any = {
        "role": "assistant",
        "content": None,
        "tool_calls": [],
        "audio": None,
        "function_call": None,
    }
    with FakeProvider([raw({"choices": [{"message": message}]}), say("Here.")]) as provider:
        async with opened("chat", provider.url) as model:
            silent = await model.answer(HELLO, TOOLS, None)
            talk = (*HELLO, AssistantMessage(reply=silent), UserMessage(text="Hello?"))
            reply = await model.answer(talk, TOOLS, None)
    assert silent.stop == "end"
    assert provider.journal[1].body["messages"][1] == {"role": "assistant", "content": ""}
    assert reply.text == "Here."


async def test_fields_of_a_compatible_server_come_back_to_it() -> None:
    script = [think(call("get_order", {"id": 7})), say("Found.")]
    with FakeProvider(script) as provider:
        async with opened("chat", provider.url) as model:
            await converse(model)
    assert (
        provider.journal[1].body["messages"][1]["reasoning_content"] == "Let me think about this."
    )


async def test_reasoning_that_led_to_nothing_is_not_sent_back_alone() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    with FakeProvider(
        [raw({"output": [reasoning], "status": "completed"}), say("Here.")]
    ) as provider:
        async with opened("responses", provider.url) as model:
            silent = await model.answer(HELLO, TOOLS, None)
            talk = (*HELLO, AssistantMessage(reply=silent), UserMessage(text="Hello?"))
            await model.answer(talk, TOOLS, None)
    assert [item.get("role") for item in provider.journal[1].body["input"]] == ["user", "user"]
    assert provider.journal[1].rejected is None


async def test_schemas_are_never_narrowed_by_strict_mode() -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened("responses", provider.url) as model:
            await converse(model)
    assert {tool["strict"] for tool in provider.journal[0].body["tools"]} == {False}
