"""The fake provider, used as the real ones are.

Through the SDKs, over raw HTTP, and as a process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import anthropic
import anyio
import httpx2
import openai
import pytest
from anthropic.types import TextBlock, ThinkingBlock, ToolUseBlock
from hypothesis import given
from hypothesis import strategies as st

from harness.base.transports import load_tls_context
from tests.clock import BOUND_S, TIMEOUTS_S
from tests.fake_provider import (
    FakeProvider,
    Incoming,
    Step,
    ToolResult,
    bad_arguments,
    by_prompt,
    calls,
    cut,
    empty,
    malformed,
    raw,
    refuse,
    reset,
    say,
    sequence,
    served_by,
    slow,
    stall,
    status,
    think,
    usage,
)
from tests.often import often

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}
TOOL: Any = {"name": "get_order", "description": "Look up an order.", "input_schema": SCHEMA}
FUNCTION: dict[str, Any] = {
    "name": "get_order",
    "description": "Look up an order.",
    "parameters": SCHEMA,
}
CHAT_TOOL: Any = {"type": "function", "function": FUNCTION}
RESPONSES_TOOL: Any = {"type": "function", "strict": None, **FUNCTION}
PATHS = ("/v1/messages", "/v1/chat/completions", "/v1/responses")


def http_client() -> httpx2.AsyncClient:
    """Return one that does not read the trust store again, as an SDK's own does."""
    return httpx2.AsyncClient(verify=load_tls_context())


async def ask_anthropic(
    provider: FakeProvider, *messages: Any, **more: Any
) -> anthropic.types.Message:
    async with anthropic.AsyncAnthropic(
        base_url=provider.url, api_key="test-key", max_retries=0, http_client=http_client()
    ) as client:
        reply = await client.messages.create(
            model="claude-sonnet-5", max_tokens=100, messages=messages, tools=[TOOL], **more
        )
        assert isinstance(reply, anthropic.types.Message)
        return reply


async def ask_chat(
    provider: FakeProvider, *messages: Any, **more: Any
) -> openai.types.chat.ChatCompletion:
    async with openai.AsyncOpenAI(
        base_url=provider.url + "/v1", api_key="test-key", max_retries=0, http_client=http_client()
    ) as client:
        reply = await client.chat.completions.create(
            model="gpt-4o", messages=messages, tools=[CHAT_TOOL], **more
        )
        assert isinstance(reply, openai.types.chat.ChatCompletion)
        return reply


async def ask_responses(
    provider: FakeProvider, *items: Any, **more: Any
) -> openai.types.responses.Response:
    async with openai.AsyncOpenAI(
        base_url=provider.url + "/v1", api_key="test-key", max_retries=0, http_client=http_client()
    ) as client:
        reply = await client.responses.create(
            model="gpt-4o", input=list(items), tools=[RESPONSES_TOOL], **more
        )
        assert isinstance(reply, openai.types.responses.Response)
        return reply


def user(text: str = "Where is order 7?") -> Any:
    return {"role": "user", "content": text}


def request_to(path: str, prompt: str = "hi") -> dict[str, Any]:
    """The keyword arguments of a raw request that the API at ``path`` accepts."""
    content = {"input": prompt} if path == "/v1/responses" else {"messages": [user(prompt)]}
    limit = {"max_tokens": 100} if path == "/v1/messages" else {}
    headers = {"authorization": "Bearer test-key", "anthropic-version": "2026-10-21"}
    return {"url": path, "headers": headers, "json": {"model": "m", **content, **limit}}


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# ── Anthropic's SDK ──────────────────────────────────────────────────────────────────────────


async def test_anthropic_reads_several_text_blocks() -> None:
    with FakeProvider([say("It is", "on its way.")]) as provider:
        reply = await ask_anthropic(provider, user())
    assert [block.text for block in reply.content if isinstance(block, TextBlock)] == [
        "It is",
        "on its way.",
    ]
    assert (reply.stop_reason, reply.model, reply.role) == (
        "end_turn",
        "claude-sonnet-5",
        "assistant",
    )


