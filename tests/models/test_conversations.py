"""One conversation, three APIs: what goes out is accepted, what comes back is understood."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from harness.base.errors import ModelError
from harness.models.conversation import parse_arguments
from harness.types import (
    AssistantMessage,
    Reply,
    Tool,
    ToolAnswer,
    ToolList,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from tests.fake_provider import (
    FakeProvider,
    bad_arguments,
    call,
    calls,
    cut,
    empty,
    raw,
    refuse,
    say,
    served_by,
    think,
    usage,
)
from tests.models.support import APIS, HELLO, NO_TOOLS, TOOLS, Api, converse, opened

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]


def accepted(provider: FakeProvider) -> bool:
    """Whether the strict provider found nothing wrong with any request."""
    return [request.rejected for request in provider.journal] == [None] * len(provider.journal)


async def test_a_round_of_tools_is_carried_to_the_answer(api: Api) -> None:
    with FakeProvider(
        [call("get_order", {"id": 7}, text="Let me see."), say("On its way.")]
    ) as provider:
        async with opened(api, provider.url) as model:
            first, last = await converse(model, system="Be brief.")
    assert first.text == "Let me see."
    assert first.stop == "tool_calls"
    assert [(r.tool, r.arguments, r.malformed) for r in first.tool_requests] == [
        ("get_order", {"id": 7}, None)
    ]
    assert (last.text, last.stop, last.tool_requests) == ("On its way.", "end", ())
    assert accepted(provider)
    request = provider.journal[1]
    assert request.system == "Be brief."
    assert request.tool_names == ("get_order", "list_orders")
    assert [result.text for result in request.tool_results] == ["get_order done"]


async def test_parallel_calls_are_all_answered_in_their_order(api: Api) -> None:
    asked = [("get_order", {"id": number}) for number in range(5)]
    with FakeProvider([calls(*asked), say("All there.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(
                model, answer=lambda tool, arguments: f"order {arguments['id']}"
            )
    assert [request.arguments["id"] for request in replies[0].tool_requests] == [0, 1, 2, 3, 4]
    assert accepted(provider)
    assert [result.text for result in provider.journal[1].tool_results] == [
        f"order {n}" for n in range(5)
    ]


async def test_a_thousand_calls_in_one_reply_are_understood_and_answered(api: Api) -> None:
    asked = [("get_order", {"id": number}) for number in range(1000)]
    with FakeProvider([calls(*asked), say("Phew.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model)
    assert len({request.id for request in replies[0].tool_requests}) == 1000
    assert len(provider.journal[1].tool_results) == 1000
    assert accepted(provider)


async def test_several_blocks_of_text_are_joined_by_newlines(api: Api) -> None:
    with FakeProvider([say("One.", "Two.")]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert reply.text == "One.\nTwo."


async def test_reasoning_goes_back_unchanged(api: Api) -> None:
    script = [
        think(call("get_order", {"id": 7})),
        think(call("get_order", {"id": 8})),
        say("Found."),
    ]
    model_id = "claude-opus-4-8" if api == "messages" else "gpt-5"
    with FakeProvider(script) as provider:
        async with opened(api, provider.url, model_id=model_id) as model:
            replies = await converse(model)
    assert replies[-1].text == "Found."
    assert accepted(provider)
    assert "Let me think" in json.dumps(replies[0].native)


async def test_a_refusal_is_a_refusal_and_says_why(api: Api) -> None:
    with FakeProvider([refuse("I cannot help with that.")]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert reply.stop == "refusal"
    assert reply.text == "I cannot help with that."
    assert reply.stop_detail is not None
    assert "I cannot help with that." in reply.stop_detail


async def test_a_reply_that_was_cut_says_so(api: Api) -> None:
    with FakeProvider([cut("The order is")]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert (reply.stop, reply.text) == ("max_tokens", "The order is")


async def test_arguments_that_are_not_json_are_kept_as_they_came(api: Api) -> None:
    with FakeProvider([bad_arguments("get_order", '{"id": 7'), say("Sorry.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model)
    (request,) = replies[0].tool_requests
    assert request.tool == "get_order"
    assert request.arguments == {}
    assert request.malformed is not None
    assert '"id' in request.malformed.replace("\\", "")
    assert accepted(provider)


async def test_a_tool_that_was_never_offered_keeps_the_name_that_the_model_gave_it(
    api: Api,
) -> None:
    with FakeProvider([call("shop.refund now!", {"id": 7}), say("Sorry.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model)
    assert replies[0].tool_requests[0].tool == "shop.refund now!"
    assert accepted(provider)


async def test_names_and_keys_are_translated_on_the_way_out_and_back(api: Api) -> None:
    schema = {
        "type": "object",
        "properties": {"order id": {"type": "integer"}},
        "required": ["order id"],
    }
    tools = ToolList(tools=(Tool(name="shop.order/get", input_schema=schema),))

    def script(request: Any) -> Any:
        (name,) = request.tool_names
        (key,) = request.tools[name].schema["properties"]
        return call(name, {key: 7}) if request.turn == 0 else say("Done.")

    with FakeProvider(script) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model, tools=tools)
    assert [(r.tool, r.arguments) for r in replies[0].tool_requests] == [
        ("shop.order/get", {"order id": 7})
    ]
    assert provider.journal[0].tool_names == ("shop_order_get",)
    assert accepted(provider)


async def test_without_tools_none_are_offered(api: Api) -> None:
    with FakeProvider([say("Hello.")]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model, tools=NO_TOOLS)
    assert reply.text == "Hello."
    assert "tools" not in provider.journal[0].body
    assert accepted(provider)


async def test_a_failed_call_is_told_as_failed(api: Api) -> None:
    with FakeProvider([call("get_order", {"id": 7}), say("It is gone.")]) as provider:
        async with opened(api, provider.url) as model:
            first = await model.answer(HELLO, TOOLS, None)
            answer = ToolAnswer(request_id=first.tool_requests[0].id, text="", is_error=True)
            talk = (*HELLO, AssistantMessage(reply=first), ToolMessage(answers=(answer,)))
            await model.answer(talk, TOOLS, None)
    (result,) = provider.journal[1].tool_results
    assert "failed" in result.text
    assert result.is_error is (True if api == "messages" else None)
    assert accepted(provider)


async def test_a_call_that_nobody_answered_is_answered_as_not_executed(api: Api) -> None:
    with FakeProvider(
        [calls(("get_order", {"id": 1}), ("get_order", {"id": 2})), say("Fine.")]
    ) as provider:
        async with opened(api, provider.url) as model:
            first = await model.answer(HELLO, TOOLS, None)
            answer = ToolAnswer(request_id=first.tool_requests[1].id, text="two")
            talk = (*HELLO, AssistantMessage(reply=first), ToolMessage(answers=(answer,)))
            await model.answer(talk, TOOLS, None)
            await model.answer(talk[:2], TOOLS, None)
    assert [result.text[-13:] for result in provider.journal[1].tool_results] == [
        "not executed.",
        "two",
    ]
    assert len(provider.journal[2].tool_results) == 2
    assert accepted(provider)


async def test_a_message_of_the_user_after_the_results_follows_them(api: Api) -> None:
    with FakeProvider([call("get_order", {"id": 7}), say("Stopped.")]) as provider:
        async with opened(api, provider.url) as model:
            first = await model.answer(HELLO, TOOLS, None)
            answer = ToolAnswer(request_id=first.tool_requests[0].id, text="seven")
            talk = (
                *HELLO,
                AssistantMessage(reply=first),
                ToolMessage(answers=(answer,)),
                UserMessage(text="Stop!"),
            )
            reply = await model.answer(talk, TOOLS, None)
    assert reply.text == "Stopped."
    assert provider.journal[1].last_text == "Stop!"
    assert [result.text for result in provider.journal[1].tool_results] == ["seven"]
    assert accepted(provider)


async def test_an_empty_reply_can_be_followed_by_another_turn(api: Api) -> None:
    with FakeProvider([say(""), say("Here.")] if api == "chat" else [empty()]) as provider:
        async with opened(api, provider.url) as model:
            silent = await model.answer(HELLO, TOOLS, None)
            assert (silent.text, silent.tool_requests, silent.stop) == ("", (), "end")
            await model.answer(
                (*HELLO, AssistantMessage(reply=silent), UserMessage(text="Hello?")), TOOLS, None
            )
    assert provider.journal[1].last_text.endswith("Hello?")
    assert accepted(provider)


async def test_a_reply_that_another_model_gave_is_told_in_this_api_words(api: Api) -> None:
    tools = ToolList(
        tools=(Tool(name="shop.get", input_schema={"type": "object", "properties": {"n": {}}}),)
    )
    requests = (
        ToolRequest(id="one", tool="shop.get", arguments={"n": 1}),
        ToolRequest(id="two", tool="no such tool!", arguments={"any thing": True}),
    )
    foreign = Reply(text="Looking.", tool_requests=requests, stop="tool_calls")
    answers = tuple(
        ToolAnswer(request_id=request.id, text=f"about {request.id}") for request in requests
    )
    talk = (*HELLO, AssistantMessage(reply=foreign), ToolMessage(answers=answers))
    with FakeProvider(lambda request: say("Thanks.")) as provider:
        async with opened(api, provider.url) as model:
            assert (await model.answer(talk, tools, None)).text == "Thanks."
    assert [result.text for result in provider.journal[0].tool_results] == [
        "about one",
        "about two",
    ]
    assert accepted(provider)


async def test_a_lone_surrogate_in_a_result_does_not_break_the_request(api: Api) -> None:
    with FakeProvider([call("get_order", {"id": 7}), say("Fine.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model, answer=lambda tool, arguments: "broken \ud800 text")
    assert replies[-1].text == "Fine."
    assert provider.journal[1].tool_results[0].text == "broken ? text"


async def test_usage_is_what_the_api_reports_and_the_price_of_a_local_server_is_unknown(
    api: Api,
) -> None:
    step = usage(say("Hi."), input=100, output=20, cache_read=30, cache_write=5)
    with FakeProvider([step]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    used = reply.usage
    assert used.input_tokens == (135 if api == "messages" else 100)
    assert (used.output_tokens, used.cache_read_tokens, used.cache_write_tokens) == (20, 30, 5)
    assert used.cost_usd is None


async def test_the_model_that_really_answered_is_named(api: Api) -> None:
    with FakeProvider([served_by(say("Hi."), "the-model-20260101")]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert reply.served_by == "the-model-20260101"


async def test_configured_headers_and_body_fields_are_sent(api: Api) -> None:
    body = {"metadata": {"user_id": "harness"}}
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url, headers={"X-Team": "evals"}, body=body) as model:
            await converse(model)
    assert provider.journal[0].headers["x-team"] == "evals"
    assert provider.journal[0].body["metadata"] == {"user_id": "harness"}


NOTHING: dict[Api, Any] = {
    "messages": {"type": "message", "content": None, "model": "m"},
    "chat": {"object": "chat.completion", "choices": [], "model": "m"},
    "responses": {"object": "response", "output": None, "model": "m"},
}


async def test_a_response_without_a_reply_in_it_is_a_model_error(api: Api) -> None:
    with FakeProvider([raw(NOTHING[api])]) as provider:
        async with opened(api, provider.url, max_retries=3) as model:
            with pytest.raises(
                ModelError,
                match=r"the-model: the reply is unusable: it has no (content|choices|output)",
            ):
                await converse(model)
    assert len(provider.journal) == 1


def _calls_without_proper_ids(api: Api) -> Any:
    ids = [None, "call_1", "call_1", ""]
    if api == "messages":
        content: Any = [
            {"type": "tool_use", "id": id_, "name": "list_orders", "input": {}} for id_ in ids
        ]
        return {"type": "message", "content": content, "stop_reason": "end_turn", "model": "m"}
    if api == "chat":
        tool_calls = [
            {"id": id_, "function": {"name": "list_orders", "arguments": ""}} for id_ in ids
        ]
        message = {"role": "assistant", "content": None, "tool_calls": tool_calls, "refusal": None}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}
    output = [
        {"type": "function_call", "call_id": id_, "name": "list_orders", "arguments": None}
        for id_ in ids
    ]
    return {"output": output, "status": "completed"}


async def test_calls_without_an_id_of_their_own_get_one_and_the_stop_reason_is_not_believed(
    api: Api,
) -> None:
    with FakeProvider([raw(_calls_without_proper_ids(api)), say("Fine.")]) as provider:
        async with opened(api, provider.url) as model:
            first, last = await converse(model)
    assert first.stop == "tool_calls"
    assert len({request.id for request in first.tool_requests}) == 4
    assert [(r.arguments, r.malformed) for r in first.tool_requests] == [({}, None)] * 4
    assert last.text == "Fine."
    assert accepted(provider)


def _refused_in_the_middle_of_a_call(api: Api) -> Any:
    if api == "messages":
        content = [{"type": "tool_use", "id": "a", "name": "list_orders", "input": {}}]
        return {"content": content, "stop_reason": "refusal"}
    if api == "chat":
        function = {"name": "list_orders", "arguments": "{}"}
        message = {
            "content": "I",
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }
        return {"choices": [{"message": message, "finish_reason": "content_filter"}]}
    output = [{"type": "function_call", "call_id": "a", "name": "list_orders", "arguments": "{}"}]
    return {
        "output": output,
        "status": "incomplete",
        "incomplete_details": {"reason": "content_filter"},
    }


async def test_calls_that_a_refusal_cut_off_are_not_made(api: Api) -> None:
    with FakeProvider([raw(_refused_in_the_middle_of_a_call(api))]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert (reply.stop, reply.tool_requests, reply.native) == ("refusal", (), None)


@pytest.mark.parametrize(
    "text",
    ["[1]", "7", '"x"', '"null"', "[null]", "nul", "{", "{'a': 1}", '{"a": NaN}', "[" * 100_000],
)
def test_only_an_object_is_arguments(api: Api, text: str) -> None:
    assert parse_arguments(text) == ({}, text)


@pytest.mark.parametrize("text", ["ABSENT", None, "", " ", "null", " null\n", "{}", {}])
async def test_no_arguments_are_none_however_they_are_written(api: Api, text: Any) -> None:
    body = re.sub(r', "(input|arguments)": "ABSENT"', "", json.dumps(_call_with(text, api)))
    with FakeProvider([raw(body.encode()), say("Done.")]) as provider:
        async with opened(api, provider.url) as model:
            reply, last = await converse(model)
    (request,) = reply.tool_requests
    assert (request.arguments, request.malformed, last.text) == ({}, None, "Done.")
    assert provider.journal[1].rejected is None


@pytest.mark.parametrize("levels", [101, 300, 1_000, 100_000])
async def test_arguments_that_nest_too_deeply_are_the_models_and_no_error_of_the_api(
    api: Api, levels: int
) -> None:
    deep = '{"a":' * levels + "1" + "}" * levels
    body = json.dumps(_call_with("DEEP", api)).replace(
        '"DEEP"', deep if api == "messages" else json.dumps(deep)
    )
    with FakeProvider([raw(body.encode()), say("Done.")]) as provider:
        async with opened(api, provider.url) as model:
            reply, _ = await converse(model)
    (request,) = reply.tool_requests
    assert (request.tool, request.arguments) == ("list_orders", {})
    assert request.malformed is not None
    assert request.malformed.startswith('{"a":')


def _call_with(arguments: Any, api: Api) -> Any:
    if api == "messages":
        content = [{"type": "tool_use", "id": "a", "name": "list_orders", "input": arguments}]
        return {"content": content, "stop_reason": "tool_use"}
    if api == "chat":
        function = {"name": "list_orders", "arguments": arguments}
        message = {
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }
        return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    output = [
        {"type": "function_call", "call_id": "a", "name": "list_orders", "arguments": arguments}
    ]
    return {"output": output, "status": "completed"}


async def test_a_look_ahead_in_a_pattern_is_not_sent_where_it_is_refused_and_said_once(
    api: Api,
) -> None:
    part = {"type": "string", "pattern": "^(?!CUST-0)CUST-[0-9]+$"}
    schema = {"type": "object", "properties": {"ids": {"type": "array", "items": part}}}
    tools = ToolList(tools=(Tool(name="get_order", input_schema=schema),))
    with FakeProvider([call("get_order", {"ids": ["CUST-1"]}), say("On its way.")]) as provider:
        async with opened(api, provider.url) as model:
            replies = await converse(model, tools=tools)
    assert accepted(provider)
    said = [sentence for reply in replies for sentence in reply.adapted]
    assert len(said) == (0 if api == "messages" else 1)  # Anthropic takes any pattern
    assert all("'pattern' with look-around" in sentence for sentence in said)
