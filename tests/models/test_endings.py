"""Which reply ends how.

Only a known end is one, and what is no reply by the API's documents is a model error.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.base.errors import ModelError
from harness.models.anthropic import MAX_PAUSES
from harness.types import UNKNOWN_USAGE, AssistantMessage, Usage, UserMessage
from tests.fake_provider import FakeProvider, call, pause, raw, say, usage
from tests.models.support import APIS, HELLO, TOOLS, Api, converse, opened

pytestmark = pytest.mark.anyio

REPORTED = {
    "messages": {"input_tokens": 7, "output_tokens": 3},
    "chat": {"prompt_tokens": 7, "completion_tokens": 3},
    "responses": {"input_tokens": 7, "output_tokens": 3},
}


def reply(api: Api, **changes: Any) -> dict[str, Any]:
    """Return a good reply of ``api``, with other fields where its words stand."""
    if api == "messages":
        return {"type": "message", "role": "assistant",
                "content": [{"type": "text", "text": "Hm."}],
                "stop_reason": "end_turn", "model": "m", "usage": REPORTED[api],
                **changes}  # fmt: skip
    if api == "chat":
        choice = {
            "message": {"role": "assistant", "content": "Hm."},
            "finish_reason": "stop",
            **changes,
        }
        return {"choices": [choice], "model": "m", "usage": REPORTED[api]}
    content = [{"type": "output_text", "text": "Hm."}]
    return {"output": [{"type": "message", "role": "assistant", "content": content}],
            "status": "completed",
            "model": "m", "usage": REPORTED[api], **changes}  # fmt: skip


async def failure(api: Api, body: Any) -> ModelError:
    """Return the error that this body ends in; it is asked for once."""
    with FakeProvider([raw(body)]) as provider:
        async with opened(api, provider.url, max_retries=3) as model:
            with pytest.raises(ModelError) as raised:
                await converse(model)
        assert len(provider.journal) == 1
    return raised.value


@pytest.mark.parametrize(
    ("api", "changes", "word"),
    [
        ("messages", {"stop_reason": "compaction"}, "stop_reason is 'compaction'"),
        ("messages", {"stop_reason": None}, "it has no stop_reason"),
        ("chat", {"finish_reason": "error"}, "finish_reason is 'error'"),
        ("chat", {"finish_reason": "function_call"}, "finish_reason is 'function_call'"),
        *[
            ("responses", {"status": status}, f"status is '{status}'")
            for status in ("failed", "cancelled", "in_progress", "queued", "paused")
        ],
        ("responses", {"status": "incomplete"}, "it has no incomplete_details.reason"),
        (
            "responses",
            {"status": "incomplete", "incomplete_details": {"reason": "weariness"}},
            "incomplete_details.reason is 'weariness'",
        ),
    ],
)
async def test_an_ending_that_nobody_knows_is_an_error_by_name(
    api: Api, changes: dict[str, Any], word: str
) -> None:
    error = await failure(api, reply(api, **changes))
    assert str(error).startswith(f"the-model: the reply is unusable: {word}")
    assert (error.usage.input_tokens, error.usage.output_tokens) == (7, 3)


async def test_words_of_other_apis_for_an_end_are_known_in_any_case() -> None:
    for word in ("eos", "EOS_TOKEN", "end_turn", "stop_sequence", "STOP", "COMPLETE"):
        with FakeProvider([raw(reply("chat", finish_reason=word))]) as provider:
            async with opened("chat", provider.url) as model:
                (answer,) = await converse(model)
        assert (answer.stop, answer.text) == ("end", "Hm.")


async def test_an_ending_that_nobody_knows_takes_the_calls_beside_it_along() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "list_orders", "arguments": "{}"}}
    ]
    body = reply("chat", finish_reason="error", message={"content": None, "tool_calls": calls})
    assert "finish_reason is 'error'" in str(await failure("chat", body))


@pytest.mark.parametrize(
    ("api", "changes"),
    [("messages", {"stop_reason": "tool_use"}), ("chat", {"finish_reason": "tool_calls"})],
)
async def test_a_reply_that_ends_to_call_tools_and_calls_none_is_unusable(
    api: Api, changes: dict[str, Any]
) -> None:
    assert "but there is no call in it" in str(await failure(api, reply(api, **changes)))


CALL = {"type": "function_call", "call_id": "a", "name": "list_orders", "arguments": "{}"}


def chat_with(**message: Any) -> dict[str, Any]:
    return reply("chat", message={"role": "assistant", "content": "Hm.", **message})


def chat_calling(**call: Any) -> dict[str, Any]:
    return chat_with(
        tool_calls=[{"id": "a", "function": {"name": "list_orders", "arguments": "{}"}, **call}]
    )


@pytest.mark.parametrize(
    ("api", "body", "what"),
    [
        ("messages", reply("messages", content=42), "content is a number, not a list"),
        ("messages", reply("messages", content="Hm."), "content is a text, not a list"),
        ("messages", reply("messages", content=["Hm."]), "content[0] is a text, not an object"),
        ("messages", reply("messages", content=[{"text": "Hm."}]), "content[].type is missing"),
        (
            "messages",
            reply("messages", content=[{"type": "text", "text": 42}]),
            "content[].text is a number",
        ),
        (
            "messages",
            reply("messages", content=[{"type": "tool_use", "name": 7}]),
            "content[].name is a number",
        ),
        (
            "messages",
            reply("messages", content=[{"type": "tool_use", "input": {}}]),
            "a call without the name of a",
        ),
        ("messages", reply("messages", type="completion"), "its type is 'completion'"),
        ("messages", reply("messages", role="user"), "role is 'user', and not 'assistant'"),
        ("messages", reply("messages", stop_reason=["end_turn"]), "stop_reason is a list"),
        ("messages", reply("messages", stop_details=[]), "stop_details is a list"),
        ("messages", reply("messages", model=7), "model is a number"),
        ("chat", {"choices": {"message": {}}}, "choices is an object, not a list"),
        ("chat", {"choices": [None]}, "choices[0] is null, not an object"),
        ("chat", reply("chat", message="Hm."), "choices[0].message is a text"),
        ("chat", reply("chat", message=None), "choices[0] has no message"),
        ("chat", reply("chat", finish_reason={}), "choices[0].finish_reason is an object"),
        ("chat", chat_with(content=42), "choices[0].message.content is a number"),
        ("chat", chat_with(content=["Hm."]), "choices[0].message.content[0] is a text"),
        ("chat", chat_with(refusal=True), "choices[0].message.refusal is true"),
        ("chat", chat_with(role="user"), "choices[0].message.role is 'user'"),
        (
            "chat",
            chat_with(function_call={"name": "x", "arguments": "{}"}),
            "in the old form (function_call)",
        ),
        ("chat", chat_with(tool_calls="list_orders"), "choices[0].message.tool_calls is a text"),
        ("chat", chat_calling(function=None), "a call in it is not a function call"),
        ("chat", chat_calling(id=42), "tool_calls[].id is a number"),
        (
            "chat",
            chat_calling(function={"arguments": "{}"}),
            "tool_calls[].function is a call without the name",
        ),
        ("responses", reply("responses", output="Hm."), "output is a text, not a list"),
        ("responses", reply("responses", output=[[]]), "output[0] is a list, not an object"),
        ("responses", reply("responses", output=[{"content": []}]), "output[].type is missing"),
        (
            "responses",
            reply("responses", output=[{"type": "message", "content": 42}]),
            "output[].content is a number",
        ),
        (
            "responses",
            reply("responses", output=[{**CALL, "name": None}]),
            "output[] is a call without the name",
        ),
        (
            "responses",
            reply("responses", output=[{**CALL, "call_id": {}}]),
            "output[].call_id is an object",
        ),
        ("responses", reply("responses", status=42), "status is a number"),
        ("responses", reply("responses", incomplete_details="no"), "incomplete_details is a text"),
    ],
)
async def test_a_value_of_another_type_than_documented_makes_a_reply_unusable(
    api: Api, body: Any, what: str
) -> None:
    error = await failure(api, body)
    assert str(error).startswith("the-model: the reply is unusable: ")
    assert what in str(error)
    assert error.status == 200


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("value", [[1], [], 42, 0, True, False, "[1]", '"x"', "0", "{"])
async def test_arguments_that_are_no_object_are_the_models_malformed_call(
    api: Api, value: Any
) -> None:
    body = {
        "messages": reply(
            "messages", content=[{"type": "tool_use", "id": "a", "name": "x", "input": value}]
        ),
        "chat": chat_calling(function={"name": "x", "arguments": value}),
        "responses": reply("responses", output=[{**CALL, "name": "x", "arguments": value}]),
    }[api]
    with FakeProvider([raw(body), say("Sorry.")]) as provider:
        async with opened(api, provider.url) as model:
            first, last = await converse(model)
    written = value if isinstance(value, str) else json.dumps(value)
    assert [(one.malformed, one.arguments) for one in first.tool_requests] == [(written, {})]
    assert last.text == "Sorry."
    assert [request.rejected for request in provider.journal] == [None, None]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "error", [{"type": [], "code": {}, "message": 7}, [1], "words", {"message": ["x"]}]
)
async def test_an_error_of_any_shape_in_a_body_that_says_200_is_told(api: Api, error: Any) -> None:
    failed = await failure(api, {**reply(api), "error": error})
    assert "the API reports an error: " in str(failed)


@pytest.mark.parametrize("api", APIS)
async def test_usage_of_a_reply_that_is_unusable_is_unknown_where_it_does_not_say(api: Api) -> None:
    assert (await failure(api, {"content": 42, "choices": 42, "output": 42})).usage == UNKNOWN_USAGE
    assert (await failure(api, [1])).usage == UNKNOWN_USAGE


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("count", [-1, 2.5, "7", True, 10**400, [7]])
async def test_a_count_of_tokens_that_is_none_is_unknown(api: Api, count: Any) -> None:
    body = {**reply(api), "usage": dict.fromkeys(REPORTED[api], count)}
    with FakeProvider([raw(body)]) as provider:
        async with opened(api, provider.url, input_price=1.0, output_price=1.0) as model:
            (good,) = await converse(model)
    assert (good.text, good.usage.tokens, good.usage.cost_usd) == ("Hm.", None, None)


# ── Replies that the API pauses ──────────────────────────────────────────────────────────────


async def test_a_paused_reply_is_continued_and_its_parts_are_one_reply() -> None:
    parts = [usage(pause(say("Searching.")), input=10, output=1),
             usage(pause(say("Still.")), input=20, output=2),
             usage(say("Found."), input=30, output=3), say("Bye.")]  # fmt: skip
    said = iter(parts)
    with FakeProvider(lambda request: next(said)) as provider:
        async with opened("messages", provider.url) as model:
            whole = await model.answer(HELLO, TOOLS, None)
            await model.answer(
                (*HELLO, AssistantMessage(reply=whole), UserMessage(text="Thanks.")), TOOLS, None
            )
    assert (whole.text, whole.stop, whole.attempts) == ("Searching.\nStill.\nFound.", "end", 3)
    assert whole.usage.output_tokens == 1 + 2 + 3
    assert [request.rejected for request in provider.journal] == [None] * 4
    assert [block["text"] for block in provider.journal[3].body["messages"][1]["content"]] == [
        "Searching.", "Still.", "Found.",
    ]  # fmt: skip


async def test_a_paused_reply_may_go_on_to_call_a_tool() -> None:
    said = iter([pause(say("Searching.")), call("get_order", {"id": 7}), say("Found.")])
    with FakeProvider(lambda request: next(said)) as provider:
        async with opened("messages", provider.url) as model:
            first, last = await converse(model)
    assert [request.tool for request in first.tool_requests] == ["get_order"]
    assert last.text == "Found."
    assert [request.rejected for request in provider.journal] == [None] * 3


async def test_a_reply_that_is_paused_without_end_is_an_error_and_all_of_it_is_counted() -> None:
    with FakeProvider(
        lambda request: usage(pause(say("Searching.")), input=10, output=1)
    ) as provider:
        async with opened("messages", provider.url) as model:
            with pytest.raises(ModelError, match=r"was paused 11 times \(pause_turn\)") as raised:
                await converse(model)
    assert len(provider.journal) == raised.value.attempts == MAX_PAUSES + 1
    assert raised.value.usage.output_tokens == MAX_PAUSES + 1


async def test_a_continuation_that_fails_keeps_what_was_used_before_it() -> None:
    with FakeProvider(
        [usage(pause(say("Searching.")), input=10, output=1), raw({"content": 42})]
    ) as provider:
        async with opened("messages", provider.url) as model:
            with pytest.raises(ModelError, match="content is a number") as raised:
                await converse(model)
    assert (raised.value.attempts, raised.value.usage.input_tokens) == (2, None)
    assert Usage(input_tokens=10) + raised.value.usage == UNKNOWN_USAGE


async def test_a_reply_that_is_paused_before_it_says_anything_is_unusable() -> None:
    body = reply("messages", content=[], stop_reason="pause_turn")
    assert "paused without any content" in str(await failure("messages", body))