async def test_anthropic_continues_after_parallel_calls_with_text_and_thinking() -> None:
    script = [
        think(calls(("get_order", {"id": 7}), ("invented", {}), text="Looking.")),
        say("Done."),
    ]
    with FakeProvider(script) as provider:
        first = await ask_anthropic(provider, user())
        thought, words, known, invented = first.content
        assert isinstance(thought, ThinkingBlock)
        assert isinstance(words, TextBlock)
        assert isinstance(known, ToolUseBlock)
        assert isinstance(invented, ToolUseBlock)
        assert (known.name, known.input, invented.name) == ("get_order", {"id": 7}, "invented")
        assert first.stop_reason == "tool_use"
        answers = [
            {"type": "tool_result", "tool_use_id": known.id, "content": "shipped"},
            {
                "type": "tool_result",
                "tool_use_id": invented.id,
                "content": "no such tool",
                "is_error": True,
            },
        ]
        second = await ask_anthropic(
            provider,
            user(),
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": answers},
        )
        assert second.stop_reason == "end_turn"
        assert provider.journal[-1].tool_results == (
            ToolResult(known.id, "shipped", is_error=False),
            ToolResult(invented.id, "no such tool", is_error=True),
        )


async def test_anthropic_sees_refusals_cuts_and_empty_replies_for_what_they_are() -> None:
    script = by_prompt({"refuse": [refuse("Not that.")], "cut": [cut("It is")], "empty": [empty()]})
    with FakeProvider(script) as provider:
        refused = await ask_anthropic(provider, user("refuse"))
        short = await ask_anthropic(provider, user("cut"))
        nothing = await ask_anthropic(provider, user("empty"))
    assert refused.stop_reason == "refusal"
    assert refused.stop_details is not None
    assert refused.stop_details.explanation == "Not that."
    assert (short.stop_reason, nothing.stop_reason, nothing.content) == (
        "max_tokens",
        "end_turn",
        [],
    )


async def test_a_prefix_that_was_written_to_the_cache_is_read_the_next_time() -> None:
    system: Any = [
        {"type": "text", "text": "Be brief. " * 200, "cache_control": {"type": "ephemeral"}}
    ]
    with FakeProvider(lambda _: say("ok")) as provider:
        first = (await ask_anthropic(provider, user("one"), system=system)).usage
        second = (await ask_anthropic(provider, user("two"), system=system)).usage
        other = (
            await ask_anthropic(provider, user("two"), system=[{**system[0], "text": "Be long."}])
        ).usage
        unmarked = (await ask_anthropic(provider, user("two"), system="Be brief.")).usage
    assert first.cache_creation_input_tokens
    assert first.cache_read_input_tokens == 0
    assert (second.cache_creation_input_tokens, second.cache_read_input_tokens) == (
        0,
        first.cache_creation_input_tokens,
    )
    assert second.input_tokens == first.input_tokens
    assert other.cache_read_input_tokens == 0
    assert (unmarked.cache_creation_input_tokens, unmarked.cache_read_input_tokens) == (0, 0)


async def test_a_cached_conversation_that_grows_is_read_up_to_where_it_was_written() -> None:
    mark: Any = {"type": "ephemeral"}
    first_words: Any = [{"type": "text", "text": "A long question. " * 50, "cache_control": mark}]
    with FakeProvider([say("ok"), say("ok")]) as provider:
        first = await ask_anthropic(provider, user_blocks(first_words))
        last_words: Any = [{"type": "text", "text": "And then?", "cache_control": mark}]
        grown = await ask_anthropic(
            provider,
            user_blocks([{"type": "text", "text": first_words[0]["text"]}]),
            {"role": "assistant", "content": first.content},
            user_blocks(last_words),
        )
    assert grown.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
    assert grown.usage.cache_creation_input_tokens
    assert grown.usage.input_tokens == 0


def user_blocks(blocks: Any) -> Any:
    return {"role": "user", "content": blocks}


# ── OpenAI's SDK ─────────────────────────────────────────────────────────────────────────────


async def test_chat_continues_after_parallel_calls() -> None:
    script = [
        think(calls(("get_order", {"id": 7}), ("invented", {}), text="Looking.")),
        say("Done.", "Bye."),
    ]
    with FakeProvider(script) as provider:
        choice = (await ask_chat(provider, user())).choices[0]
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content == "Looking."
        made = [made for made in choice.message.tool_calls or () if made.type == "function"]
        assert [(m.function.name, json.loads(m.function.arguments)) for m in made] == [
            ("get_order", {"id": 7}),
            ("invented", {}),
        ]
        answers = [{"role": "tool", "tool_call_id": m.id, "content": "shipped"} for m in made]
        second = await ask_chat(provider, user(), choice.message, *answers)
        assert second.choices[0].message.content == "Done.\nBye."
        assert second.choices[0].finish_reason == "stop"
        assert [result.text for result in provider.journal[-1].tool_results] == [
            "shipped",
            "shipped",
        ]


async def test_chat_sees_refusals_cuts_and_empty_choices_for_what_they_are() -> None:
    script = by_prompt({"refuse": [refuse("Not that.")], "cut": [cut("It is")], "empty": [empty()]})
    with FakeProvider(script) as provider:
        refused = (await ask_chat(provider, user("refuse"))).choices[0].message
        short = (await ask_chat(provider, user("cut"))).choices[0]
        nothing = await ask_chat(provider, user("empty"))
    assert (refused.content, refused.refusal) == (None, "Not that.")
    assert (short.message.content, short.finish_reason) == ("It is", "length")
    assert nothing.choices == []


async def test_responses_continues_after_reasoning_and_parallel_calls() -> None:
    script = [
        think(calls(("get_order", {"id": 7}), ("invented", {}), text="Looking.")),
        say("Done.", "Bye."),
    ]
    with FakeProvider(script) as provider:
        first = await ask_responses(provider, user(), store=False)
        assert [item.type for item in first.output] == [
            "reasoning",
            "message",
            "function_call",
            "function_call",
        ]
        made = [item for item in first.output if item.type == "function_call"]
        answers = [
            {"type": "function_call_output", "call_id": m.call_id, "output": "shipped"}
            for m in made
        ]
        second = await ask_responses(provider, user(), *first.output, *answers, store=False)
        assert second.output_text == "Done.Bye."
        assert second.status == "completed"
        assert [request.turn for request in provider.journal] == [0, 1]
        assert provider.journal[-1].tool_results[0] == ToolResult(made[0].call_id, "shipped", None)


async def test_responses_sees_refusals_cuts_and_empty_output_for_what_they_are() -> None:
    script = by_prompt({"refuse": [refuse("Not that.")], "cut": [cut("It is")], "empty": [empty()]})
    with FakeProvider(script) as provider:
        (refused,) = (await ask_responses(provider, user("refuse"))).output
        short = await ask_responses(provider, user("cut"))
        nothing = await ask_responses(provider, user("empty"))
    assert refused.type == "message"
    assert refused.content[0].type == "refusal"
    assert short.incomplete_details is not None
    assert (short.status, short.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert nothing.output == []


# ── All three ────────────────────────────────────────────────────────────────────────────────


async def test_the_sdks_see_the_usage_and_the_model_that_the_step_names() -> None:
    step = served_by(
        usage(say("ok"), input=100, output=20, cache_read=80, cache_write=10), "other-model"
    )
    with FakeProvider([step]) as provider:
        messages = await ask_anthropic(provider, user())
        chat = await ask_chat(provider, user())
        responses = await ask_responses(provider, user())
    assert {messages.model, chat.model, responses.model} == {"other-model"}
    spent = messages.usage
    assert (spent.input_tokens, spent.output_tokens) == (100, 20)
    assert (spent.cache_read_input_tokens, spent.cache_creation_input_tokens) == (80, 10)
    assert chat.usage is not None
    assert chat.usage.prompt_tokens_details is not None
    assert (chat.usage.prompt_tokens, chat.usage.prompt_tokens_details.cached_tokens) == (100, 80)
    assert responses.usage is not None
    assert responses.usage.input_tokens_details.cache_write_tokens == 10
    assert responses.usage.total_tokens == 120


async def test_the_sdks_list_the_models() -> None:
    with FakeProvider([]) as provider:
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="test-key") as client:
            assert [model.id async for model in client.models.list()] == [
                "claude-sonnet-5",
                "gpt-4o",
            ]
        async with openai.AsyncOpenAI(base_url=provider.url + "/v1", api_key="test-key") as other:
            assert [model.id async for model in other.models.list()] == [
                "claude-sonnet-5",
                "gpt-4o",
            ]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500, 529])
async def test_the_sdks_see_an_http_status_with_the_providers_own_error(code: int) -> None:
    with FakeProvider([status(code, {"Retry-After": "7"})]) as provider:
        with pytest.raises(anthropic.APIStatusError) as of_anthropic:
            await ask_anthropic(provider, user())
        with pytest.raises(openai.APIStatusError) as of_openai:
            await ask_chat(provider, user())
    assert of_anthropic.value.status_code == of_openai.value.status_code == code
    assert of_anthropic.value.response.headers["retry-after"] == "7"
    assert "The fake provider answers" in of_anthropic.value.message
    assert "The fake provider answers" in of_openai.value.message


async def test_the_journal_shows_what_each_api_was_asked() -> None:
    with FakeProvider([say("ok")]) as provider:
        await ask_anthropic(provider, user(), system="Be brief.")
        await ask_chat(provider, {"role": "system", "content": "Be brief."}, user())
        await ask_responses(provider, user(), instructions="Be brief.")
        journal = provider.journal
    assert [request.api for request in journal] == ["messages", "chat", "responses"]
    assert [request.sequence for request in journal] == [0, 1, 2]
    for request in journal:
        assert (request.turn, request.status, request.rejected, request.in_flight) == (
            0,
            200,
            None,
            1,
        )
        assert request.prompt == request.last_text == "Where is order 7?"
        assert (request.system, request.tool_names, request.tool_results) == (
            "Be brief.",
            ("get_order",),
            (),
        )
        assert request.tools["get_order"] == ("Look up an order.", SCHEMA)
        assert request.headers["authorization"] == "Bearer test-key"


async def test_bad_arguments_reach_the_client_as_they_are() -> None:
    with FakeProvider([bad_arguments("get_order", "{'id': 7}")]) as provider:
        made: Any = (await ask_chat(provider, user())).choices[0].message.tool_calls
        assert made[0].function.arguments == "{'id': 7}"
        (item,) = (await ask_responses(provider, user())).output
        assert item.type == "function_call"
        assert item.arguments == "{'id': 7}"
        use: Any = (await ask_anthropic(provider, user())).content[0]
        assert use.input == "{'id': 7}"


# ── Scripts ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=BOUND_S, verify=load_tls_context()) as client:
        yield client


def send(
    client: httpx2.Client, provider: FakeProvider, path: str, prompt: str = "hi"
) -> httpx2.Response:
    wanted = request_to(path, prompt)
    return client.post(provider.url + wanted.pop("url"), **wanted)


def test_a_script_that_is_exhausted_answers_500(client: httpx2.Client, path: str) -> None:
    with FakeProvider([]) as provider:
        response = send(client, provider, path)
    assert response.status_code == 500
    assert response.json()["error"]["message"] == "script exhausted"


def test_a_prompt_that_no_script_knows_answers_500(client: httpx2.Client, path: str) -> None:
    with FakeProvider(by_prompt({"weather": [say("Sunny.")]})) as provider:
        assert send(client, provider, path, "the weather?").status_code == 200
        assert "no script for the prompt 'news?'" in send(client, provider, path, "news?").text


def test_a_script_that_raises_answers_500_and_says_so(client: httpx2.Client) -> None:
    def broken(request: Incoming) -> Step:
        raise LookupError(request.prompt)

    with FakeProvider(broken) as provider:
        response = send(client, provider, PATHS[0])
        assert response.status_code == 500
        assert "LookupError('hi')" in response.json()["error"]["message"]


def test_a_sequence_goes_by_the_requests_for_one_conversation(
    client: httpx2.Client, path: str
) -> None:
    script = [sequence(status(429), status(529), say("ok"))]
    with FakeProvider(script) as provider:
        codes = [
            (send(client, provider, path, p).status_code, p) for p in ("a", "b", "a", "a", "b", "a")
        ]
    assert codes == [(429, "a"), (429, "b"), (529, "a"), (200, "a"), (529, "b"), (200, "a")]


def test_a_rejected_request_is_in_the_journal_with_its_reason(client: httpx2.Client) -> None:
    with FakeProvider([say("ok")]) as provider:
        client.post(
            provider.url + "/v1/messages", json={"messages": 7}, headers={"x-api-key": "test-key"}
        )
        (request,) = provider.journal
    assert (request.status, request.rejected) == (400, "anthropic-version: header is required")
    assert (request.turn, request.prompt) == (0, "")


@pytest.mark.parametrize(
    ("method", "where", "code"),
    [("POST", "/v1/complete", 404), ("GET", "/v1/messages", 405), ("GET", "/", 404)],
)
def test_what_is_not_served_is_a_clear_error(
    client: httpx2.Client, method: str, where: str, code: int
) -> None:
    with FakeProvider([say("ok")]) as provider:
        response = client.request(method, provider.url + where)
    assert response.status_code == code
    assert where in response.json()["error"]["message"]


@pytest.mark.parametrize("where", ["/", "/v1/messages"])
def test_a_probe_by_head_has_no_body_and_is_no_mistake(client: httpx2.Client, where: str) -> None:
    with FakeProvider([say("ok")]) as provider:
        response = client.head(provider.url + where)
        assert send(client, provider, PATHS[0]).status_code == 200
        assert [request.rejected for request in provider.journal] == [None, None]
    assert response.status_code in (404, 405)
    assert response.content == b""


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = (
    "messages",
    "input",
    "tools",
    "tool_choice",
    "system",
    "thinking",
    "metadata",
    "role",
    "content",
    "type",
)


@pytest.fixture(scope="module")
def patient() -> Iterator[httpx2.Client]:
    with (
        FakeProvider(lambda _: say("ok")) as provider,
        httpx2.Client(base_url=provider.url) as client,
    ):
        yield client


@given(
    path=st.sampled_from(PATHS),
    field=st.sampled_from(FIELDS),
    value=JSON_VALUES,
    nested=st.booleans(),
)
def test_any_body_gets_a_response(
    patient: httpx2.Client, path: str, field: str, value: Any, *, nested: bool
) -> None:
    wanted = request_to(path)
    wanted["json"][field] = [{field: value, "role": "user", "content": value}] if nested else value
    assert patient.post(wanted.pop("url"), **wanted).status_code in (200, 400)


# ── Faults ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("after_bytes", often([None, 0, 20, 1_000_000]))
def test_a_reset_is_a_transport_error(
    client: httpx2.Client, path: str, after_bytes: int | None
) -> None:
    with FakeProvider([reset(after_bytes)]) as provider:
        with pytest.raises(httpx2.ReadError):  # an orderly end would be a RemoteProtocolError
            send(client, provider, path)
        assert provider.journal[0].status is None


@pytest.mark.parametrize("after_bytes", often([None, 0, 20, 1_000_000]))
def test_a_stall_times_out(path: str, after_bytes: int | None) -> None:
    with (
        FakeProvider([stall(after_bytes)]) as provider,
        httpx2.Client(timeout=httpx2.Timeout(10, read=0.05)) as client,
        pytest.raises(httpx2.ReadTimeout),
    ):
        send(client, provider, path)


def test_a_stall_sends_its_first_bytes(client: httpx2.Client) -> None:
    wanted = request_to(PATHS[0])
    with (
        FakeProvider([stall(after_bytes=5)]) as provider,
        client.stream("POST", provider.url + wanted.pop("url"), **wanted) as response,
    ):
        assert response.status_code == 200
        assert next(response.iter_raw()) == b'{"id"'


def test_a_malformed_body_is_sent_as_it_is(client: httpx2.Client, path: str) -> None:
    with FakeProvider([malformed('{"id": ')]) as provider:
        response = send(client, provider, path)
    assert (response.status_code, response.text) == (200, '{"id": ')
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("value", [None, "text", 7, [], {"choices": [{}]}])
def test_raw_json_is_sent_as_it_is(client: httpx2.Client, value: Any) -> None:
    with FakeProvider([raw(value)]) as provider:
        assert send(client, provider, PATHS[1]).json() == value


def test_latency_and_slow_steps_delay_the_response(client: httpx2.Client) -> None:
    with FakeProvider([slow(say("ok"), 0.1)], latency_s=0.1) as provider:
        started = time.monotonic()
        assert send(client, provider, PATHS[0]).status_code == 200
    assert time.monotonic() - started >= 0.2


async def test_requests_are_served_side_by_side_and_counted() -> None:
    async def ask(client: httpx2.AsyncClient, prompt: str) -> None:
        wanted = request_to(PATHS[0], prompt)
        assert (await client.post(wanted.pop("url"), **wanted)).status_code == 200

    for seconds in TIMEOUTS_S:
        with FakeProvider([say("ok")], latency_s=seconds) as provider:
            async with (
                httpx2.AsyncClient(base_url=provider.url, timeout=BOUND_S) as client,
                anyio.create_task_group() as group,
            ):
                for number in range(20):
                    group.start_soon(ask, client, str(number))
            assert provider.in_flight == 0
        most = max(request.in_flight for request in provider.journal)
        if most == 20:
            break
    assert most == 20


# ── Life and death ───────────────────────────────────────────────────────────────────────────


def test_a_connection_is_kept_alive(client: httpx2.Client) -> None:
    with FakeProvider([say("ok")]) as provider:
        ends = {
            send(client, provider, path).extensions["network_stream"].get_extra_info("client_addr")
            for path in PATHS * 3
        }
    assert len(ends) == 1


def test_closing_frees_the_port_and_the_thread_even_with_a_stall_under_way() -> None:
    threads = threading.active_count()
    failures: list[httpx2.TransportError] = []

    def wait_for_ever(provider: FakeProvider) -> None:
        with httpx2.Client(timeout=BOUND_S) as client:
            try:
                send(client, provider, PATHS[0])
            except httpx2.TransportError as error:
                failures.append(error)

    with FakeProvider([stall()], latency_s=0) as provider:
        waiting = threading.Thread(target=wait_for_ever, args=[provider])
        waiting.start()
        provider.wait_for_requests(1)
    waiting.join(60)
    assert len(failures) == 1
    assert threading.active_count() == threads
    with httpx2.Client() as client, pytest.raises(httpx2.ConnectError):
        client.get(provider.url)


def test_closing_does_not_wait_for_a_slow_answer() -> None:
    with FakeProvider([slow(say("late"), 60)]) as provider:
        waiting = threading.Thread(target=_ignore_failure, args=[provider])
        waiting.start()
        provider.wait_for_requests(1)
    waiting.join(60)
    assert not waiting.is_alive()


def _ignore_failure(provider: FakeProvider) -> None:
    with httpx2.Client(timeout=BOUND_S) as client, pytest.raises(httpx2.TransportError):
        send(client, provider, PATHS[0])


def test_waiting_for_requests_that_never_arrive_is_bounded() -> None:
    with FakeProvider([say("ok")]) as provider, pytest.raises(TimeoutError, match="0 of 1"):
        provider.wait_for_requests(1, timeout_s=0.01)


def test_the_journal_keeps_only_the_newest_when_told_so(client: httpx2.Client) -> None:
    with FakeProvider([say("ok")], keep=2) as provider:
        for prompt in ("a", "b", "c"):
            send(client, provider, PATHS[0], prompt)
        assert [request.prompt for request in provider.journal] == ["b", "c"]


@pytest.mark.parametrize("end", often(["stdin", "SIGTERM"]))
def test_as_a_process_it_says_where_it_is_and_ends_when_told(
    client: httpx2.Client, end: str
) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.fake_provider",
        "--latency-ms",
        "1",
        "--script",
        "agent",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"]
        wanted = request_to(PATHS[0])
        wanted["json"]["tools"] = [{**TOOL, "input_schema": {**SCHEMA, "required": ["id"]}}]
        reply = client.post(url + wanted.pop("url"), **wanted).json()
        assert (reply["content"][0]["name"], reply["content"][0]["input"]) == (
            "get_order",
            {"id": 1},
        )
        if end == "stdin":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert process.wait(BOUND_S) == 0
        assert process.stderr
        assert process.stderr.read() == b""
